/**
 * What the worker remembers, in three homes:
 *
 * | home                                  | what                                                             |
 * |---------------------------------------|------------------------------------------------------------------|
 * | kept (storage.local)                  | pairing, without its key (IndexedDB); heads of the record        |
 * | this browser session (storage.session)| leases, agents, approvals, once-lent tabs, prompts, rows, errors |
 * | this worker (memory)                  | links, timers of paused requests, calls in flight: each module's |
 *
 * The first two are read once when the worker starts and written behind: only the worker writes. Memory is rebuilt by
 * reconcile.js.
 *
 * @import {Access, Prompt} from '../protocol/protocol.js'
 */

/**
 * @typedef {object} Lease a tab that is lent, or about to be
 * @property {number} tab
 * @property {string} lease the host's id of it, '' until the host accepted it
 * @property {string} instance of the host it is lent to
 * @property {string} client the agent's name, as shown
 * @property {'attaching' | 'offered' | 'live' | 'lost' | 'ended'} stage `lost`: its host is not linked; `ended`: only the debugger is
 *   still there
 * @property {Access} access
 * @property {boolean} exact
 * @property {boolean} sealed
 * @property {number | null} until milliseconds since the epoch
 * @property {number} since
 * @property {boolean} opened the agent opened the tab
 * @property {boolean} touched the owner drove it once
 * @property {boolean} driving
 * @property {boolean} private
 * @property {boolean} frozen
 * @property {string[]} grants in plain words
 * @property {number} group the agent's tab group, -1 when it is not grouped
 * @property {number} former the group it came from, -1 for none
 * @property {Record<string, {frame: string, url: string}>} sessions attached child frames
 * @property {Record<string, string>} paused requests Chrome holds: key of guard.js → session
 */

/** @typedef {{profile: string, label: string, epoch: number, manual: boolean, renew: boolean}} Pairing manual: by a code that no host has seen yet */
/** @typedef {{token: string, instance: string, port: number, opened: number}} Opened an approval that a tab shows */
/** @typedef {Prompt & {instance: string, client: string, asked: number}} Question */
/** @typedef {{name: string, number: number, color: `${chrome.tabGroups.Color}`, port: number, paused: boolean}} Agent */

/** Kept until the owner forgets it. */
export const kept = {
  /** @type {Pairing | null} */ pairing: null,
  /** @type {Record<string, {seq: number, hash: string}>} by file, oldest first */ heads: {},
};

/** Kept while the browser runs and the extension is not reloaded. */
export const session = {
  /** @type {Record<string, Lease>} by tab */ leases: {},
  /** @type {Record<string, Agent>} by instance */ agents: {},
  /** @type {Record<string, Opened>} by tab */ approvals: {},
  /** @type {Record<string, true>} tabs that are or were lent, and their popups */ lent: {},
  /** @type {Record<string, Question>} by instance and id */ prompts: {},
  /** @type {{file: string, seq: number, row: unknown}[]} the end of the record */ rows: [],
  /** @type {{time: number, code: string, message: string}[]} */ errors: [],
  /** grows whenever something changed that only memory holds and the pages show */ view: 0,
  /** false in a new browser session */ known: false,
};

/** @typedef {keyof typeof kept | keyof typeof session} Name */

/** @type {Set<Name>} */
const dirty = new Set();

/** Whether the stored state is here. Once true it stays so: handlers may then run at once, in order. */
export let loaded = false;

/** Reads what is stored. Everything waits for it, once. */
export async function load() {
  const [local, current] = await Promise.all([
    chrome.storage.local.get(Object.keys(kept)), chrome.storage.session.get(Object.keys(session)),
  ]);
  Object.assign(kept, local);
  Object.assign(session, current);
  loaded = true;
}

/**
 * Writes these values behind, after the present task: nothing that matters in time waits for a disk.
 *
 * @param {Name[]} names
 */
export function save(...names) {
  if (dirty.size === 0) queueMicrotask(flush);
  for (const name of names) dirty.add(name);
}

/** Writes now, for what must be known before the next thing is done. */
export const stored = () => flush();

/** Tells the pages that something changed which only memory holds. */
export function changed() {
  session.view++;
  save('view');
}

async function flush() {
  const written = [...dirty];
  dirty.clear();
  const pick = (/** @type {object} */ home) => Object.fromEntries(Object.entries(home).filter(([name]) => written.includes(/** @type {Name} */ (name))));
  const homes = /** @type {const} */ ([[chrome.storage.local, pick(kept)], [chrome.storage.session, pick(session)]]);
  await Promise.all(homes.map(([area, values]) => Object.keys(values).length > 0
    && area.set(values).catch((error) => console.error('storing', error))));
}

/** The lease of a tab, if it has not ended. @param {number} tab */
export const leaseOf = (tab) => (session.leases[tab]?.stage === 'ended' ? undefined : session.leases[tab]);

export const leases = () => Object.values(session.leases).filter(({stage}) => stage !== 'ended');

/** @param {string} instance */
export const leasesOf = (instance) => leases().filter((lease) => lease.instance === instance);
