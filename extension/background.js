/**
 * The worker. It only wires: every listener is added here, at once, and handed to the module that knows; what is remembered
 * stands in state.js.
 */
import * as approval from './approval.js';
import {unattended} from './errors.js';
import * as front from './front.js';
import * as groups from './groups.js';
import * as leases from './leases.js';
import {onMessage} from './messages.js';
import * as prompts from './prompts.js';
import {reconcile, tick} from './reconcile.js';
import {onEvent} from './relay.js';
import {load, loaded} from './state.js';

const ready = load();

/**
 * Runs the handler at once if the state is here, so that a verdict is asked for without a detour; else when it is, in
 * order.
 *
 * @template {unknown[]} A
 * @param {(...args: A) => unknown} handler
 * @returns {(...args: A) => void}
 */
const on = (handler) => (...args) => {
  const run = () => {
    const work = handler(...args);
    if (work instanceof Promise) unattended(work);
  };
  if (loaded) run();
  else unattended(ready.then(run));
};

chrome.debugger.onEvent.addListener(on(onEvent));
chrome.debugger.onDetach.addListener(on(leases.onDetach));
chrome.tabs.onActivated.addListener(front.onActivated);
chrome.tabs.onCreated.addListener(on(groups.onCreated));
chrome.tabs.onUpdated.addListener(on(groups.onUpdated));
chrome.tabs.onRemoved.addListener(on((tab) => { leases.onRemoved(tab); approval.closed(tab); }));
chrome.tabs.onReplaced.addListener(on((_, removed) => leases.onReplaced(removed)));
chrome.windows.onFocusChanged.addListener(front.onFocusChanged);
chrome.webNavigation.onBeforeNavigate.addListener(on(approval.onLink), approval.FILTER);
chrome.webNavigation.onCommitted.addListener(on(approval.onLink), approval.FILTER);
chrome.webNavigation.onCreatedNavigationTarget.addListener(on(leases.onCreatedTarget));
chrome.notifications.onClicked.addListener(on(prompts.onClicked));
chrome.alarms.onAlarm.addListener(on(({name}) => { leases.onAlarm(name); return tick(); }));
chrome.runtime.onStartup.addListener(() => {}); // starts the worker, which cleans up
chrome.runtime.onMessage.addListener((message, sender, answer) => {
  ready.then(() => onMessage(message, sender)).then(answer);
  return true;
});

unattended(ready.then(reconcile));
