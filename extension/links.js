/**
 * The links to the hosts that need one, several at once: a host is linked while an approval or a lease wants it, and not
 * otherwise. Ports come from the native host's list; where Chrome may start no program, from a link the owner opened, and
 * the proof covers it either way.
 *
 * @import {HostInfo} from '../protocol/protocol.js'
 */
import * as drive from './drive.js';
import {Fault, report, unattended} from './errors.js';
import {nameAgent} from './groups.js';
import * as guard from './guard.js';
import * as leasing from './leases.js';
import {Link} from './link.js';
import {hosts, native, proved, renewNeeded} from './pairing.js';
import * as prompts from './prompts.js';
import {RECONNECT_MAX_MS, RECONNECT_MIN_MS} from './protocol.js';
import {heads, keepRows, showHeads} from './record.js';
import {holdBack, send} from './relay.js';
import {changed, leaseOf, leases, leasesOf, save, session} from './state.js';

/** A host that cannot be looked up is given up after so many attempts. */
const BLIND_TRIES = 8;
const LINGER_MS = 1000;

/** @type {Map<string, Link>} open links by instance */
const links = new Map();
/** @type {Map<string, Promise<Link>>} */
const opening = new Map();
/** @type {Map<string, {delay: number, tries: number, timer: ReturnType<typeof setTimeout>}>} */
const retries = new Map();

/** @type {ReturnType<typeof setTimeout> | undefined} */
let closing;

/** @param {string} instance */
export const isLinked = (instance) => links.has(instance);

/** Tells a host something, if it is there. @param {string} instance @param {string} method @param {object} params */
export const tell = (instance, method, params) => links.get(instance)?.note(method, params);

/**
 * The link to a host, opened if need be.
 *
 * @param {string} instance '' for whoever answers at the port
 * @param {number} [port] only when the native host cannot be asked
 */
export async function linked(instance, port) {
  const open = links.get(instance);
  if (open) return open;
  const key = instance || `:${port}`;
  const attempt = opening.get(key) ?? connect(instance, port).finally(() => opening.delete(key));
  opening.set(key, attempt);
  return attempt;
}

/** @param {string} instance @param {number} [given] */
async function connect(instance, given) {
  const isIt = (/** @type {import('./pairing.js').Host} */ host) => host.instance === instance;
  const listed = (await hosts()).find(isIt) ?? (await hosts(true)).find(isIt); // each list is a process of its own
  const port = listed?.port ?? (native.state === 'ok' ? undefined : given ?? session.agents[instance]?.port);
  if (port === undefined) throw new Fault('unavailable', 'this agent is not running any more');
  const tabs = await Promise.all(leasesOf(instance).map(leasing.leased));
  const link = new Link(port, instance, {call, note, closed});
  await link.proved.catch((error) => {
    if (listed && error instanceof Fault && error.code === 'auth_failed') renewNeeded();
    throw error;
  });
  proved();
  links.set(link.instance, link);
  nameAgent(link.instance, /** @type {HostInfo} */ (link.host).name, port);
  const mine = leasesOf(link.instance).filter(({tab, stage}) => stage === 'lost' && tabs.some((known) => known.tab === tab));
  for (const lease of mine) {
    lease.stage = 'offered';
    holdBack(lease);
  }
  const held = mine.flatMap((lease) => tabs.filter(({tab}) => tab === lease.tab).map((facts) => ({...facts, sessions: leasing.children(lease)})));
  const {keep} = await link.call('lease.reconcile', {tabs: held});
  for (const lease of mine) {
    if (leaseOf(lease.tab) !== lease) link.note('lease.ended', {tab: lease.tab, reason: 'stopped'}); // meanwhile
    else if (keep.includes(lease.tab)) leasing.settle(lease);
    else unattended(leasing.end(lease, 'reconciled', {silent: true}));
  }
  link.note('audit.mirror', {heads: heads()});
  forgetRetry(link.instance);
  changed();
  return link;
}

/** A link has ended: what it guarded fails at once. @param {Link} link @param {string} code */
function closed(link, code) {
  const {instance} = link;
  if (links.get(instance) !== link) return;
  links.delete(instance);
  for (const lease of leasesOf(instance)) {
    if (lease.lease !== '' && lease.stage !== 'attaching') lease.stage = 'lost'; // one that is just being offered fails by itself
    unattended(guard.failAll(lease));
  }
  save('leases');
  changed();
  if (code === 'rotated' || code === 'auth_failed') {
    renewNeeded();
    unattended(leasing.endAll('forgotten', (lease) => lease.instance === instance));
  } else if (code !== 'transport_lost' && code !== 'shutting_down') report(new Fault(code, 'a host closed the link'));
  review();
}

/** Whether anything needs this host. @param {string} instance */
const wanted = (instance) => leasesOf(instance).length > 0 || Object.values(session.approvals).some((opened) => opened.instance === instance);

/** Opens what is missing, and closes what nothing needs any more, a moment later: an answer may still be on its way. */
export function review() {
  clearTimeout(closing);
  closing = setTimeout(() => {
    for (const [instance, link] of links) {
      if (wanted(instance)) continue;
      showHeads(instance);
      link.close();
    }
  }, LINGER_MS);
  for (const instance of new Set(leases().map((lease) => lease.instance))) {
    if (!links.has(instance) && !opening.has(instance) && !retries.has(instance)) retry(instance, 0, 0);
  }
}

/** Makes the link anew, so that the host looks at its tabs afresh. @param {string} instance */
export function relink(instance) {
  if (links.has(instance)) links.get(instance)?.close();
  else review();
}

/** @param {string} instance @param {number} delay @param {number} tries */
function retry(instance, delay, tries) {
  const timer = setTimeout(async () => {
    try {
      if (tries > 0) await hosts(true);
      if (wanted(instance)) await linked(instance);
      forgetRetry(instance);
    } catch (error) {
      const gone = native.state === 'ok' ? !native.hosts.some((host) => host.instance === instance) : tries >= BLIND_TRIES;
      if (gone) lost(instance);
      else retry(instance, Math.min(Math.max(delay * 2, RECONNECT_MIN_MS), RECONNECT_MAX_MS), tries + 1);
    }
  }, delay * (0.5 + Math.random() / 2));
  retries.set(instance, {delay, tries, timer});
}

/** @param {string} instance */
function forgetRetry(instance) {
  clearTimeout(retries.get(instance)?.timer);
  retries.delete(instance);
}

/** The host is gone for good. @param {string} instance */
function lost(instance) {
  forgetRetry(instance);
  unattended(leasing.endAll('link_lost', (lease) => lease.instance === instance));
  prompts.dropPrompts((prompt) => prompt.instance === instance);
  delete session.agents[instance];
  for (const [tab, opened] of Object.entries(session.approvals)) if (opened.instance === instance) delete session.approvals[tab];
  save('agents', 'approvals');
  changed();
}

/** Proves a pairing by code to whichever host runs: the code is good for two minutes only. */
export async function greet() {
  for (const {instance} of await hosts(true)) if (await linked(instance).then(() => true, () => false)) break;
  review();
}

/** The pairing is gone: so is everything that rests on it. */
export async function unlinkAll() {
  await leasing.endAll('forgotten');
  session.approvals = {};
  save('approvals');
  review();
}

/** @param {Link} link @param {string} method @param {any} params @returns {Promise<object>} */
async function call({instance}, method, params) {
  switch (method) {
    case 'cdp.send': return send(instance, params);
    case 'tab.open': return leasing.open(instance, params);
    case 'tab.close': return leasing.close(instance, params.tab);
    case 'lease.end': return leasing.endForHost(instance, params.tab, params.close);
    default: throw new Fault('unknown_method', method);
  }
}

/** @param {Link} link @param {string} method @param {any} params */
function note({instance}, method, params) {
  switch (method) {
    case 'verdict': return guard.verdict(instance, params);
    case 'lease.update': return leasing.update(instance, params);
    case 'prompt.show': return prompts.show(instance, params);
    case 'prompt.withdraw': return prompts.withdraw(instance, params.id);
    case 'agent.paused': return drive.paused(instance, params);
    case 'audit.rows': return keepRows(instance, params);
    default: return undefined;
  }
}

/** A loopback address, in any spelling, at the port of a host that is known. @param {URL} url */
export function isHostPort({hostname, port}) {
  const ports = [...native.hosts.map((host) => host.port), ...[...links.values()].map((link) => link.port)];
  return /^127\.|^0\.0\.0\.0$|(^|\.)localhost\.?$|^\[::(1|ffff:7f.*|)\]$/.test(hostname) && ports.includes(Number(port));
}
