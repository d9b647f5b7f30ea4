/**
 * A new worker finds what the old one left: attachments survive it, and so do the requests that Chrome holds. First those
 * fail, then the hosts are linked again, and each says which of its leases stand.
 */
import * as approval from './approval.js';
import {quietly, unattended} from './errors.js';
import {look} from './front.js';
import {moved, retitleLeftovers} from './groups.js';
import {failAll} from './guard.js';
import {describe, end} from './leases.js';
import {review} from './links.js';
import {leases, save, session} from './state.js';

const STOP_MS = 500;

/** Once per worker, after the stored state is here. */
export async function reconcile() {
  if (!session.known) {
    session.known = true;
    save('known');
    quietly(retitleLeftovers());
  }
  await quietly(look());
  const found = Object.values(session.leases);
  if (found.length > 0) {
    const tabs = await describe();
    await Promise.all(found.map((lease) => resume(lease, tabs.get(lease.tab))));
    for (const {tab} of leases()) unattended(moved(tab)); // out of its group meanwhile
  }
  review();
}

/** @param {import('./state.js').Lease} lease @param {{attached: boolean} | undefined} target */
async function resume(lease, target) {
  const interrupted = lease.stage === 'attaching' || lease.stage === 'ended' || lease.lease === '';
  lease.stage = 'lost';
  if (!target) return end(lease, 'closed', {attached: false});
  if (!target.attached) return end(lease, 'canceled', {attached: false});
  const stopped = chrome.debugger.sendCommand({tabId: lease.tab}, 'Page.stopLoading');
  await Promise.race([Promise.all([failAll(lease), quietly(stopped)]), new Promise((late) => setTimeout(late, STOP_MS))]);
  return interrupted ? end(lease, 'reconciled') : undefined;
}

/** The alarm that wakes a dead worker, and looks after a living one. */
export async function tick() {
  review();
  if (Object.keys(session.approvals).length > 0) await approval.sweep();
}
