/**
 * What the extension's own pages ask. Who asks is checked before anything is done, and a decision never comes from a tab
 * that an agent may sit in.
 *
 * @import {Status} from './pages/view.js'
 * @import {Shape} from './protocol.js'
 */
import * as approval from './approval.js';
import * as drive from './drive.js';
import {Fault, report, unattended, wire} from './errors.js';
import {describe, end, endAll, share, unsharable} from './leases.js';
import {greet, isLinked, unlinkAll} from './links.js';
import * as pairing from './pairing.js';
import * as prompts from './prompts.js';
import {shaped} from './protocol.js';
import {kept, leaseOf, leases, session} from './state.js';

/** @typedef {{shape: Shape, decides?: true, answer: (message: any, tab: number | undefined) => unknown}} Handler */

const TERMS = {access: ['read', 'act', 'submit'], exact: 'boolean', until: 'int', sealed: 'boolean'};
const ONE_TAB = {tab: 'int'};

/** @type {Record<string, Handler>} */
const HANDLERS = {
  'status.get': {shape: {}, answer: status},
  'pair.start': {shape: {}, decides: true, answer: () => paired(pairing.pair(false))},
  'pair.renew': {shape: {}, decides: true, answer: () => paired(pairing.pair(true))},
  'pair.manual': {shape: {code: 'string'}, decides: true, answer: ({code}) => paired(pairing.pairManually(code), greet)},
  'pair.forget': {shape: {}, decides: true, answer: async () => { await unlinkAll(); await pairing.forget(); }},
  'extension.reload': {shape: {}, answer: async () => { await endAll('stopped'); chrome.runtime.reload(); }},
  'approval.find': {shape: {instance: 'string?'}, decides: true, answer: ({instance}, tab) => approval.find(tab, instance)},
  'approval.tabs': {shape: {}, decides: true, answer: () => approval.choices()},
  'approval.share': {
    shape: {instance: 'name', id: 'name', tab: 'int|null', url: 'string', ...TERMS}, decides: true,
    answer: (decision, tab) => approval.decideShare(tab, decision),
  },
  'approval.refuse': {shape: {instance: 'name', id: 'name'}, decides: true, answer: ({instance, id}, tab) => approval.decideRefuse(tab, instance, id)},
  'lease.share': {
    shape: {instance: 'name', tab: 'int', url: 'string?'}, decides: true,
    answer: async ({instance, tab, url}) => {
      await share({instance, id: '', tab, seen: url, access: 'act', exact: false, until: 0, sealed: false, opened: false});
      return {tab};
    },
  },
  'lease.takeover': {shape: {tab: 'int', private: 'boolean'}, answer: (message) => drive.takeOver(owned(message.tab), message.private)},
  'lease.handback': {shape: ONE_TAB, decides: true, answer: ({tab}) => drive.handBack(owned(tab))},
  'lease.stop': {shape: ONE_TAB, answer: async ({tab}) => void await end(owned(tab), 'stopped')},
  'lease.stop_all': {shape: {}, answer: async () => void await endAll('stopped')},
  'agent.pause': {shape: {instance: 'name', paused: 'boolean'}, answer: ({instance, paused}) => drive.pause(instance, paused)},
  'prompt.answer': {
    shape: {instance: 'name', id: 'name', choice: ['once', 'ten_minutes', 'while_shared', 'no']}, decides: true,
    answer: ({instance, id, choice}) => prompts.answer(instance, id, choice),
  },
};

/**
 * One message of a page; never rejects.
 *
 * @param {unknown} message
 * @param {chrome.runtime.MessageSender} sender
 */
export async function onMessage(message, {id, url = '', tab}) {
  try {
    if (id !== chrome.runtime.id || !url.startsWith(chrome.runtime.getURL(''))) throw new Fault('not_permitted', 'not a page of ours');
    const {type, ...values} = shaped(message, {type: 'name', '*': 'any'});
    const handler = Object.hasOwn(HANDLERS, type) ? HANDLERS[type] : undefined;
    if (!handler) throw new Fault('unknown_method', String(type).slice(0, 40));
    if (handler.decides && tab?.id !== undefined && (leaseOf(tab.id) || session.lent[tab.id])) throw new Fault('not_permitted', 'an agent may sit in this tab');
    return {ok: true, value: await handler.answer(shaped(values, handler.shape), tab?.id) ?? {}};
  } catch (error) {
    const {code, message: said, data} = wire(error);
    if (code === 'internal') report(error);
    return {ok: false, error: {code, message: said, ...(typeof data?.hint === 'string' && {hint: data.hint})}};
  }
}

/** @returns {Promise<Status>} */
async function status() {
  const [hosts, tabs, [front]] = await Promise.all([pairing.hosts(), describe(), chrome.tabs.query({active: true, lastFocusedWindow: true})]);
  const {version} = chrome.runtime.getManifest();
  const {native} = pairing;
  const questions = prompts.waiting();
  const of = (/** @type {number} */ tab) => ({title: '', url: '', ...tabs.get(tab)});
  const current = front?.id === undefined || !tabs.has(front.id) ? null : {tab: front.id, title: of(front.id).title, url: of(front.id).url};
  return {
    paired: kept.pairing && {profile: kept.pairing.profile, label: kept.pairing.label},
    pairing: pairing.pairingState(),
    native: native.state,
    hosts: hosts.map(({instance, name, pid, started, state}) => ({
      instance, name, pid, started: Date.parse(started), state: state === 'waiting' ? 'waiting' : 'connected', linked: isLinked(instance),
    })),
    leases: leases().map((lease) => ({
      tab: lease.tab, title: of(lease.tab).title, url: of(lease.tab).url, client: lease.client, instance: lease.instance,
      starting: lease.lease === '', driving: lease.driving, private: lease.private, frozen: lease.frozen, asking: questions.some(({tab}) => tab === lease.tab),
      since: lease.since, until: lease.until, access: lease.access, sealed: lease.sealed, opened: lease.opened, grants: lease.grants,
    })),
    prompts: questions,
    paused: Object.entries(session.agents).filter(([, agent]) => agent.paused).map(([instance]) => instance),
    version,
    newer: native.extension !== '' && newer(native.extension, version) ? native.extension : null,
    errors: session.errors,
    current: current && {...current, sharable: unsharable(current.url, current.tab) ?? true},
  };
}

/** Replacing a pairing ends what rested on the old one. @param {Promise<string>} pairing @param {() => Promise<void>} [then] */
async function paired(pairing, then) {
  const profile = await pairing;
  await unlinkAll();
  if (then) unattended(then());
  return {profile};
}

/** @param {number} tab */
function owned(tab) {
  const lease = leaseOf(tab);
  if (!lease) throw new Fault('not_leased', 'this tab is not shared');
  return lease;
}

/** @param {string} a @param {string} b */
const newer = (a, b) => a.localeCompare(b, 'en', {numeric: true}) > 0;

