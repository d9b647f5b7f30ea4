/**
 * What all pages share: words from the catalogue, asking the worker, rows from templates, buttons that arm.
 *
 * Nothing that came from a page, an agent or a host ever becomes markup: values are text nodes, each in its own `<bdi>`,
 * so that a right-to-left name cannot reorder the sentence around it.
 *
 * @import {Problem, Said, Status, TabChoice} from './view.js'
 * @import {Approval} from '../../protocol/protocol.js'
 */
import {plain, problemSaid} from './view.js';

/** The element with that id; a page without it is a defect. @type {(id: string) => HTMLElement} */
export const byId = (id) => {
  const element = document.getElementById(id);
  if (!element) throw new Error(`no element #${id}`);
  return element;
};

/** The first match inside root, as the kind of element it must be.
 * @template {Element} T
 * @param {ParentNode} root
 * @param {string} selector
 * @param {new () => T} kind
 * @returns {T}
 */
export function find(root, selector, kind) {
  const element = root.querySelector(selector);
  if (!(element instanceof kind)) throw new Error(`no ${kind.name} ${selector}`);
  return element;
}

// Words

/** A sentence of the catalogue as plain text, for attributes and titles. @param {Said} said */
export const text = ([key, ...values]) => chrome.i18n.getMessage(key, values.map((value) => plain(String(value)))) || key;

/**
 * Puts a sentence into an element, each value isolated. Leaves an element alone that says it already, so that a screen
 * reader does not read it twice.
 *
 * @param {Element} element
 * @param {Said} said
 */
export function say(element, said) {
  const [key, ...values] = said;
  const now = JSON.stringify(said);
  if (element instanceof HTMLElement && element.dataset.said === now) return;
  if (element instanceof HTMLElement) element.dataset.said = now;
  const marked = text([key, ...values.map((_, i) => MARK + i + MARK)]);
  element.replaceChildren(...marked.split(MARK).map((part, i) => (i % 2 === 0 ? part : isolated(String(values[Number(part)])))));
}
const MARK = '\uE000'; // private use: stands in no catalogue and survives getMessage

/** @param {string} value */
function isolated(value) {
  const bdi = document.createElement('bdi');
  put(bdi, value);
  return bdi;
}

/** Puts a stranger's text into an element that holds nothing else, a `<bdi>`. @param {Element} element @param {string} value */
export function put(element, value) {
  element.textContent = plain(value);
}

/** Fills `data-i18n` (text) and `data-i18n-label`, `-placeholder`, `-title` (attributes) below root. @param {ParentNode} root */
export function localise(root) {
  for (const element of root.querySelectorAll('[data-i18n]')) element.textContent = text([element.getAttribute('data-i18n') ?? '']);
  for (const [name, attribute] of [['label', 'aria-label'], ['placeholder', 'placeholder'], ['title', 'title']]) {
    for (const element of root.querySelectorAll(`[data-i18n-${name}]`)) {
      element.setAttribute(String(attribute), text([element.getAttribute(`data-i18n-${name}`) ?? '']));
    }
  }
}

/** A point in time: the hour, and the day when it is not today. @param {number} ms */
export function when(ms) {
  const date = new Date(ms);
  const today = date.toDateString() === new Date().toDateString();
  return new Intl.DateTimeFormat(undefined, today ? {timeStyle: 'short'} : {dateStyle: 'medium', timeStyle: 'short'}).format(date);
}

// The page

/**
 * Starts a page: its words, the buttons every page has, then what it does. What goes wrong there is shown as silence.
 *
 * @param {string} title
 * @param {() => Promise<void>} run
 */
export function page(title, run) {
  document.documentElement.lang = text(['language']);
  document.title = text([title]);
  localise(document);
  for (const [act, handler] of Object.entries({again: () => location.reload(), restart: () => chrome.runtime.reload(), close: leave})) {
    for (const element of document.querySelectorAll(`[data-act="${act}"]`)) press(/** @type {HTMLButtonElement} */ (element), handler);
  }
  run().catch(silence);
}

/** Shows that the worker does not answer, and what can be done. @param {unknown} error */
function silence(error) {
  console.error(error);
  state('silent');
}

/** The button that does `act`. @param {ParentNode} root @param {string} act */
export const button = (root, act) => find(root, `[data-act="${act}"]`, HTMLButtonElement);

/** Sets what the page shows; CSS does the rest. @param {string} name */
export function state(name) {
  document.body.dataset.state = name;
}

/**
 * Shows a problem in an alert, or hides the alert.
 *
 * @param {HTMLElement} alert
 * @param {unknown} error
 */
export function complain(alert, error) {
  alert.hidden = !error;
  if (error) say(alert, problemSaid(problemOf(error)));
}

/** @param {unknown} error @returns {Problem} */
function problemOf(error) {
  return error instanceof Refused ? error : {code: 'internal', message: error instanceof Error ? error.message : String(error)};
}

/**
 * Keeps a list's rows in step with items: a row lives as long as its key, so focus and open details survive. Focus in a row
 * that goes moves to `<main tabindex="-1">`.
 *
 * @template T
 * @param {Element} list
 * @param {string} template id of the template, whose content is one element
 * @param {T[]} items
 * @param {(item: T) => string | number} key
 * @param {(row: HTMLElement, item: T, fresh: boolean) => void} fill
 */
export function rows(list, template, items, key, fill) {
  const old = new Map([...list.children].map((row) => [row.getAttribute('data-key'), row]));
  let place = list.firstElementChild;
  for (const item of items) {
    const name = String(key(item));
    const kept = old.get(name);
    const row = kept ?? stamp(template);
    old.delete(name);
    row.setAttribute('data-key', name);
    if (row === place) place = place.nextElementSibling;
    else list.insertBefore(row, place);
    fill(/** @type {HTMLElement} */ (row), item, !kept);
  }
  for (const row of old.values()) {
    const focused = row.contains(document.activeElement);
    row.remove();
    if (focused) find(document, 'main', HTMLElement).focus(); // not to the start of the page
  }
}

/** One new element from a template. @param {string} template */
function stamp(template) {
  const fragment = /** @type {DocumentFragment} */ (find(document, `template#${template}`, HTMLTemplateElement).content.cloneNode(true));
  localise(fragment);
  if (!fragment.firstElementChild) throw new Error(`template ${template} is empty`);
  return fragment.firstElementChild;
}

/**
 * Runs a handler for real clicks only, with the button busy meanwhile.
 *
 * @param {HTMLButtonElement} button
 * @param {() => unknown} act
 */
export function press(button, act) {
  button.addEventListener('click', async (event) => {
    if (!event.isTrusted || button.ariaBusy === 'true') return;
    button.ariaBusy = 'true';
    try {
      await act();
    } catch (error) {
      silence(error);
    } finally {
      button.ariaBusy = 'false';
    }
  });
}

/**
 * Buttons that decide something can be pressed only when the page has stood still in sight for 700 ms: a click meant for
 * what was there before must not decide. They are disabled while `ready` says no. Returns a function that starts the 700 ms
 * anew, for when the page's content moved.
 *
 * @param {() => HTMLButtonElement[]} buttons
 * @param {() => boolean} [ready]
 * @returns {{again: () => void, update: () => void}}
 */
export function arm(buttons, ready = () => true) {
  let armed = false;
  let timer = 0;
  const update = () => {
    for (const button of buttons()) button.disabled = !armed || !ready();
  };
  const again = () => {
    armed = false;
    clearTimeout(timer);
    update();
    if (document.visibilityState !== 'visible') return;
    timer = window.setTimeout(() => {
      armed = true;
      update();
    }, ARM_MS);
  };
  document.addEventListener('visibilitychange', again);
  again();
  return {again, update};
}
const ARM_MS = 700;

/** Closes the tab of this page. */
export async function leave() {
  const tab = await chrome.tabs.getCurrent();
  if (tab?.id === undefined) window.close();
  else await chrome.tabs.remove(tab.id);
}

// The worker

/**
 * What may be asked, and what is answered.
 *
 * @typedef {{
 *   'status.get': Status,
 *   'approval.find': {approval: Approval, instance: string, sealing?: boolean},
 *   'approval.tabs': TabChoice[],
 *   'approval.share': {tab: number},
 *   'pair.start': {profile: string},
 * }} Answers
 */

/** The worker said no, or could not be reached. */
export class Refused extends Error {
  /** @param {Problem} problem */
  constructor({code, message, hint}) {
    super(message);
    this.code = code;
    this.hint = hint ?? '';
  }
}

/**
 * Asks the worker and waits while it is just waking. What was surely not heard is asked again; what may have been heard
 * is asked again only if it is a question (`….get`, `.find`, `.tabs`), else it ends as `transport_lost`.
 *
 * @template {string} T
 * @param {T} type
 * @param {Record<string, unknown>} [values]
 * @returns {Promise<T extends keyof Answers ? Answers[T] : unknown>}
 */
export async function ask(type, values = {}) {
  const question = /\.(get|find|tabs)$/.test(type);
  const deadline = Date.now() + PATIENCE_MS;
  for (let pause = 50; ; pause = Math.min(2 * pause, 1000)) {
    let heard = true;
    try {
      const answer = await chrome.runtime.sendMessage({type, ...values});
      if (answer?.ok === true) return answer.value;
      if (answer?.ok === false) throw new Refused(answer.error);
    } catch (error) {
      if (error instanceof Refused) throw error;
      heard = !/receiving end does not exist/i.test(String(error));
    }
    if (heard && !question) throw new Refused({code: 'transport_lost', message: ''});
    if (Date.now() > deadline) throw new Refused({code: 'silent', message: ''});
    await new Promise((resolve) => setTimeout(resolve, pause));
  }
}
const PATIENCE_MS = 20_000;

/**
 * Shows the worker's status now and after each change of it, never two at once and always the last one. An agent that
 * starts or asks changes nothing in the worker, so a page that shows agents also asks every so often while it is in sight.
 *
 * @param {(status: Status) => void} show
 * @param {number} [every] milliseconds; 0 means never
 */
export async function watch(show, every = 0) {
  let stale = false;
  let running = false;
  const run = async () => {
    stale = true;
    if (running) return;
    running = true;
    try {
      while (stale) {
        stale = false;
        show(await ask('status.get'));
      }
    } catch (error) {
      silence(error);
    } finally {
      running = false;
    }
  };
  chrome.storage.session.onChanged.addListener(run);
  chrome.storage.local.onChanged.addListener(run);
  if (every > 0) setInterval(() => document.visibilityState === 'visible' && run(), every);
  await run();
}
