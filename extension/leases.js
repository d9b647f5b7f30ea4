/**
 * Which tab is lent to whom: the one place where a lease begins and ends. Only the owner's click begins one, or a host
 * that already holds one and opens a tab of its own. Ending is always possible, and stops the relay before anything else.
 *
 * @import {Access, EndReason, LeasedTab, TabOpenParams} from '../protocol/protocol.js'
 * @import {Lease} from './state.js'
 */
import {attach} from './attach.js';
import {isHostPath, isTarget, mustBeAt} from './cdp.js';
import {mayAct} from './drive.js';
import {Fault, quietly, unattended, unsharableFor} from './errors.js';
import {badge, badgeOff, group, ungroup} from './groups.js';
import {failAll} from './guard.js';
import {isHostPort, linked, relink, review, tell} from './links.js';
import {hosts} from './pairing.js';
import {dropPrompts} from './prompts.js';
import {showHeads} from './record.js';
import {forgetQueue, holdBack, introduce} from './relay.js';
import {changed, leaseOf, leases, save, session, stored} from './state.js';

const BADGE_AGAIN_MS = 250;
const UNGROUP_MS = 1000; // longer while the owner drags
const REATTACH_MS = 150;
const REATTACH_AGAIN_MS = 3000;
const WAKE = 'wake';

/** When a tab was last attached again; losing it allows one attempt more. @type {Map<number, number>} */
const reattached = new Map();

/**
 * Why a tab at that address cannot be lent, in words for the owner, or null.
 *
 * @param {string} address
 * @param {number} [tab]
 */
export function unsharable(address, tab) {
  if (tab !== undefined && leaseOf(tab)) return chrome.i18n.getMessage('unsharable_lent');
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (!url || !/^https?:$/.test(url.protocol)) return chrome.i18n.getMessage('unsharable_scheme');
  return isHostPath(url) || isHostPort(url) ? chrome.i18n.getMessage('unsharable_own') : null;
}

/**
 * Lends a tab: attaches, guards, offers it. Whatever goes wrong, or if the owner stops it meanwhile, nothing stays attached.
 *
 * @param {{instance: string, id: string, tab: number, seen?: string, access: Access, exact: boolean, until: number, sealed: boolean, opened: boolean}} terms seen: the address the owner saw
 */
export async function share({instance, id, tab, seen = '', access, exact, until, sealed, opened}) {
  const [known] = await Promise.all([describe([tab]), hosts()]); // hosts: their ports are known then
  const why = unsharable(known.get(tab)?.url ?? '', tab);
  if (why !== null) throw new Fault('attach_refused', why);
  const lease = begin(tab, instance, {access, exact, sealed, opened, until: until > 0 ? Date.now() + until * 1000 : null});
  try {
    const link = await linked(instance);
    lease.client = session.agents[instance]?.name ?? '';
    await stored();
    standing(lease);
    await attach(tab);
    standing(lease);
    lease.stage = 'offered';
    const facts = await leased(lease);
    if (seen) mustBeAt(seen, facts.url);
    standing(lease);
    holdBack(lease);
    const accepted = await link.call('lease.offer', {id, tab: facts, access, exact, until, sealed});
    if (leaseOf(tab) !== lease) link.note('lease.ended', {tab, reason: 'stopped'});
    standing(lease);
    lease.lease = accepted.lease;
    settle(lease);
  } catch (error) {
    if (leaseOf(tab) === lease) await end(lease, 'refused', {silent: true});
    else await quietly(chrome.debugger.detach({tabId: tab})); // the stop came before the debugger was there
    if (error instanceof Fault && error.code === 'attach_refused') tell(instance, 'approval.tab_refused', {id, reason: error.message});
    throw error;
  }
  return lease;
}

/**
 * tab.open: a new tab in the background beside one that is lent, guarded before its first request.
 *
 * @param {string} instance
 * @param {TabOpenParams} params
 */
export async function open(instance, {url, lease: name, beside}) {
  const other = leaseOf(beside);
  if (other?.instance !== instance) throw new Fault('not_leased', 'the tab beside it is not lent to this host');
  mayAct(other);
  if (!isTarget(url)) throw new Fault('scheme_refused', 'only http and https addresses are opened');
  const {windowId, index} = await chrome.tabs.get(beside);
  const {id: tab = -1} = await chrome.tabs.create({windowId, index: index + 1, url: 'about:blank', active: false});
  const {access, exact, sealed, until} = other;
  const lease = begin(tab, instance, {access, exact, sealed, until, opened: true});
  try {
    await stored();
    standing(lease);
    await attach(tab);
    standing(lease);
    lease.lease = name;
    lease.stage = 'offered';
    await group(lease);
    standing(lease);
    const facts = await leased(lease);
    holdBack(lease);
    setTimeout(() => settle(lease)); // after the answer
    return facts;
  } catch (error) {
    if (leaseOf(tab) === lease) await end(lease, 'refused', {silent: true});
    await quietly(chrome.tabs.remove(tab));
    throw error;
  }
}

/** tab.close: only what the agent opened. @param {string} instance @param {number} tab */
export async function close(instance, tab) {
  const lease = leaseOf(tab);
  if (lease?.instance !== instance) throw new Fault('not_leased', 'the tab is not lent to this host');
  if (!lease.opened) throw new Fault('not_permitted', 'the tab is the owner’s');
  mayAct(lease);
  await end(lease, 'host', {silent: true, close: true});
  return {};
}

/** lease.end. @param {string} instance @param {number} tab @param {boolean} wanted also close it, if the agent opened it and the owner never drove it */
export async function endForHost(instance, tab, wanted) {
  const lease = leaseOf(tab);
  if (lease?.instance !== instance) throw new Fault('not_leased', 'the tab is not lent to this host');
  const detached = await end(lease, 'host', {silent: true, close: wanted && lease.opened && !lease.touched});
  showHeads(instance);
  return {detached};
}

/** @param {number} tab @param {string} instance @param {Pick<Lease, 'access' | 'exact' | 'sealed' | 'until' | 'opened'>} terms */
function begin(tab, instance, terms) {
  if (session.leases[tab]) throw unsharableFor('unsharable_lent');
  /** @type {Lease} */
  const lease = {
    tab, instance, ...terms, lease: '', client: session.agents[instance]?.name ?? '', stage: 'attaching', since: Date.now(),
    touched: false, driving: false, private: false, frozen: false, grants: [], group: -1, former: -1, sessions: {}, paused: {},
  };
  session.leases[tab] = lease;
  session.lent[tab] = true;
  save('leases', 'lent');
  holdBack(lease);
  return lease;
}

/** @param {Lease} lease */
const standing = (lease) => { if (leaseOf(lease.tab) !== lease) throw new Fault('page_closed', 'sharing was stopped'); };

/** The host has accepted the lease, or kept it. @param {Lease} lease */
export function settle(lease) {
  if (leaseOf(lease.tab) !== lease || lease.stage === 'lost') return; // its link has broken meanwhile
  lease.stage = 'live';
  save('leases');
  introduce(lease);
  badge(lease);
  quietly(chrome.tabs.update(lease.tab, {autoDiscardable: false}));
  if (lease.group === -1) unattended(group(lease));
  if (lease.until !== null) quietly(chrome.alarms.create(`until ${lease.tab}`, {when: lease.until}));
  quietly(chrome.alarms.create(WAKE, {periodInMinutes: 1 / 12})); // Chrome makes it 30 s unless the extension is unpacked
}

/**
 * Ends a lease, for good. The relay has stopped when this returns to the caller's next line; what is paused fails before
 * the detach, which would send it.
 *
 * @param {Lease} lease
 * @param {EndReason} reason
 * @param {{detail?: string, silent?: boolean, close?: boolean, attached?: boolean}} [how] silent: the host knows; attached:
 *   whether the debugger is still there
 * @returns {Promise<boolean>} whether Chrome confirmed the detach
 */
export async function end(lease, reason, {detail = '', silent = false, close = false, attached = true} = {}) {
  const {tab, instance, stage} = lease;
  if (leaseOf(tab) !== lease) return true;
  lease.stage = 'ended'; // it stands in the store until the debugger is gone: a new worker goes on from here
  save('leases');
  forgetQueue(tab);
  const failed = failAll(lease);
  if (!silent && stage !== 'attaching') tell(instance, 'lease.ended', {tab, reason, ...(detail && {detail})});
  dropPrompts((prompt) => prompt.tab === tab);
  quietly(chrome.alarms.clear(`until ${tab}`));
  if (leases().length === 0) quietly(chrome.alarms.clear(WAKE));
  await failed;
  let detached = true;
  if (close) await quietly(chrome.tabs.remove(tab)); // still attached: a beforeunload dialog is answered there
  else if (attached) detached = await chrome.debugger.detach({tabId: tab}).then(() => true, () => false);
  badgeOff(tab);
  quietly(chrome.tabs.update(tab, {autoDiscardable: true}));
  await Promise.race([quietly(ungroup(lease)), new Promise((late) => setTimeout(late, UNGROUP_MS))]);
  if (session.leases[tab] === lease) delete session.leases[tab];
  save('leases');
  review();
  return detached;
}

/** @param {EndReason} reason @param {(lease: Lease) => boolean} [which] */
export const endAll = (reason, which = () => true) => Promise.all(leases().filter(which).map((lease) => end(lease, reason)));

/**
 * The tab's main frame has committed; the badge is put back.
 *
 * @param {Lease} lease
 * @param {string} address
 * @returns {boolean} whether it arrived where no lease may be, and has ended
 */
export function arrived(lease, address) {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && (url.protocol === 'chrome-extension:' || isHostPath(url))) {
    unattended(end(lease, 'own_page'));
    return true;
  }
  badge(lease);
  setTimeout(() => leaseOf(lease.tab) === lease && badge(lease), BADGE_AGAIN_MS); // Chrome may clear it only now
  changed();
  return false;
}

/**
 * chrome.debugger.onDetach: Cancel on Chrome's bar is a no; anything else may be a page that Chrome does not let us see
 * for a moment, and is worth one attempt.
 *
 * @param {chrome.debugger.DebuggerSession} source
 * @param {string} why
 */
export async function onDetach({tabId = -1}, why) {
  const lease = leaseOf(tabId);
  if (!lease || lease.stage === 'attaching') return;
  if (why === 'canceled_by_user') return void await end(lease, 'canceled', {attached: false});
  lease.sessions = {};
  lease.stage = 'lost';
  await failAll(lease);
  await new Promise((done) => setTimeout(done, REATTACH_MS));
  if (!await chrome.tabs.get(tabId).catch(() => undefined)) return void await end(lease, 'closed', {attached: false});
  if (leaseOf(tabId) !== lease) return;
  try {
    if (Date.now() - (reattached.get(tabId) ?? 0) < REATTACH_AGAIN_MS) throw new Fault('attach_refused', 'Chrome detached it again.');
    reattached.set(tabId, Date.now());
    await attach(tabId);
    if (leaseOf(tabId) !== lease) return void await quietly(chrome.debugger.detach({tabId})); // the stop came before the debugger was there
    relink(lease.instance);
  } catch (error) {
    await end(lease, 'refused', {detail: error instanceof Error ? error.message.slice(0, 200) : '', attached: false});
  }
}

/** chrome.tabs.onRemoved. @param {number} tab */
export function onRemoved(tab) {
  const lease = leaseOf(tab);
  if (lease) unattended(end(lease, 'closed', {attached: false}));
  if (session.lent[tab]) {
    delete session.lent[tab];
    save('lent');
  }
}

/** chrome.tabs.onReplaced. @param {number} removed */
export function onReplaced(removed) {
  const lease = leaseOf(removed);
  if (lease) unattended(end(lease, 'tab_replaced'));
}

/** chrome.alarms.onAlarm: a lease's time is up. @param {string} name */
export function onAlarm(name) {
  const lease = name.startsWith('until ') ? leaseOf(Number(name.slice(6))) : undefined;
  if (lease) unattended(end(lease, 'expired'));
}

/** Popups of lent tabs are never approval pages. @param {{sourceTabId: number, tabId: number}} details */
export function onCreatedTarget({sourceTabId, tabId}) {
  if (!session.lent[sourceTabId]) return;
  session.lent[tabId] = true;
  save('lent');
}

/** lease.update: what the pages show of a lease. @param {string} instance @param {import('../protocol/protocol.js').LeaseUpdate} params */
export function update(instance, {tab, frozen, grants}) {
  const lease = leaseOf(tab);
  if (lease?.instance !== instance) return;
  Object.assign(lease, {frozen, grants});
  save('leases');
}

/** A lease as the host gets it; in private without an address. @param {Lease} lease @returns {Promise<LeasedTab>} */
export async function leased(lease) {
  const {tab, lease: name, opened, driving, private: isPrivate} = lease;
  const {url = '', title = ''} = isPrivate ? {} : (await describe([tab])).get(tab) ?? {};
  return {tab, lease: name, url, title, opened, driving, private: isPrivate, sessions: children(lease)};
}

/** Its attached frames at this moment. @param {Lease} lease */
export const children = ({private: isPrivate, sessions}) => Object.entries(sessions).map(
  ([session, {frame, url}]) => ({session, frame, url: isPrivate ? '' : url}));

/** Address and title of these tabs, or of all, by Chrome's own list. @param {number[]} [only] */
export async function describe(only) {
  const targets = await chrome.debugger.getTargets();
  return new Map(targets.flatMap(({tabId, type, url, title, attached}) => (
    tabId !== undefined && type === 'page' && (!only || only.includes(tabId)) ? [[tabId, {url, title, attached}]] : [])));
}

