/**
 * What the owner sees of a lease in the window: the agent's tab group, and the badge. Grouping is for eyes only and never
 * evidence of a lease; leaving the group by the owner's hand ends one.
 *
 * @import {Agent, Lease} from './state.js'
 */
import {quietly, unattended} from './errors.js';
import {end} from './leases.js';
import {askToShare} from './prompts.js';
import {leaseOf, leases, leasesOf, save, session} from './state.js';

const NONE = -1; // chrome.tabGroups.TAB_GROUP_ID_NONE
const GRACE_MS = 500;
const TITLE = 'Tab Valet · ';
const ENDED = ' (ended)';
const COLORS = /** @type {const} */ (['blue', 'green', 'purple', 'orange', 'cyan', 'pink', 'yellow', 'red']);
const BADGES = {on: ['ON', '#1a6b3c'], asks: ['?', '#b3541e'], drives: ['‖', '#45526b']};

/** Tabs of the last moments, which Chrome itself may have put into their parent's group. @type {Set<number>} */
const born = new Set();

/**
 * A name, a number among those of the same name, and a colour of its own for as long as the host runs.
 *
 * @param {string} instance
 * @param {string} name
 * @param {number} port
 */
export function nameAgent(instance, name, port) {
  const others = Object.entries(session.agents).filter(([key]) => key !== instance).map(([, agent]) => agent);
  const taken = new Set(others.filter((agent) => agent.name === name).map((agent) => agent.number));
  let number = 1;
  while (taken.has(number)) number++;
  const color = COLORS.find((free) => !others.some((agent) => agent.color === free)) ?? 'grey';
  const known = session.agents[instance];
  session.agents[instance] = known?.name === name ? {...known, port} : {name, number, color, port, paused: known?.paused ?? false};
  save('agents');
}

/** @param {Agent | undefined} agent */
const titleOf = (agent) => TITLE + (agent?.name ?? '') + (agent && agent.number > 1 ? ` ${agent.number}` : '');

/**
 * Puts a tab that was just lent into its agent's group of that window. A pinned tab stays where it is.
 *
 * @param {Lease} lease
 */
export async function group(lease) {
  const {tab: tabId, instance} = lease;
  const tab = await chrome.tabs.get(tabId);
  if (tab.pinned) return;
  if (lease.former === NONE && !lease.opened) lease.former = tab.groupId;
  /** @type {number | undefined} */
  let groupId;
  for (const {group: candidate} of leasesOf(instance)) {
    if (candidate === NONE || groupId !== undefined) continue;
    const found = await chrome.tabGroups.get(candidate).catch(() => undefined);
    if (found?.windowId === tab.windowId) groupId = candidate;
  }
  const made = await whenStill(() => chrome.tabs.group({tabIds: [tabId], ...(groupId === undefined ? {createProperties: {windowId: tab.windowId}} : {groupId})}));
  lease.group = made;
  if (leaseOf(tabId) !== lease) return void await ungroup(lease); // it ended meanwhile
  save('leases');
  const agent = session.agents[instance];
  await chrome.tabGroups.update(made, {title: titleOf(agent), color: agent?.color});
}

/** Gives the tab of an ended lease back its place: nothing is collapsed under the owner's eyes. @param {Lease} lease */
export async function ungroup({tab: tabId, instance, group: was, former, opened}) {
  const tab = await chrome.tabs.get(tabId).catch(() => undefined);
  if (!tab || was === NONE || tab.groupId !== was) return; // gone, or the owner has moved it
  const back = former === NONE ? undefined : await chrome.tabGroups.get(former).catch(() => undefined);
  if (back?.windowId === tab.windowId) await whenStill(() => chrome.tabs.group({tabIds: [tabId], groupId: former}));
  else if (!opened || tab.active) await whenStill(() => chrome.tabs.ungroup(tabId));
  else await retire(tabId, tab.windowId, titleOf(session.agents[instance]) + ENDED);
}

/** What the agent opened and nobody looks at is put away, together. @param {number} tabId @param {number} windowId @param {string} title */
async function retire(tabId, windowId, title) {
  const [ended] = await chrome.tabGroups.query({windowId, title});
  const groupId = await whenStill(() => chrome.tabs.group({tabIds: [tabId], ...(ended ? {groupId: ended.id} : {createProperties: {windowId}})}));
  await chrome.tabGroups.update(groupId, {title, color: 'grey', collapsed: true});
}

/** Groups that a browser session left behind stand for nothing, and say so. */
export async function retitleLeftovers() {
  for (const {id, title} of await chrome.tabGroups.query({})) {
    if (title?.startsWith(TITLE) && !title.endsWith(ENDED)) quietly(chrome.tabGroups.update(id, {title: title + ENDED, color: 'grey'}));
  }
}

/** chrome.tabs.onCreated. @param {chrome.tabs.Tab} tab */
export function onCreated({id, groupId}) {
  if (id === undefined) return;
  born.add(id);
  setTimeout(() => born.delete(id), 2000);
  if (agentOf(groupId) && !leaseOf(id)) unattended(leaveAlone(id));
}

/**
 * chrome.tabs.onUpdated: out of the group, and not back soon, ends the lease; into it raises the question.
 *
 * @param {number} tabId
 * @param {{groupId?: number}} change
 */
export function onUpdated(tabId, {groupId}) {
  if (groupId === undefined || (!leaseOf(tabId) && !agentOf(groupId))) return;
  setTimeout(() => unattended(moved(tabId)), GRACE_MS);
}

/** Where a tab stands now, after it has moved. @param {number} tabId */
export async function moved(tabId) {
  const lease = leaseOf(tabId);
  const tab = await chrome.tabs.get(tabId).catch(() => undefined);
  if (!tab || (lease && lease !== leaseOf(tabId))) return;
  if (!lease) {
    const instance = agentOf(tab.groupId);
    if (!instance) return;
    const bornThere = born.has(tabId);
    await leaveAlone(tabId);
    if (!bornThere) askToShare(instance, tabId);
  } else if (tab.groupId !== lease.group && lease.group !== NONE) {
    if (tab.pinned) {
      lease.group = NONE;
      save('leases');
    } else await end(lease, 'dragged_out');
  }
}

/** A tab that is not lent must not look as if it were. @param {number} tabId */
async function leaveAlone(tabId) {
  await whenStill(async () => {
    const {groupId} = await chrome.tabs.get(tabId);
    if (agentOf(groupId) && !leaseOf(tabId)) await chrome.tabs.ungroup(tabId);
  });
}

/** The agent whose group that is. @param {number} groupId */
const agentOf = (groupId) => (groupId === NONE ? undefined : leases().find(({group: own}) => own === groupId)?.instance);

/**
 * Chrome edits no tabs while the owner drags one.
 *
 * @template T
 * @param {() => Promise<T>} edit
 */
async function whenStill(edit) {
  for (let tries = 0; ; tries++) {
    try {
      return await edit();
    } catch (error) {
      if (tries === 20 || !/dragging|cannot be edited/i.test(String(error))) throw error;
      await new Promise((done) => setTimeout(done, 250));
    }
  }
}

/** Chrome drops it with each document. @param {Lease} lease */
export function badge({tab: tabId, driving}) {
  const asks = Object.values(session.prompts).some(({tab}) => tab === tabId);
  const [text = '', color = ''] = asks ? BADGES.asks : driving ? BADGES.drives : BADGES.on;
  quietly(chrome.action.setBadgeText({tabId, text}));
  quietly(chrome.action.setBadgeBackgroundColor({tabId, color}));
}

/** @param {number} tabId */
export const badgeOff = (tabId) => quietly(chrome.action.setBadgeText({tabId, text: ''}));
