/**
 * Every document request of a lent tab stops here until the host's verdict. Without one in time, or without a link, it
 * fails: nothing leaves because somebody was slow. While the owner drives nothing is stopped, only told.
 *
 * The ids of what Chrome holds stand in the lease, which outlives the worker: a detach would send every one of them.
 *
 * @import {Verdict} from '../protocol/protocol.js'
 * @import {Lease} from './state.js'
 */
import {quietly} from './errors.js';
import {isFront} from './front.js';
import {VERDICT_MS} from './protocol.js';
import {forward, isHeard} from './relay.js';
import {leaseOf, save} from './state.js';

/** Timers by tab and key; a new worker fails what an old one left. @type {Map<string, ReturnType<typeof setTimeout>>} */
const timers = new Map();

/**
 * A request waits. The host hears of it before anything is stored: this is the path that every navigation takes.
 *
 * @param {Lease} lease
 * @param {string} session
 * @param {any} params of Fetch.requestPaused
 */
export function paused(lease, session, params) {
  const key = keyOf(session, params.requestId);
  if (lease.driving) {
    command(lease.tab, session, 'Fetch.continueRequest', params.requestId);
    forward(lease, session, 'Fetch.requestPaused', params, {driven: true});
    return;
  }
  if (!isHeard(lease)) {
    decide(lease.tab, session, params.requestId, 'fail');
    return;
  }
  forward(lease, session, 'Fetch.requestPaused', params, isFront(lease.tab) ? {front: true} : undefined);
  lease.paused[key] = session;
  timers.set(`${lease.tab} ${key}`, setTimeout(() => settle(lease, key, 'fail'), VERDICT_MS));
  save('leases');
}

/**
 * The host's verdict. One that comes too late, or for a tab of another host, changes nothing.
 *
 * @param {string} instance
 * @param {Verdict} verdict
 */
export function verdict(instance, {tab, session = '', request, action}) {
  const lease = leaseOf(tab);
  if (lease?.instance === instance) settle(lease, keyOf(session, request), action);
}

/**
 * Fails everything that waits in a tab: on takeover, on a lost link, before each detach. Settled when Chrome has
 * answered, or not in time.
 *
 * @param {Lease} lease
 */
export function failAll(lease) {
  const done = Promise.all(Object.keys(lease.paused).map((key) => settle(lease, key, 'fail')));
  return Promise.race([done, new Promise((late) => setTimeout(late, 300))]);
}

/** A request that no lease stands for any more. @param {number} tab @param {string} session @param {string} request */
export const orphan = (tab, session, request) => void decide(tab, session, request, 'fail');

/** What was paused in a child session went with it. @param {Lease} lease @param {string} session */
export function gone(lease, session) {
  for (const [key, at] of Object.entries(lease.paused)) if (at === session) drop(lease, key);
}

/** @param {Lease} lease @param {string} key @param {Verdict['action']} action */
function settle(lease, key, action) {
  const session = lease.paused[key];
  if (session === undefined) return undefined;
  const settled = decide(lease.tab, session, key.slice(key.indexOf(' ') + 1), action);
  drop(lease, key);
  return settled;
}

/** @param {Lease} lease @param {string} key */
function drop(lease, key) {
  clearTimeout(timers.get(`${lease.tab} ${key}`));
  timers.delete(`${lease.tab} ${key}`);
  delete lease.paused[key];
  save('leases');
}

/** An empty page from which the agent's navigation goes on as same-origin (PROTOCOL.md, verdict "arrive"). */
const ARRIVAL = [
  {name: 'Content-Type', value: 'text/html'}, {name: 'Referrer-Policy', value: 'no-referrer'}, {name: 'Cache-Control', value: 'no-store'},
];

/** @param {number} tab @param {string} session @param {string} request @param {Verdict['action']} action */
function decide(tab, session, request, action) {
  switch (action) {
    case 'continue': return command(tab, session, 'Fetch.continueRequest', request);
    case 'refuse': return command(tab, session, 'Fetch.fulfillRequest', request, {responseCode: 204});
    case 'arrive': return command(tab, session, 'Fetch.fulfillRequest', request, {responseCode: 200, responseHeaders: ARRIVAL});
    default: return command(tab, session, 'Fetch.failRequest', request, {errorReason: 'BlockedByClient'});
  }
}

/** The request may be gone by itself. @param {number} tab @param {string} session @param {string} method @param {string} requestId @param {object} [more] */
const command = (tab, session, method, requestId, more) => quietly(chrome.debugger.sendCommand(
  {tabId: tab, ...(session && {sessionId: session})}, method, {requestId, ...more}));

/** @param {string} session @param {string} request */
const keyOf = (session, request) => `${session} ${request}`;
