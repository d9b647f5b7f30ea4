/**
 * Which tab is in front in the focused window: there goes what the owner types into the address bar. It is kept in memory
 * from what Chrome tells, so that nobody who needs to know it waits; a new worker looks once.
 */

/** The tab in front of each window. @type {Map<number, number>} */
const active = new Map();
/** @type {number | undefined} a window, or WINDOW_ID_NONE */
let focused;

/** chrome.tabs.onActivated. @param {{tabId: number, windowId: number}} now */
export const onActivated = ({tabId, windowId}) => void active.set(windowId, tabId);

/** chrome.windows.onFocusChanged. @param {number} window */
export const onFocusChanged = (window) => { focused = window; };

/** What Chrome told meanwhile is newer than its answer. */
export async function look() {
  const [tabs, window] = await Promise.all([chrome.tabs.query({active: true}), chrome.windows.getLastFocused()]);
  for (const {id, windowId} of tabs) if (id !== undefined && !active.has(windowId)) active.set(windowId, id);
  if (window.focused) focused ??= window.id;
}

/** @param {number} tab */
export const isFront = (tab) => focused !== undefined && active.get(focused) === tab;
