/**
 * Questions to the owner: kept until they are answered or withdrawn, and pointed out by badge and notification. Here
 * nothing is decided; an answer goes to the host that asked.
 *
 * @import {Prompt, PromptChoice} from '../protocol/protocol.js'
 * @import {Question} from './state.js'
 */
import {Fault, quietly} from './errors.js';
import {badge} from './groups.js';
import {linked} from './links.js';
import {leaseOf, save, session} from './state.js';

/** @param {string} instance @param {string} id */
const keyOf = (instance, id) => `${instance} ${id}`;

/** prompt.show. @param {string} instance @param {Prompt} prompt */
export function show(instance, prompt) {
  const lease = leaseOf(prompt.tab);
  if (lease?.instance !== instance) return;
  const key = keyOf(instance, prompt.id);
  session.prompts[key] = {...prompt, instance, client: lease.client, asked: Date.now()};
  save('prompts');
  badge(lease);
  notify(key, `prompt_heading_${prompt.kind}`, [lease.client, prompt.site]);
}

/** prompt.withdraw. @param {string} instance @param {string} id */
export const withdraw = (instance, id) => dropPrompts((prompt) => prompt.instance === instance && prompt.id === id);

/** @param {(prompt: Question) => boolean} which */
export function dropPrompts(which) {
  for (const [key, prompt] of Object.entries(session.prompts)) {
    if (!which(prompt)) continue;
    delete session.prompts[key];
    save('prompts');
    quietly(chrome.notifications.clear(key));
    const lease = leaseOf(prompt.tab);
    if (lease) badge(lease);
  }
}

/** The questions that still wait. */
export function waiting() {
  dropPrompts(({asked, expires_ms: ms}) => Date.now() > asked + ms);
  return Object.values(session.prompts);
}

/** The owner's answer, by their own click. @param {string} instance @param {string} id @param {PromptChoice} choice */
export async function answer(instance, id, choice) {
  const prompt = waiting().find((one) => one.instance === instance && one.id === id);
  if (!prompt) throw new Fault('approval_unknown', 'the question is gone');
  if (!prompt.choices.includes(choice)) throw new Fault('bad_params', 'this answer was not offered');
  const link = await linked(instance);
  await link.call('prompt.answer', {id, choice});
  withdraw(instance, id);
  return {};
}

/** A tab was dragged into an agent's group: the owner may have meant to share it. @param {string} instance @param {number} tab */
export function askToShare(instance, tab) {
  notify(`share ${instance} ${tab}`, 'share_with', [session.agents[instance]?.name ?? '']);
}

/** @param {string} id @param {string} key of the message catalogue @param {string[]} values */
const notify = (id, key, values) => quietly(chrome.notifications.create(id, {
  type: 'basic', iconUrl: chrome.runtime.getURL('icons/128.png'), title: chrome.i18n.getMessage('product'),
  message: chrome.i18n.getMessage(key, values),
}));

/** The owner clicked a notification. @param {string} id */
export function onClicked(id) {
  const prompt = session.prompts[id];
  const page = prompt ? `prompt.html?${new URLSearchParams({instance: prompt.instance, id: prompt.id})}` : 'popup.html';
  quietly(chrome.notifications.clear(id));
  quietly(chrome.tabs.create({url: chrome.runtime.getURL(`pages/${page}`)}));
}
