/**
 * The fixed sequence that every tab and every frame of another process gets before anybody may use it. The worker runs it
 * by itself, so that a slow host stalls no frame.
 *
 * @import {Lease} from './state.js'
 */
import {Fault, quietly, text, unsharableFor} from './errors.js';
import {gone} from './guard.js';
import {save} from './state.js';

const ATTACH_MS = 5000;

/** In this order: without Network.enable the bypass does nothing; the guard stands before children are let in. */
export const SEQUENCE = /** @type {const} */ ([
  ['Page.enable', {}],
  ['Network.enable', {}],
  ['Network.setBypassServiceWorker', {bypass: true}],
  ['Fetch.enable', {patterns: [{resourceType: 'Document', requestStage: 'Request'}]}],
  ['Target.setAutoAttach', {autoAttach: true, waitForDebuggerOnStart: true, flatten: true}],
  ['Emulation.setFocusEmulationEnabled', {enabled: true}],
  ['Page.setLifecycleEventsEnabled', {enabled: true}],
]);

/** @param {chrome.debugger.DebuggerSession} target */
const guarded = (target) => SEQUENCE.map(([method, params]) => chrome.debugger.sendCommand(target, method, /** @type {any} */ (params)));

/**
 * Attaches to a tab and guards it, or throws attach_refused with Chrome's own words; then nothing is attached.
 *
 * @param {number} tabId
 */
export async function attach(tabId) {
  try {
    await chrome.debugger.attach({tabId}, '1.3');
  } catch (error) {
    throw new Fault('attach_refused', text(error));
  }
  let timer;
  const late = new Promise((_, fail) => { timer = setTimeout(() => fail(unsharableFor('unsharable_silent')), ATTACH_MS); });
  try {
    await Promise.race([Promise.all(guarded({tabId})), late]);
  } catch (error) {
    await quietly(chrome.debugger.detach({tabId}));
    throw new Fault('attach_refused', text(error));
  } finally {
    clearTimeout(timer);
  }
}

/**
 * A child target waits: a frame is guarded and let go, anything else is let go and left alone.
 *
 * @param {Lease} lease
 * @param {string} parent session it belongs to
 * @param {any} params of Target.attachedToTarget
 * @returns {boolean} whether it is a frame of the lease from here on
 */
export function childAttached({tab: tabId, sessions}, parent, {sessionId, targetInfo}) {
  const child = {tabId, sessionId};
  const isFrame = targetInfo.type === 'iframe';
  const sent = isFrame ? guarded(child) : [];
  sent.push(chrome.debugger.sendCommand(child, 'Runtime.runIfWaitingForDebugger'));
  if (!isFrame) sent.push(chrome.debugger.sendCommand({tabId, ...(parent && {sessionId: parent})}, 'Target.detachFromTarget', {sessionId}));
  for (const command of sent) quietly(command); // a frame may be gone before it is ours
  if (!isFrame) return false;
  sessions[sessionId] = {frame: targetInfo.targetId, url: targetInfo.url};
  save('leases');
  return true;
}

/** @param {Lease} lease @param {string} session */
export function childDetached(lease, session) {
  if (!lease.sessions[session]) return false;
  delete lease.sessions[session];
  gone(lease, session);
  save('leases');
  return true;
}
