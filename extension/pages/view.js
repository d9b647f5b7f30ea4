/**
 * What the pages show, computed from what the worker says: pure functions, no DOM, no chrome, no text. A sentence is a
 * key of the message catalogue with its values ({@link Said}); the pages put the words in.
 *
 * @import {Access, Prompt, PromptChoice} from '../../protocol/protocol.js'
 */

/** @typedef {[key: string, ...values: (string | number)[]]} Said one sentence of the catalogue */
/** @typedef {{code: string, message: string, hint?: string}} Problem */

/**
 * The worker's answer to status.get. Times are milliseconds since the epoch; `until` 0 or null means until stopped.
 *
 * @typedef {{instance: string, name: string, pid: number, started: number, state: 'waiting' | 'connected', linked: boolean}} Host
 * @typedef {{tab: number, title: string, url: string, client: string, instance: string, starting: boolean, driving: boolean,
 *   private: boolean, frozen: boolean, asking: boolean, since: number, until: number | null, access: Access,
 *   sealed: boolean, opened: boolean, grants: string[]}} Lease
 * @typedef {Prompt & {client: string, instance: string, asked: number}} Question
 * @typedef {{time: number, code: string, message: string}} LoggedError
 * @typedef {{tab: number, title: string, url: string, sharable: true | string}} CurrentTab
 * @typedef {{paired: {profile: string, label: string} | null, pairing: 'none' | 'paired' | 'renew_needed',
 *   native: 'ok' | 'missing' | 'forbidden' | 'unknown', hosts: Host[], leases: Lease[], prompts: Question[],
 *   paused: string[], version: string, newer: string | null, errors: LoggedError[], current: CurrentTab | null}} Status
 */

/**
 * One tab of approval.tabs.
 *
 * @typedef {{tab: number, title: string, url: string, pinned: boolean, active: boolean, window: number,
 *   refused: string | null}} TabChoice
 */

/**
 * The popup as a whole.
 *
 * @param {Status} status
 * @returns {'unpaired' | 'renew' | 'ready'}
 */
export function popupState({pairing}) {
  if (pairing === 'renew_needed') return 'renew';
  return pairing === 'paired' ? 'ready' : 'unpaired';
}

/**
 * What is wrong with the program on this computer that Chrome starts, or null.
 *
 * @param {Status} status
 * @returns {'missing' | 'forbidden' | null}
 */
export function nativeTrouble({native}) {
  return native === 'missing' || native === 'forbidden' ? native : null;
}

/**
 * The line under the popup's heading.
 *
 * @param {Status} status
 * @returns {Said}
 */
export function summary({leases, pairing}) {
  if (pairing !== 'paired') return [pairing === 'renew_needed' ? 'summary_renew' : 'summary_unpaired'];
  return leases.length === 0 ? ['summary_none'] : counted('summary', leases.length);
}

/**
 * A sentence with a number in it; the catalogue has one for 1 and one for the rest.
 *
 * @param {string} key
 * @param {number} n
 * @returns {Said}
 */
export function counted(key, n) {
  return n === 1 ? [`${key}_one`] : [`${key}_many`, n];
}

/**
 * @typedef {{key: string, name: string, started: number | null, waiting: boolean, paused: boolean, note: Said | null,
 *   leases: Lease[]}} Agent
 */

/**
 * Every agent the owner can do something about, those that wait first. An agent whose program has gone from the list but
 * still holds a tab is kept: its tabs must stay in the owner's sight. `started` is set where two agents share a name.
 *
 * @param {Status} status
 * @returns {Agent[]}
 */
export function agents({hosts, leases, paused}) {
  const names = new Map(leases.map((lease) => [lease.instance, lease.client]));
  for (const host of hosts) names.set(host.instance, host.name);
  /** @type {Agent[]} */
  const all = [];
  for (const [instance, name] of names) {
    const host = hosts.find((h) => h.instance === instance);
    const own = leases.filter((lease) => lease.instance === instance);
    const twins = [...names.values()].filter((other) => other === name).length > 1;
    all.push({
      key: instance,
      name,
      started: twins && host ? host.started : null,
      waiting: host?.state === 'waiting',
      paused: paused.includes(instance),
      note: agentNote(host, own, paused.includes(instance)),
      leases: own,
    });
  }
  return all.sort((a, b) => Number(b.waiting) - Number(a.waiting) || Number(b.leases.length > 0) - Number(a.leases.length > 0));
}

/**
 * @param {Host | undefined} host
 * @param {Lease[]} leases
 * @param {boolean} paused
 * @returns {Said | null}
 */
function agentNote(host, leases, paused) {
  if (paused) return ['agent_paused'];
  if (host?.state === 'waiting') return ['agent_waits'];
  if (!host || (!host.linked && leases.length > 0)) return ['agent_reconnecting'];
  if (!host.linked) return ['agent_elsewhere'];
  return leases.length === 0 ? ['agent_idle'] : null;
}

/** @typedef {'starting' | 'frozen' | 'private' | 'driving' | 'asking' | 'paused' | 'shared'} LeaseState */

/**
 * Who has the tab now. The first that holds wins: what needs the owner comes before what they chose.
 *
 * @param {Lease} lease
 * @param {boolean} paused
 * @returns {LeaseState}
 */
export function leaseState(lease, paused) {
  if (lease.starting) return 'starting';
  if (lease.frozen) return 'frozen';
  if (lease.driving) return lease.private ? 'private' : 'driving';
  if (lease.asking) return 'asking';
  return paused ? 'paused' : 'shared';
}

/**
 * What the agent may do on the site that was shared. Which site that is the grants say: the tab may be elsewhere by now.
 *
 * @param {Lease} lease
 * @param {number} now
 * @param {(ms: number) => string} when spells a time
 * @returns {Said}
 */
export function leaseAccess({access, since}, now, when) {
  if (access === 'read') return ['lease_access_read'];
  const end = since + SUBMIT_MS;
  return access === 'submit' && now < end ? ['lease_access_submit', when(end)] : ['lease_access_act'];
}
const SUBMIT_MS = 600_000;

/**
 * The agents that the tab in front can be shared with.
 *
 * @param {Status} status
 * @returns {Agent[]}
 */
export function shareWith(status) {
  const {current, hosts} = status;
  if (!current || current.sharable !== true) return [];
  const reachable = new Set(hosts.filter((host) => host.linked || host.state === 'waiting').map((host) => host.instance));
  return agents(status).filter((agent) => reachable.has(agent.key));
}

/**
 * The tabs of the approval page: what fits the filter, those of the asked site first, those Chrome refuses last. The
 * chosen one always stays in sight.
 *
 * @param {TabChoice[]} tabs
 * @param {{filter?: string, asked?: string, chosen?: number | null}} how
 * @returns {TabChoice[]}
 */
export function tabChoices(tabs, {filter = '', asked = '', chosen = null} = {}) {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (/** @type {TabChoice} */ {tab, title, url}) => tab === chosen || words.every((word) => `${title}\n${url}`.toLowerCase().includes(word));
  const askedOrigin = originOf(asked);
  const rank = (/** @type {TabChoice} */ {url, refused}) => (refused ? 2 : askedOrigin !== '' && originOf(url) === askedOrigin ? 0 : 1);
  return tabs.filter(fits).sort((a, b) => rank(a) - rank(b));
}

/**
 * The access that is chosen at first: never more than what the agent asked for, never sending.
 *
 * @param {Access} asked
 * @returns {Access}
 */
export function firstAccess(asked) {
  return asked === 'read' ? 'read' : 'act';
}

/** @typedef {{label: string, value?: string, said?: Said, list?: string[]}} Fact one row of a prompt */

/**
 * A question as the prompt page shows it. Every value is the host's text; the page isolates it.
 *
 * @param {Question} prompt
 * @returns {{heading: Said, facts: Fact[], note: Said, choices: PromptChoice[], terms: Said[]}}
 */
export function question(prompt) {
  const {client, kind, site, destination, method, control, fields, announced, choices} = prompt;
  const [at, to] = [siteOf(site), siteOf(destination)];
  const leaves = kind === 'navigate' || kind === 'popup';
  /** @type {Fact[]} */
  const facts = [{label: leaves ? 'prompt_from' : 'prompt_site', value: at}];
  if (control) facts.push({label: 'prompt_control', value: control});
  if (method) facts.push({label: 'prompt_method', said: methodSaid(method)});
  if (to && to !== at) facts.push({label: 'prompt_destination', value: to});
  if (fields.length > 0) facts.push({label: kind === 'upload' ? 'prompt_files' : 'prompt_fields', list: fields});
  return {
    heading: [`prompt_heading_${kind}`, client, leaves ? to || at : at],
    facts,
    note: [announced ? 'prompt_announced' : 'prompt_surprise', client],
    choices: choices.filter((choice) => CHOICES.includes(choice)),
    terms: choices.filter((choice) => LASTING.includes(choice)).map((choice) => [`choice_${choice}_means`, leaves ? to || at : at]),
  };
}

/** @type {PromptChoice[]} */
const CHOICES = ['once', 'ten_minutes', 'while_shared', 'no'];
/** Those that allow more than the one thing asked. @type {PromptChoice[]} */
const LASTING = ['ten_minutes', 'while_shared'];

/**
 * What an HTTP method does, in plain words.
 *
 * @param {string} method
 * @returns {Said}
 */
export function methodSaid(method) {
  const name = method.toUpperCase();
  return ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].includes(name) ? [`method_${name}`] : ['method_other', name];
}

/**
 * Milliseconds until a question counts as a no; 0 when it does already.
 *
 * @param {Question} prompt
 * @param {number} now
 * @returns {number}
 */
export function timeLeft({asked, expires_ms}, now) {
  return Math.max(0, asked + expires_ms - now);
}

/**
 * A span as minutes and seconds, `4:05`.
 *
 * @param {number} ms
 * @returns {string}
 */
export function clock(ms) {
  const seconds = Math.ceil(ms / 1000);
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`;
}

/**
 * Text of a stranger without what hides or reorders: control characters, invisible marks, and the marks that turn a line
 * around, with which a name could spell another one.
 *
 * @param {string} value
 */
export const plain = (value) => value.replace(/\p{Cf}+/gu, '').replace(/[\p{Cc}\p{Zl}\p{Zp}]+/gu, ' ').trim();

/**
 * An address as a person names its site: the host, with scheme and port only where they are not the usual ones.
 *
 * @param {string} url
 * @returns {string}
 */
export function siteOf(url) {
  if (!URL.canParse(url)) return url;
  const {protocol, host, origin} = new URL(url);
  if (protocol === 'https:') return host;
  return origin === 'null' ? url : origin;
}

/**
 * The origin of an address, "" if it has none.
 *
 * @param {string} url
 * @returns {string}
 */
export function originOf(url) {
  if (!URL.canParse(url)) return '';
  const {origin} = new URL(url);
  return origin === 'null' ? '' : origin;
}

/**
 * Whether an exact address is narrower than its site: a site has other addresses only under https and a domain name.
 *
 * @param {string} url
 * @returns {boolean}
 */
export function exactMatters(url) {
  if (!URL.canParse(url)) return false;
  const {protocol, hostname} = new URL(url);
  return protocol === 'https:' && hostname.includes('.') && !/^[\d.]+$/.test(hostname) && !hostname.endsWith('.localhost');
}

/** Codes with a sentence of their own in the catalogue; a test holds the two together. */
export const KNOWN_PROBLEMS = [
  'not_paired', 'pairing_closed', 'pairing_code', 'pairing_perms', 'rotated', 'auth_failed', 'version_unsupported',
  'approval_refused', 'approval_expired', 'approval_used', 'approval_unknown', 'attach_refused', 'not_leased',
  'session_not_found', 'page_closed', 'unavailable', 'not_connected', 'invalid_transition', 'silent', 'transport_lost', 'timeout', 'not_permitted', 'shutting_down',
  'native_missing', 'native_forbidden', 'scheme_refused',
];

/**
 * What went wrong, for the owner. An unknown code keeps the worker's own words.
 *
 * @param {Problem} problem
 * @returns {Said}
 */
export function problemSaid({code, message}) {
  if (code === 'attach_refused') return ['problem_attach_refused', message];
  if (KNOWN_PROBLEMS.includes(code)) return [`problem_${code}`];
  if (code.startsWith('pairing_')) return ['problem_pairing_file', message];
  return ['problem_other', message || code];
}
