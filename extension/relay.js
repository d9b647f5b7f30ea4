/**
 * Between hosts and Chrome: commands of the allow-list to tabs that are lent to the asking host, events of the list back.
 * The owner's stop is enforced here, whatever the host does: while they drive, only what clears up passes.
 *
 * @import {Event, SendParams} from '../protocol/protocol.js'
 * @import {Lease} from './state.js'
 */
import {checkCDP} from './cdp.js';
import {mayAct} from './drive.js';
import {Fault, quietly, text} from './errors.js';
import {slim} from './events.js';
import * as guard from './guard.js';
import {tell} from './links.js';
import {childAttached, childDetached} from './attach.js';
import {arrived} from './leases.js';
import {leaseOf} from './state.js';

const QUEUE = 500;

/**
 * Events of tabs that the host does not know yet, by tab: they follow the answer that makes it known.
 *
 * @type {Map<number, Event[]>}
 */
const queues = new Map();

/**
 * One command of a host. The result is Chrome's own.
 *
 * @param {string} instance
 * @param {SendParams} params
 */
export async function send(instance, {tab, session = '', method, params, act = false}) {
  const lease = leaseOf(tab);
  if (lease?.instance !== instance || lease.stage === 'attaching') throw new Fault('not_leased', 'the tab is not lent to this host');
  const kind = checkCDP(method, params, act);
  if (kind === 'act' || (kind === 'read' && lease.private)) mayAct(lease);
  if (session !== '' && !Object.hasOwn(lease.sessions, session)) throw new Fault('chrome_error', 'Session with given id not found.');
  introduce(lease);
  try {
    return await chrome.debugger.sendCommand({tabId: tab, ...(session && {sessionId: session})}, method, /** @type {any} */ (params)) ?? {};
  } catch (error) {
    throw chromeFault(error);
  }
}

/** What Chrome says of a failed command is a JSON text, or a sentence. @param {unknown} error */
export function chromeFault(error) {
  const said = text(error);
  try {
    const {code, message} = JSON.parse(said);
    return new Fault('chrome_error', String(message), {cdp: Number(code)});
  } catch {
    return new Fault('chrome_error', said);
  }
}

/**
 * chrome.debugger.onEvent.
 *
 * @param {chrome.debugger.DebuggerSession} source
 * @param {string} method
 * @param {any} params
 */
export function onEvent({tabId = -1, sessionId: session = ''}, method, params = {}) {
  const lease = leaseOf(tabId);
  if (!lease) {
    if (method === 'Fetch.requestPaused') guard.orphan(tabId, session, params.requestId);
    return;
  }
  switch (method) {
    case 'Fetch.requestPaused':
      guard.paused(lease, session, params);
      return;
    case 'Page.screencastFrame': // it only keeps the tab's frames coming
      quietly(chrome.debugger.sendCommand({tabId, ...(session && {sessionId: session})}, 'Page.screencastFrameAck', {sessionId: params.sessionId}));
      return;
    case 'Target.attachedToTarget':
      if (!childAttached(lease, session, params)) return;
      break;
    case 'Target.detachedFromTarget':
      if (!childDetached(lease, params.sessionId)) return;
      break;
    case 'Page.frameNavigated':
      if (session === '' && !params.frame.parentId && arrived(lease, params.frame.url)) return;
      break;
  }
  forward(lease, session, method, params);
}

/**
 * Passes an event on, if it is on the list. In private the host learns no address: only which child sessions there are.
 *
 * @param {Lease} lease
 * @param {string} session
 * @param {string} method
 * @param {any} params
 * @param {Pick<Event, 'driven' | 'front'>} [facts] of Fetch.requestPaused
 */
export function forward(lease, session, method, params, facts) {
  const kept = slim(method, params);
  if (!kept || lease.stage === 'lost') return;
  if (lease.private) {
    if (!method.startsWith('Target.')) return;
    if (kept.targetInfo) kept.targetInfo.url = '';
  }
  /** @type {Event} */
  const event = {tab: lease.tab, ...(session && {session}), method, params: kept, ...facts};
  const queue = queues.get(lease.tab);
  if (!queue) tell(lease.instance, 'cdp.event', event);
  else if (queue.length < QUEUE) queue.push(event);
}

/** Whether the host will hear of this tab: at once, or when it has been made known. @param {Lease} lease */
export const isHeard = (lease) => lease.stage !== 'lost';

/** Holds events back until the host knows the tab. What it is told then covers all earlier ones but paused requests. @param {Lease} lease */
export const holdBack = ({tab}) => void queues.set(tab, (queues.get(tab) ?? []).filter(({method}) => method === 'Fetch.requestPaused'));

/** The host knows the tab from here on: it gets what was held back. @param {Lease} lease */
export function introduce({tab, instance}) {
  const held = queues.get(tab);
  queues.delete(tab);
  for (const event of held ?? []) tell(instance, 'cdp.event', event);
}

/** @param {number} tab */
export const forgetQueue = (tab) => void queues.delete(tab);
