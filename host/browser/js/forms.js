// Fields: what they take, filling, choosing, reading back. Values of secrets never leave.

/** Fields that once were passwords: a "show password" button turns them into plain text. @type {WeakSet<Element>} */
const onceSecret = new WeakSet();

const secretNames = /pass(word|wd|phrase|code)|\bpwd\b|\botp\b|one.?time|\bcvv2?\b|\bcvc\b|card.?num|security.?code/i;

/** @param {Element} e whether its value may never leave the page */
function isSecret(e) {
  if (!(e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement)) return false;
  if (e.type === 'password' || onceSecret.has(e)) {
    onceSecret.add(e);
    return true;
  }
  if (/^(checkbox|radio|submit|reset|button|image|hidden|file|range|color)$/.test(e.type)) return false;
  const tokens = (attr(e, 'autocomplete') ?? '').toLowerCase().split(/\s+/);
  if (tokens.some((token) => token === 'one-time-code' || token === 'current-password' || token === 'new-password' || token.startsWith('cc-'))) return true;
  return secretNames.test(`${attr(e, 'name') ?? ''} ${idOf(e)} ${attr(e, 'aria-label') ?? ''} ${attr(e, 'placeholder') ?? ''}`) || getComputedStyle(e).getPropertyValue('-webkit-text-security') !== 'none';
}

/** Remembers password fields while they still are ones, in every tree it is shown. */
const secrets = {
  /** @type {WeakSet<Node>} */
  watched: new WeakSet(),
  observer: new MutationObserver((records) => {
    for (const {target, oldValue} of records) if (oldValue?.toLowerCase() === 'password' && target instanceof Element) onceSecret.add(target);
  }),
  /** @param {Node} root */
  watch(root) {
    if (this.watched.has(root)) return;
    this.watched.add(root);
    this.observer.observe(root, {subtree: true, attributes: true, attributeFilter: ['type'], attributeOldValue: true});
  },
};

/** @param {Element} e @returns {import('./engine').Checked['editable']} */
function editableKind(e) {
  if (e instanceof HTMLTextAreaElement) return 'textarea';
  if (e instanceof HTMLSelectElement) return 'select';
  if (isInput(e)) {
    switch (e.type) {
      case 'checkbox': case 'radio': case 'file': case 'range': case 'color': return e.type;
      case 'date': case 'time': case 'datetime-local': case 'month': case 'week': return 'date';
      case 'submit': case 'reset': case 'button': case 'image': case 'hidden': return '';
      default: return 'input';
    }
  }
  return e instanceof HTMLElement && e.isContentEditable ? 'contenteditable' : '';
}

/** The field's part of what check answers. @param {Element} e */
function fieldFacts(e) {
  const editable = editableKind(e);
  const secret = isSecret(e);
  const role = roleOf(e);
  const checked = checkedRoles.has(role) && role !== 'option' && role !== 'treeitem' ? {checked: checkedOf(e, role) === 'true'} : {};
  const length = valueOf(e).length;
  return {
    editable,
    input_type: isInput(e) ? e.type : '',
    secret,
    keys_needed: editable === 'input' && (role === 'combobox' || hasAttr(e, 'aria-autocomplete') || hasAttr(e, 'data-mask') || hasAttr(e, 'data-inputmask') || /[_#9]{2,}/.test(attr(e, 'data-format') ?? '')),
    value_length: secret ? Math.min(length, 1) : length,
    ...checked,
  };
}

/** @type {(e: HTMLInputElement) => string} */
const inputValue = getter(HTMLInputElement.prototype, 'value');
const setInputValue = uncurry(/** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value')).set);
const setAreaValue = uncurry(/** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(HTMLTextAreaElement.prototype, 'value')).set);

/** The text a field holds, for inside use. @param {Element} e */
function valueOf(e) {
  if (isInput(e)) return inputValue(e);
  if (e instanceof HTMLTextAreaElement || e instanceof HTMLSelectElement) return e.value;
  return e instanceof HTMLElement && e.isContentEditable ? editedText(e) : '';
}

/** The text of a contenteditable region, lines as a person sees them. @param {HTMLElement} e */
const editedText = (e) => e.innerText.replace(/[\u200b\ufeff]/g, '').replace(/\u00a0/g, ' ').replace(/\n{2,}/g, '\n').replace(/\n$/, '');

/** @type {Record<string, string>} */
const formats = {date: 'YYYY-MM-DD', time: 'HH:MM or HH:MM:SS', 'datetime-local': 'YYYY-MM-DDTHH:MM', month: 'YYYY-MM', week: 'YYYY-Www', color: '#rrggbb', number: 'a number', range: 'a number'};

/** @param {import('./engine').FillArgs} args @returns {import('./engine').FillResult} */
function fill({ref, text, append = false}) {
  const e = /** @type {HTMLElement} */ (locate(ref));
  const kind = editableKind(e);
  const what = describe(roleOf(e), nameOf(e).text);
  if (isActDisabled(e)) throw new Refusal('disabled', `${what} is disabled`);
  if (kind === '' || kind === 'checkbox' || kind === 'radio' || kind === 'file') throw new Refusal('not_editable', kind === '' ? `${what} takes no text` : `${what} takes no text: click it`);
  if (isReadonly(e)) throw new Refusal('not_editable', `${what} is read-only`);
  if (kind === 'select') {
    const {selected} = choose({ref, labels: [text]});
    return {matches: selected.length === 1, length: text.length};
  }
  e.focus({preventScroll: true});
  let wanted = text;
  if (kind === 'contenteditable') fillEditable(e, text, append);
  else {
    const old = valueOf(e);
    wanted = append ? old + text : text;
    if (isInput(e)) {
      setInputValue(e, wanted);
      const format = formats[e.type];
      if (format && wanted !== '' && inputValue(e) === '') {
        setInputValue(e, old);
        throw new Refusal('bad_argument', `${what} takes ${format}`, {format});
      }
    } else setAreaValue(e, wanted.replace(/\r\n?/g, '\n'));
    e.dispatchEvent(new InputEvent('input', {bubbles: true, composed: true, inputType: append ? 'insertText' : 'insertReplacementText', data: null}));
    e.dispatchEvent(new Event('change', {bubbles: true}));
  }
  return result(e, wanted);
}

/** @param {HTMLElement} e @param {string} text @param {boolean} append */
function fillEditable(e, text, append) {
  selectContents(e, append);
  // Editors keep a model of their own and take only what comes through the browser's editing.
  document.execCommand(text === '' ? 'delete' : 'insertText', false, text);
}

/** @param {HTMLElement} e @param {boolean} atEnd */
function selectContents(e, atEnd) {
  const range = document.createRange();
  range.selectNodeContents(e);
  if (atEnd) range.collapse(false);
  const selection = getSelection();
  selection?.removeAllRanges();
  selection?.addRange(range);
}

/** @param {Element} e @param {string} [wanted] @returns {import('./engine').FillResult} */
function result(e, wanted) {
  const value = valueOf(e);
  const same = (/** @type {string} */ text) => text.replace(/\r\n?/g, '\n').replace(/\u00a0/g, ' ').trimEnd();
  const secret = isSecret(e);
  return {
    matches: wanted === undefined || same(value) === same(wanted) || (isInput(e) && (e.type === 'number' || e.type === 'range') && value !== '' && Number(value) === Number(wanted)) || (isInput(e) && value.toLowerCase() === wanted.toLowerCase() && e.type === 'color'),
    length: secret && wanted === undefined ? Math.min(value.length, 1) : value.length,
    ...(!secret && value.length <= 200 && {value}),
  };
}

/** @param {{ref: string, text?: string}} args */
function readback({ref, text}) {
  const e = locate(ref);
  const role = roleOf(e);
  return {
    ...result(e, text),
    ...(checkedRoles.has(role) && role !== 'option' && {checked: checkedOf(e, role) === 'true'}),
    ...(e instanceof HTMLSelectElement && {selected: [...e.selectedOptions].map((o) => clean(optionText(o)))}),
  };
}

/** Ends an edit made by keys, so that the browser fires change. @param {{ref: string}} args */
function commit({ref}) {
  const e = locate(ref);
  if (e instanceof HTMLElement && e === focused()) e.blur();
  return {};
}

/** @param {{ref: string, select?: 'all' | 'end'}} args */
function focusElement({ref, select}) {
  const e = /** @type {HTMLElement} */ (locate(ref));
  e.focus({preventScroll: true});
  if (select) {
    if (e instanceof HTMLTextAreaElement || (isInput(e) && /^(text|search|tel|url|password)$/.test(e.type))) {
      if (select === 'all') e.select();
      else e.setSelectionRange(e.value.length, e.value.length);
    } else if (isInput(e)) {
      if (select === 'all') e.select();
    } else if (e.isContentEditable) selectContents(e, select === 'end');
  }
  const now = focused();
  return {focused: now !== null && (now === e || holds(e, now))};
}

/**
 * Chooses options by text, label, value or index. Text is matched as a person reads it; a group may stand before it
 * ("Cars: Other") where two options read the same.
 * @param {Parameters<import('./engine').Engine['select']>[0]} args
 */
function choose({ref, values = [], labels = [], indexes = []}) {
  const e = locate(ref);
  const what = describe(roleOf(e), nameOf(e).text);
  if (!(e instanceof HTMLSelectElement)) throw new Refusal('not_editable', `${what} is no native list: click it and choose from what opens`);
  if (isActDisabled(e)) throw new Refusal('disabled', `${what} is disabled`);
  const options = [...e.options];
  /** @type {Set<HTMLOptionElement>} */
  const chosen = new Set();
  for (const label of labels) chosen.add(optionFor(options, label, what));
  for (const value of values) chosen.add(options.find((option) => option.value === value) ?? optionFor(options, value, what));
  for (const index of indexes) {
    const option = options[index];
    if (!option) throw new Refusal('not_found', `${what} has ${options.length} options`);
    chosen.add(option);
  }
  if (!e.multiple && chosen.size !== 1) throw new Refusal('bad_argument', `${what} takes exactly one option`);
  for (const option of chosen) if (matches(option, ':disabled') || (nodeAbove(option) instanceof HTMLOptGroupElement && matches(/** @type {Element} */ (nodeAbove(option)), ':disabled'))) throw new Refusal('disabled', `option ${quote(clean(optionText(option)))} is disabled`);
  e.focus({preventScroll: true});
  const before = options.map((option) => option.selected).join();
  for (const option of options) if (option.selected !== chosen.has(option) && e.multiple) option.selected = chosen.has(option);
  if (!e.multiple) for (const option of chosen) option.selected = true;
  if (options.map((option) => option.selected).join() !== before) {
    e.dispatchEvent(new Event('input', {bubbles: true, composed: true}));
    e.dispatchEvent(new Event('change', {bubbles: true}));
  }
  return {selected: [...e.selectedOptions].map((o) => clean(optionText(o)))};
}

/** @param {HTMLOptionElement[]} options @param {string} text @param {string} what @returns {HTMLOptionElement} */
function optionFor(options, text, what) {
  const wanted = clean(text);
  /** @param {HTMLOptionElement} option */
  const group = (option) => {
    const above = nodeAbove(option);
    return above instanceof HTMLOptGroupElement ? clean(above.label) : '';
  };
  for (const test of /** @type {((o: HTMLOptionElement) => boolean)[]} */ ([
    (option) => clean(textOf(option)) === wanted,
    (option) => clean(option.label) === wanted,
    (option) => option.value === text,
    (option) => `${group(option)}: ${clean(optionText(option))}` === wanted || `${group(option)} ${clean(optionText(option))}` === wanted,
    (option) => clean(optionText(option)).toLowerCase() === wanted.toLowerCase(),
  ])) {
    const found = options.filter(test);
    if (found.length === 1) return /** @type {HTMLOptionElement} */ (found[0]);
    if (found.length > 1) {
      throw new Refusal('ambiguous', `${found.length} options of ${what} read ${quote(wanted)}`, {
        options: found.map((option) => ({index: options.indexOf(option), group: group(option), value: cut(clean(option.value), 100)})),
      });
    }
  }
  throw new Refusal('not_found', `${what} has no option ${quote(cut(wanted, 100))}`, {options: options.slice(0, 50).map((option) => cut(clean(optionText(option)), 60))});
}
