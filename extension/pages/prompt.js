/**
 * One question to the owner, in a tab of its own: who asks, what exactly would happen, and the answers the host offers.
 * The page follows the worker's status: a question that is answered elsewhere, withdrawn or too old leaves it.
 *
 * @import {PromptChoice} from '../../protocol/protocol.js'
 * @import {Fact, Question, Status} from './view.js'
 */
import {clock, question, siteOf, timeLeft} from './view.js';
import {arm, ask, byId, complain, find, leave, page, press, put, rows, say, state, text, watch} from './ui.js';

const where = new URLSearchParams(location.search);
const choices = byId('choices');

/** @type {Question | undefined} */
let prompt;
let shown = '';

const guard = arm(
  () => [...choices.querySelectorAll('button')],
  () => document.body.dataset.state === 'ready',
);

/** @param {Status} status */
function show({prompts, leases}) {
  if (document.body.dataset.state === 'done' || document.body.dataset.state === 'busy') return;
  prompt = prompts.find(({id, instance}) => id === where.get('id') && instance === where.get('instance'));
  if (!prompt || timeLeft(prompt, Date.now()) === 0) return gone(prompt ? 'prompt_expired' : 'prompt_gone');
  const {heading, facts, note, choices: offered, terms} = question(prompt);
  say(byId('heading'), heading);
  document.title = text(heading);
  const {tab, kind, fields, announced} = prompt;
  const lease = leases.find((l) => l.tab === tab);
  byId('in-tab').hidden = !lease;
  if (lease) say(byId('in-tab'), ['prompt_in_tab', lease.title || siteOf(lease.url)]);
  rows(byId('facts'), 'fact', facts, ({label}) => label, showFact);
  byId('no-values').hidden = fields.length === 0 || kind === 'upload';
  say(byId('announced'), note);
  byId('announced').classList.toggle('notice', !announced);
  rows(choices, 'choice', offered, (choice) => choice, (row, choice, fresh) => {
    row.dataset.choice = choice;
    say(row, [`choice_${choice}`]);
    if (fresh) press(/** @type {HTMLButtonElement} */ (row), () => answer(choice));
  });
  rows(byId('terms'), 'term', terms, ([key]) => key, say);
  state('ready');
  tick();
  const now = JSON.stringify(prompt);
  if (now !== shown) guard.again();
  shown = now;
}

/** @param {HTMLElement} row @param {Fact} fact */
function showFact(row, {label, value, said, list}) {
  const single = find(row, 'dd > bdi', HTMLElement);
  const many = find(row, 'dd > ul', HTMLElement);
  say(find(row, 'dt', HTMLElement), [label]);
  if (said) say(single, said);
  else put(single, value ?? '');
  single.hidden = Boolean(list);
  many.hidden = !list;
  rows(many, 'item', list ?? [], (item) => item, (part, item) => {
    put(find(part, 'bdi', HTMLElement), item);
  });
}

/** @param {string} key */
function gone(key) {
  say(byId('gone'), [key]);
  state('error');
}

/** Counts down to the moment when no answer is a no. */
function tick() {
  if (!prompt || document.body.dataset.state !== 'ready') return;
  const left = timeLeft(prompt, Date.now());
  if (left === 0) return gone('prompt_expired');
  say(byId('expires'), ['prompt_expires', clock(left)]);
}

/** @param {PromptChoice} choice */
async function answer(choice) {
  if (!prompt) return;
  complain(byId('problem'), null);
  state('busy');
  guard.update();
  try {
    await ask('prompt.answer', {instance: prompt.instance, id: prompt.id, choice});
    say(byId('done'), [choice === 'no' ? 'prompt_done_no' : 'prompt_done_yes', prompt.client]);
    state('done');
    await leave();
  } catch (error) {
    state('ready');
    guard.again();
    show(await ask('status.get'));
    complain(byId('problem'), error);
  }
}

page('prompt_title', async () => {
  setInterval(tick, 1000);
  await watch(show);
});
