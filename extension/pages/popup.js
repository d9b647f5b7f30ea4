/**
 * The popup: pairing, the agents that wait or hold a tab, open questions, and the ways to stop them. It holds no state of
 * its own: each change of the worker's status fills the same rows again.
 *
 * @import {Agent, Lease, Question, Status} from './view.js'
 */
import {agents, leaseAccess, leaseState, nativeTrouble, popupState, question, shareWith, siteOf, summary} from './view.js';
import {ask, button, byId, complain, find, page, press, put, rows, say, state, text, watch, when} from './ui.js';

const problem = byId('problem');

const AGENTS_MS = 2000;

/** Asks the worker to do something and shows why it did not. @param {() => Promise<unknown>} act */
async function attempt(act) {
  complain(problem, null);
  try {
    await act();
  } catch (error) {
    complain(problem, error);
    problem.scrollIntoView({block: 'nearest'});
  }
}

/** Makes a button tell the worker something. @param {HTMLButtonElement} pressed @param {string} type @param {Record<string, unknown>} [values] */
const tell = (pressed, type, values) => press(pressed, () => attempt(() => ask(type, values)));

/** Opens one of our pages in a tab of its own. @param {string} path @param {Record<string, string>} values */
const open = (path, values) => chrome.tabs.create({url: chrome.runtime.getURL(`pages/${path}?${new URLSearchParams(values)}`)});

/** @param {Status} status */
function show(status) {
  state(popupState(status));
  say(byId('summary'), summary(status));
  showNative(status);
  byId('questions').hidden = status.prompts.length === 0;
  rows(byId('question-list'), 'question', status.prompts, ({instance, id}) => `${instance} ${id}`, showQuestion);
  const all = agents(status);
  byId('nobody').hidden = all.length > 0;
  rows(byId('agent-list'), 'agent', all, ({key}) => key, showAgent);
  showShare(status);
  button(document, 'stop-all').hidden = status.leases.length === 0;
  byId('newer').hidden = !status.newer;
  byId('newer-ends').hidden = status.leases.length === 0;
  if (status.newer) say(byId('newer-note'), ['newer_note', status.newer]);
}

/** @param {Status} status */
function showNative(status) {
  const trouble = nativeTrouble(status);
  byId('native').hidden = !trouble;
  if (!trouble) return;
  say(byId('native-heading'), [`native_${trouble}_heading`]);
  say(byId('native-advice'), [`native_${trouble}_advice`]);
}

/** @param {HTMLElement} row @param {Question} prompt @param {boolean} fresh */
function showQuestion(row, prompt, fresh) {
  const {heading} = question(prompt);
  say(find(row, '.what', HTMLElement), heading);
  name(button(row, 'answer'), 'answer', text(heading));
  if (fresh) press(button(row, 'answer'), () => open('prompt.html', {instance: prompt.instance, id: prompt.id}));
}

/** @param {HTMLElement} row @param {Agent} agent @param {boolean} fresh */
function showAgent(row, agent, fresh) {
  const pause = button(row, 'pause');
  const approve = button(row, 'approve');
  if (fresh) {
    press(approve, () => open('approve.html', {instance: agent.key}));
    press(pause, () => attempt(() => ask('agent.pause', {instance: agent.key, paused: pause.dataset.paused !== 'true'})));
  }
  put(find(row, '.name', HTMLElement), agent.name);
  const note = find(row, '.note', HTMLElement);
  note.hidden = !agent.note && !agent.started;
  if (agent.started) say(note, ['agent_started', when(agent.started), agent.note ? text(agent.note) : '']);
  else if (agent.note) say(note, agent.note);
  approve.hidden = !agent.waiting;
  name(approve, 'approve_open', agent.name);
  pause.hidden = agent.leases.length === 0 && !agent.paused;
  pause.dataset.paused = String(agent.paused);
  name(pause, agent.paused ? 'resume' : 'pause', agent.name);
  rows(find(row, '.leases', HTMLElement), 'lease', agent.leases, ({tab}) => tab, (part, lease, isFresh) => showLease(part, lease, agent, isFresh));
}

/** Gives a button its word, and what it is about to those who hear it alone. @param {HTMLElement} element @param {string} key @param {string} about */
function name(element, key, about) {
  element.textContent = text([key]);
  element.ariaLabel = text(['about', text([key]), about]);
}

/** @param {HTMLElement} row @param {Lease} lease @param {Agent} agent @param {boolean} fresh */
function showLease(row, lease, agent, fresh) {
  const part = (/** @type {string} */ name) => find(row, `.${name}`, HTMLElement);
  const {tab} = lease;
  if (fresh) {
    row.dataset.tab = String(tab);
    tell(button(row, 'takeover'), 'lease.takeover', {tab, private: false});
    tell(button(row, 'private'), 'lease.takeover', {tab, private: true});
    tell(button(row, 'handback'), 'lease.handback', {tab});
    tell(button(row, 'stop'), 'lease.stop', {tab});
  }
  const now = leaseState(lease, agent.paused);
  row.dataset.lease = now;
  put(part('title'), lease.title || siteOf(lease.url));
  say(part('state'), [`lease_${now}`]);
  put(part('site'), lease.title ? siteOf(lease.url) : '');
  say(part('access'), leaseAccess(lease, Date.now(), when));
  say(part('span'), lease.until ? ['lease_until', when(lease.since), when(lease.until)] : ['lease_since', when(lease.since)]);
  const extra = [...(lease.opened ? ['lease_opened'] : []), ...(lease.sealed ? ['lease_sealed'] : [])].map((key) => text([key]));
  part('extra').hidden = extra.length === 0;
  part('extra').textContent = extra.join(' ');
  part('grants').hidden = lease.grants.length === 0;
  rows(find(row, '.grants ul', HTMLElement), 'grant', lease.grants, (grant) => grant, (item, grant) => {
    put(find(item, 'bdi', HTMLElement), grant);
  });
  for (const [act, key] of Object.entries({handback: 'hand_back', takeover: 'take_over', private: 'take_over_private', stop: 'stop_sharing'})) {
    name(button(row, act), key, lease.title || siteOf(lease.url));
  }
  button(row, 'handback').hidden = !lease.driving;
  button(row, 'takeover').hidden = lease.starting || (lease.driving && !lease.private);
  button(row, 'private').hidden = lease.starting || (lease.driving && lease.private);
  const focused = row.querySelector(':focus');
  if (focused instanceof HTMLElement && focused.hidden) find(row, '.actions > :not([hidden])', HTMLElement).focus();
}

/** @param {Status} status */
function showShare(status) {
  const {current} = status;
  const withWhom = shareWith(status);
  const leased = status.leases.some((lease) => lease.tab === current?.tab);
  byId('share').hidden = !current || leased || (current.sharable === true && withWhom.length === 0);
  if (!current) return;
  put(byId('share-title'), current.title || siteOf(current.url));
  put(byId('share-site'), current.title ? siteOf(current.url) : '');
  say(byId('share-note'), current.sharable === true ? ['share_gives'] : ['share_refused', current.sharable]);
  rows(byId('share-list'), 'share-button', withWhom, ({key}) => `${key} ${current.tab} ${current.url}`, (row, agent, fresh) => {
    say(row, agent.started ? ['share_with_started', agent.name, when(agent.started)] : ['share_with', agent.name]);
    if (fresh) tell(/** @type {HTMLButtonElement} */ (row), 'lease.share', {instance: agent.key, tab: current.tab, url: current.url});
  });
}

page('product', async () => {
  const on = (/** @type {string} */ act) => button(document, act);
  tell(on('pair'), 'pair.start');
  tell(on('renew'), 'pair.renew');
  tell(on('stop-all'), 'lease.stop_all');
  tell(on('reload'), 'extension.reload');
  press(on('options'), () => chrome.runtime.openOptionsPage());
  byId('code-form').addEventListener('submit', (event) => {
    event.preventDefault();
    const field = /** @type {HTMLInputElement} */ (byId('code'));
    attempt(async () => {
      await ask('pair.manual', {code: field.value.trim()});
      field.value = '';
    });
  });
  await watch(show, AGENTS_MS);
});
