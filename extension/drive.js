/**
 * Who drives. From the owner's word on, acts stop at the relay at once, whatever the host does; only then it is told.
 *
 * @import {Lease} from './state.js'
 */
import {Fault, unattended} from './errors.js';
import {badge} from './groups.js';
import {failAll} from './guard.js';
import {tell} from './links.js';
import {save, session} from './state.js';

/** The owner drives: what is paused this instant may be the very form they mean to stop. @param {Lease} lease @param {boolean} inPrivate */
export function takeOver(lease, inPrivate) {
  unattended(failAll(lease));
  Object.assign(lease, {driving: true, private: inPrivate, touched: true});
  tell(lease.instance, 'takeover', {tab: lease.tab, private: inPrivate, implicit: false});
  shown(lease);
}

/** @param {Lease} lease */
export function handBack(lease) {
  if (!lease.driving) throw new Fault('invalid_transition', 'the owner is not driving');
  Object.assign(lease, {driving: false, private: false});
  tell(lease.instance, 'handback', {tab: lease.tab});
  shown(lease);
}

/** Throws why the agent may do nothing in this tab now. @param {Lease} lease */
export function mayAct(lease) {
  if (lease.private) throw new Fault('owner_private', 'the owner is driving in private');
  if (lease.driving) throw new Fault('owner_has_control', 'the owner is driving');
  if (session.agents[lease.instance]?.paused) throw new Fault('agent_paused', 'the owner paused this agent');
}

/** @param {string} instance @param {boolean} paused */
export function pause(instance, paused) {
  const agent = session.agents[instance];
  if (!agent) throw new Fault('not_connected', 'this agent is not linked');
  agent.paused = paused;
  save('agents');
  tell(instance, 'agent.paused', {paused});
}

/**
 * agent.paused of a host: it stops asking an owner who keeps saying no. Only the owner resumes.
 *
 * @param {string} instance
 * @param {{paused: boolean}} params
 */
export function paused(instance, params) {
  const agent = session.agents[instance];
  if (!agent || !params.paused) return;
  agent.paused = true;
  save('agents');
}

/** @param {Lease} lease */
function shown(lease) {
  save('leases');
  badge(lease);
}
