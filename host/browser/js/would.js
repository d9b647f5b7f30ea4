// What an act would set off, as far as the page tells: the owner is asked before it is dispatched.

/** @returns {import('./engine').Would} */
const nothing = () => ({kind: 'none', method: '', url: '', fields: [], new_tab: false, target: '', form: '', invalid: []});

/** @param {Element} e the element that gets the act @param {import('./engine').CheckArgs} args @returns {import('./engine').Would} */
function wouldOf(e, args) {
  switch (args.for) {
    case 'click': return args.button === 'right' ? nothing() : wouldClick(e, args.button === 'middle', args.modifiers ?? []);
    case 'type': return args.submit ? wouldEnter(e) : nothing();
    case 'press': {
      const held = args.key?.split('+') ?? [];
      const key = held.pop() ?? '';
      if (key === 'Enter' || key === 'NumpadEnter' || key === '\r' || key === '\n') return wouldEnter(e, held);
      if ((key === ' ' || key === 'Space') && (e instanceof HTMLButtonElement || (isInput(e) && !isTextField(e)))) return wouldClick(e, false, held);
      return nothing();
    }
    default: return nothing();
  }
}

/** @param {Element} e @param {boolean} middle @param {string[]} modifiers @returns {import('./engine').Would} */
function wouldClick(e, middle, modifiers) {
  const newTab = middle || modifiers.some((key) => key === 'Control' || key === 'Meta' || key === 'ControlOrMeta' || key === 'Shift');
  for (let at = /** @type {Element | null} */ (e); at; at = parentOf(at)) {
    if ((at instanceof HTMLAnchorElement || at instanceof HTMLAreaElement) && hasAttr(at, 'href')) return wouldFollow(at, newTab);
    if (at instanceof SVGAElement && at.href.baseVal) return follow(new URL(at.href.baseVal, document.baseURI), attr(at, 'target') ?? '', newTab);
    if (at instanceof HTMLButtonElement || at instanceof HTMLInputElement) {
      if (matches(at, ':disabled')) return nothing();
      const submits = at.type === 'submit' || at.type === 'image';
      return submits && at.form && !middle ? wouldSubmit(at.form, at, newTab) : nothing();
    }
    if (at instanceof HTMLLabelElement && at.control && at.control !== e) return wouldClick(at.control, false, modifiers);
    if (at instanceof HTMLSelectElement || at instanceof HTMLTextAreaElement) return nothing();
  }
  return nothing();
}

/** @param {HTMLAnchorElement | HTMLAreaElement} link @param {boolean} newTab @returns {import('./engine').Would} */
function wouldFollow(link, newTab) {
  let url;
  try {
    url = new URL(link.href, document.baseURI);
  } catch {
    return nothing();
  }
  const target = attr(link, 'target') ?? baseTarget();
  if (hasAttr(link, 'download') && (url.origin === self.origin || url.protocol === 'blob:' || url.protocol === 'data:')) {
    return {...nothing(), kind: 'download', method: 'GET', url: url.href};
  }
  return follow(url, target, newTab);
}

/** @param {URL} url @param {string} target @param {boolean} newTab @returns {import('./engine').Would} */
function follow(url, target, newTab) {
  if (url.protocol === 'javascript:') return nothing();
  const fresh = newTab || opensTab(target);
  const here = new URL(document.URL);
  here.hash = '';
  const there = new URL(url);
  there.hash = '';
  if (!fresh && url.hash && here.href === there.href && !/^_(top|parent)$/i.test(target)) return nothing(); // stays on the document
  return {...nothing(), kind: 'follow', method: 'GET', url: url.href, new_tab: fresh, target};
}

const baseTarget = () => {
  const base = queryAll(document, 'base[target]')[0];
  return base ? attr(base, 'target') ?? '' : '';
};

/** Whether a navigation to this target opens a tab. @param {string} target */
function opensTab(target) {
  if (!target || /^_(self|top|parent)$/i.test(target)) return false;
  if (/^_blank$/i.test(target)) return true;
  if (self.name === target) return false;
  return ![...allRoots()].some((root) => [...queryAll(root, 'iframe[name], frame[name], object[name]')].some((frame) => attr(frame, 'name') === target));
}

/** Enter in an element. @param {Element} e @param {string[]} [held] keys held with it @returns {import('./engine').Would} */
function wouldEnter(e, held = []) {
  if (e instanceof HTMLTextAreaElement || e instanceof HTMLSelectElement || /** @type {HTMLElement} */ (e).isContentEditable) return nothing();
  if (!isInput(e)) return wouldClick(e, false, held);
  if (e.type === 'submit' || e.type === 'image' || e.type === 'button' || e.type === 'reset') return wouldClick(e, false, held);
  const {form} = e;
  if (!form || e.type === 'file' || e.type === 'color' || matches(e, ':disabled')) return nothing();
  const button = submittersOf(form)[0];
  if (button) return matches(button, ':disabled') ? nothing() : wouldSubmit(form, button);
  const blocking = [...elementsOf(form)].filter((field) => field instanceof HTMLInputElement && isTextField(field));
  return blocking.length > 1 ? nothing() : wouldSubmit(form, null);
}

/** @param {HTMLInputElement} e an input that takes text, or keeps Enter from sending when there are two */
const isTextField = (e) => /^(text|search|tel|url|email|password|date|month|week|time|datetime-local|number)$/.test(e.type);

/** The buttons that send a form, in tree order. @param {HTMLFormElement} form @returns {(HTMLButtonElement | HTMLInputElement)[]} */
function submittersOf(form) {
  const root = /** @type {Document | ShadowRoot | Element} */ (rootOf(form));
  const all = /** @type {(HTMLButtonElement | HTMLInputElement)[]} */ ([...queryAll(root, 'button, input[type=submit i], input[type=image i]')]);
  return all.filter((button) => (button.type === 'submit' || button.type === 'image') && button.form === form);
}

/** @param {HTMLFormElement} form @param {HTMLButtonElement | HTMLInputElement | null} button @param {boolean} [newTab] @returns {import('./engine').Would} */
function wouldSubmit(form, button, newTab = false) {
  const method = (button && attr(button, 'formmethod') || attr(form, 'method') || 'get').trim().toUpperCase();
  if (method === 'DIALOG') return nothing();
  const action = button && attr(button, 'formaction') || attr(form, 'action') || '';
  let url;
  try {
    url = new URL(action.trim() || document.URL, action.trim() ? document.baseURI : document.URL);
  } catch {
    return nothing();
  }
  if (url.protocol === 'javascript:') return nothing();
  if (method !== 'POST') url.search = '';
  url.hash = '';
  const target = (button && attr(button, 'formtarget')) ?? attr(form, 'target') ?? baseTarget();
  const checks = !hasAttr(form, 'novalidate') && !(button && hasAttr(button, 'formnovalidate'));
  return {
    kind: 'submit',
    method: method === 'POST' ? 'POST' : 'GET',
    url: url.href,
    fields: sentFields(form, button),
    new_tab: newTab || opensTab(target),
    target,
    form: nameOf(form, 'form').text || clean(attr(form, 'name') ?? '') || clean(attr(form, 'id') ?? ''),
    invalid: checks ? [...new Set([...elementsOf(form)].filter((field) => matches(field, ':invalid') && !(field instanceof HTMLFieldSetElement)).map(fieldName))].slice(0, 20) : [],
  };
}

/** @param {Element} field */
const fieldName = (field) => nameOf(field).text || clean(attr(field, 'name') ?? '') || tagOf(field);

/** Names of what a form would send. @param {HTMLFormElement} form @param {Element | null} button @returns {string[]} */
function sentFields(form, button) {
  /** @type {Set<string>} */
  const names = new Set();
  for (const field of elementsOf(form)) {
    const name = clean(attr(field, 'name') ?? '');
    if (!name || matches(field, ':disabled') || field.closest('datalist')) continue;
    if (field instanceof HTMLButtonElement || (isInput(field) && /^(submit|image|button|reset)$/.test(field.type))) continue;
    if (isInput(field) && /^(checkbox|radio)$/.test(field.type) && !field.checked) continue;
    if (field instanceof HTMLFieldSetElement || field instanceof HTMLObjectElement || field instanceof HTMLOutputElement) continue;
    names.add(cut(name, 100));
  }
  const own = button && clean(attr(button, 'name') ?? '');
  if (own) names.add(cut(own, 100));
  return [...names].slice(0, 100);
}
