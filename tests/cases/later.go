package main

// later are the cases whose tool is not built yet.
var later = []scenario{
	{slug: "upload-through-button", waits: "files cannot be given to a page yet"},
	{slug: "upload-drop-zone", waits: "files cannot be dropped yet"},
	{slug: "html5-drag-and-drop", waits: "dragging is not built yet"},
	{slug: "select-by-visible-text", waits: "selecting is not built yet"},
	{slug: "date-and-time-inputs", waits: "filling fields that take no text is not built yet"},
	{slug: "inner-scroll-areas", waits: "scrolling an area is not built yet"},
	{slug: "popup-without-opener", waits: "popups are not lent yet"},
	{slug: "download-as-attachment", waits: "downloads are not kept for the agent yet"},
}
