package main

// later are the cases whose tool is not built yet.
var later = []scenario{
	{slug: "redirect-of-a-typed-address", waits: "after the owner's no, Chrome's error page may stand for a moment"},
	{slug: "upload-through-button", waits: "files cannot be given to a page yet"},
	{slug: "upload-drop-zone", waits: "files cannot be dropped yet"},
	{slug: "popup-without-opener", waits: "popups are not lent yet"},
	{slug: "download-as-attachment", waits: "downloads are not kept for the agent yet"},
}
