/**
 * The approval link: whoever opens it in this browser gets the extension's own page instead, and decides there. A tab that
 * is or was lent, and its popups, never becomes one: the agent could sit in it.
 */
import {mustBeAt} from './cdp.js';
import {Fault, unsharableFor} from './errors.js';
import {describe, share, unsharable} from './leases.js';
import {linked, review} from './links.js';
import {hosts, native} from './pairing.js';
import {save, session} from './state.js';

const LOAD_MS = 15_000;
const OPENING_MS = 10_000;

/** What the two listeners of webNavigation are for. */
export const FILTER = {url: [{hostEquals: '127.0.0.1', pathPrefix: '/approve/'}]};

/**
 * A tab opens an approval link, or has arrived at one by a redirect. In a lent tab the guard judges it, and if it arrives
 * there the lease ends (leases.js).
 *
 * @param {{tabId: number, frameId: number, url: string, documentLifecycle?: string}} details
 */
export async function onLink({tabId, frameId, url, documentLifecycle}) {
  const link = new URL(url);
  const [, token = ''] = /^\/approve\/([\w-]{43})$/.exec(link.pathname) ?? [];
  if (frameId !== 0 || documentLifecycle === 'prerender' || link.protocol !== 'http:' || !token) return;
  if (session.lent[tabId] || session.approvals[tabId]?.token === token) return;
  const port = Number(link.port);
  const host = (await hosts(true)).find((one) => one.port === port);
  if (!host && native.state === 'ok') return; // somebody else's page
  session.approvals[tabId] = {token, instance: host?.instance ?? '', port, opened: Date.now()};
  save('approvals');
  await chrome.tabs.update(tabId, {url: chrome.runtime.getURL('pages/approve.html')});
}

/**
 * What the page in this tab is to decide.
 *
 * @param {number | undefined} tab
 * @param {string} [instance] asked for from the popup, without a link
 */
export async function find(tab, instance) {
  const opened = instance !== undefined ? {token: '', instance, port: 0} : tab !== undefined ? session.approvals[tab] : undefined;
  if (!opened) throw new Fault('approval_unknown', 'no approval is waiting here');
  if (tab !== undefined) session.approvals[tab] = {...opened, opened: Date.now()};
  const link = await linked(opened.instance, opened.port || undefined);
  if (tab !== undefined) session.approvals[tab] = {...opened, instance: link.instance, opened: Date.now()};
  save('approvals');
  const approval = await link.call('approval.get', opened.token ? {token: opened.token} : {});
  return {approval, instance: link.instance};
}

/** The tabs the owner may choose from. */
export async function choices() {
  const [tabs, known] = await Promise.all([chrome.tabs.query({}), describe()]);
  return tabs.flatMap(({id: tab = -1, pinned, active, windowId: window}) => {
    const {url, title} = known.get(tab) ?? {};
    return url === undefined || isOwn(url) ? [] : [{tab, title, url, pinned, active, window, refused: unsharable(url, tab)}];
  });
}

/**
 * The owner shares a tab, or a new one at an address. Refused by Chrome, the approval stays open.
 *
 * @param {number | undefined} page tab of the approval page
 * @param {any} decision of approval.share
 */
export async function decideShare(page, {instance, id, tab, url, access, exact, until, sealed}) {
  const chosen = tab ?? await openFor(url);
  await share({instance, id, tab: chosen, seen: url, access, exact, until, sealed, opened: tab === null});
  closed(page);
  return {tab: chosen};
}

/** @param {number | undefined} page @param {string} instance @param {string} id */
export async function decideRefuse(page, instance, id) {
  await (await linked(instance)).call('approval.refuse', {id});
  closed(page);
  return {};
}

/**
 * A new tab in the background at an address that the owner chose, loaded as if they had typed it. It stays theirs when it
 * cannot be shared.
 *
 * @param {string} url
 */
async function openFor(url) {
  const why = unsharable(url);
  if (why !== null) throw new Fault('attach_refused', why);
  const {id: tabId = -1} = await chrome.tabs.create({url, active: false});
  for (const end = Date.now() + LOAD_MS; ;) {
    const frame = await chrome.webNavigation.getFrame({tabId, frameId: 0});
    if (frame?.errorOccurred || Date.now() > end) throw unsharableFor('unsharable_down');
    if (frame && /^https?:/.test(frame.url)) {
      mustBeAt(url, frame.url);
      return tabId;
    }
    await new Promise((done) => setTimeout(done, 50));
  }
}

/** An approval page is gone, decided or closed. @param {number | undefined} tab */
export function closed(tab) {
  if (tab === undefined || !session.approvals[tab]) return;
  delete session.approvals[tab];
  save('approvals');
  review();
}

/** Forgets approvals whose page the tab has left. */
export async function sweep() {
  const known = await describe();
  for (const [tab, {opened}] of Object.entries(session.approvals)) {
    if (Date.now() - opened > OPENING_MS && !isOwn(known.get(Number(tab))?.url ?? '')) closed(Number(tab));
  }
}

/** @param {string} url */
const isOwn = (url) => url.startsWith(chrome.runtime.getURL(''));

