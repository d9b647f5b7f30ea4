// Roles and states, by ARIA in HTML and HTML-AAM. Chrome's accessibility tree is the oracle of the tests.

/** Roles that ARIA defines and authors may write. */
const knownRoles = new Set(('alert alertdialog application article banner blockquote button caption cell checkbox code columnheader combobox complementary '
  + 'contentinfo definition deletion dialog directory document emphasis feed figure form generic grid gridcell group heading image img insertion link list listbox '
  + 'listitem log main mark marquee math menu menubar menuitem menuitemcheckbox menuitemradio meter navigation none note option paragraph presentation progressbar '
  + 'radio radiogroup region row rowgroup rowheader scrollbar search searchbox separator slider spinbutton status strong subscript superscript switch tab table '
  + 'tablist tabpanel term textbox time timer toolbar tooltip tree treegrid treeitem').split(' '));

/** States every element may carry: one of them, or focus, makes `presentation` void. */
const globalStates = ['aria-atomic', 'aria-busy', 'aria-controls', 'aria-current', 'aria-describedby', 'aria-details', 'aria-dropeffect', 'aria-flowto', 'aria-grabbed',
  'aria-keyshortcuts', 'aria-label', 'aria-labelledby', 'aria-live', 'aria-owns', 'aria-relevant', 'aria-roledescription'];

/** What a person works with. */
const widgetRoles = new Set(('button link checkbox radio switch textbox searchbox combobox listbox option slider spinbutton scrollbar tab menuitem menuitemcheckbox '
  + 'menuitemradio treeitem').split(' '));
const landmarkRoles = new Set('banner complementary contentinfo form main navigation region search'.split(' '));

/** @type {Record<string, string>} */
const inputRoles = {
  button: 'button', submit: 'button', reset: 'button', image: 'button', file: 'button', checkbox: 'checkbox', radio: 'radio', range: 'slider', number: 'spinbutton',
  search: 'searchbox',
};

/** @type {Record<string, string>} */
const tagRoles = {
  article: 'article', blockquote: 'blockquote', button: 'button', caption: 'caption', code: 'code', dd: 'definition', del: 'deletion', details: 'group', dfn: 'term',
  dialog: 'dialog', dt: 'term', em: 'emphasis', fieldset: 'group', figure: 'figure', h1: 'heading', h2: 'heading', h3: 'heading', h4: 'heading', h5: 'heading', h6: 'heading',
  hgroup: 'group', hr: 'separator', iframe: 'iframe', frame: 'iframe', ins: 'insertion', main: 'main', mark: 'mark', math: 'math', menu: 'list', meter: 'meter',
  nav: 'navigation', ol: 'list', optgroup: 'group', option: 'option', output: 'status', p: 'paragraph', progress: 'progressbar', search: 'search', strong: 'strong',
  sub: 'subscript', summary: 'button', sup: 'superscript', table: 'table', tbody: 'rowgroup', tfoot: 'rowgroup', thead: 'rowgroup', textarea: 'textbox', time: 'time', ul: 'list',
  address: 'group',
};

const sectioning = 'article, aside, nav, section, [role=article], [role=complementary], [role=navigation], [role=region]';

/** @param {Element} e @returns {boolean} whether a person can put the focus on it */
function focusable(e) {
  if (hasAttr(e, 'tabindex') && /^\s*-?\d/.test(/** @type {string} */ (attr(e, 'tabindex')))) return true;
  switch (tagOf(e)) {
    case 'a': case 'area': return hasAttr(e, 'href');
    case 'button': case 'select': case 'textarea': return !matches(e, ':disabled');
    case 'input': return /** @type {HTMLInputElement} */ (e).type !== 'hidden' && !matches(e, ':disabled');
    case 'summary': return isSummary(e);
    case 'iframe': case 'audio': case 'video': return true;
    default: return isEditingHost(e);
  }
}

/** @param {Element} e @returns {boolean} */
const isSummary = (e) => {
  const above = nodeAbove(e);
  return above instanceof HTMLDetailsElement && queryAll(above, ':scope > summary')[0] === e;
};

/** The root of a contenteditable region. @param {Element} e */
const isEditingHost = (e) => {
  const value = attr(e, 'contenteditable');
  return value !== null && value.toLowerCase() !== 'false' && (value === '' || /^(true|plaintext-only)$/i.test(value));
};

/** The role an element's markup says, before any conflict is solved. @param {Element} e */
function writtenRole(e) {
  const text = attr(e, 'role');
  if (!text) return '';
  for (const token of text.toLowerCase().split(/\s+/)) if (knownRoles.has(token)) return token === 'image' ? 'img' : token === 'directory' ? 'list' : token === 'presentation' ? 'none' : token;
  return '';
}

/** The role of an element; "generic" where it has none. @param {Element} e @returns {string} */
function roleOf(e) {
  const written = writtenRole(e);
  if (written && written !== 'none') {
    if (written === 'region' && !hasGivenName(e)) return impliedRole(e);
    return written;
  }
  if (written === 'none' && !focusable(e) && !globalStates.some((name) => attr(e, name))) return 'none';
  return impliedRole(e);
}

/** Whether the author gave a name (cheaply: what region and form need). @param {Element} e */
const hasGivenName = (e) => Boolean(attr(e, 'aria-label')?.trim() || byIds(e, 'aria-labelledby').length > 0 || attr(e, 'title')?.trim());

/** @param {Element} e @returns {string} */
function impliedRole(e) {
  const tag = tagOf(e);
  switch (tag) {
    case 'a': case 'area': return hasAttr(e, 'href') ? 'link' : 'generic';
    case 'input': {
      const {type} = /** @type {HTMLInputElement} */ (e);
      if (type === 'hidden') return 'none';
      if (hasAttr(e, 'list') && /^(text|search|url|tel|email)$/.test(type)) return 'combobox';
      if (type === 'checkbox' && hasAttr(e, 'switch')) return 'switch';
      return inputRoles[type] ?? 'textbox';
    }
    case 'select': return isListbox(/** @type {HTMLSelectElement} */ (e)) ? 'listbox' : 'combobox';
    case 'summary': return isSummary(e) ? 'button' : 'generic';
    case 'img': {
      const alt = attr(e, 'alt');
      return alt === '' && !attr(e, 'aria-label') && !attr(e, 'aria-labelledby') && !attr(e, 'title') ? 'none' : 'img';
    }
    case 'svg': return 'img';
    case 'aside': return hasGivenName(e) || !nearest(parentOf(e), (at) => matches(at, sectioning)) ? 'complementary' : 'generic';
    case 'header': return nearest(parentOf(e), (at) => matches(at, sectioning) || matches(at, 'main, [role=main]')) ? 'generic' : 'banner';
    case 'footer': return nearest(parentOf(e), (at) => matches(at, sectioning) || matches(at, 'main, [role=main]')) ? 'generic' : 'contentinfo';
    case 'section': return hasGivenName(e) ? 'region' : 'generic';
    case 'form': return 'form';
    case 'ul': case 'ol': case 'menu': return 'list';
    case 'li': {
      const list = parentOf(e);
      return list && /^(list|none)$/.test(roleOf(list)) ? (roleOf(list) === 'list' ? 'listitem' : 'generic') : 'generic';
    }
    case 'tr': return tableOf(e) ? 'row' : 'generic';
    case 'td': {
      const table = tableOf(e);
      return table === 'grid' || table === 'treegrid' ? 'gridcell' : table ? 'cell' : 'generic';
    }
    case 'th': {
      if (!tableOf(e)) return 'generic';
      const scope = attr(e, 'scope');
      if (scope === 'row' || scope === 'rowgroup') return 'rowheader';
      if (scope === 'col' || scope === 'colgroup') return 'columnheader';
      return isRowHeader(/** @type {HTMLTableCellElement} */ (e)) ? 'rowheader' : 'columnheader';
    }
    case 'tbody': case 'thead': case 'tfoot': return tableOf(e) ? 'rowgroup' : 'generic';
    default: return tagRoles[tag] ?? (isEditingHost(e) ? 'textbox' : 'generic');
  }
}

/** The role of the table a part of it belongs to, "" when it is none or only laid out as one. @param {Element} e */
function tableOf(e) {
  const table = e.closest('table');
  if (!table) return '';
  const role = writtenRole(table) || 'table';
  return role === 'none' ? '' : role;
}

/** A header cell without scope heads its row when data cells follow it there, and its column else. @param {HTMLTableCellElement} e */
function isRowHeader(e) {
  const row = nodeAbove(e);
  if (!(row instanceof HTMLTableRowElement) || row.parentElement?.localName === 'thead') return false;
  return [...row.cells].some((cell) => cell.localName === 'td');
}

/** @param {HTMLSelectElement} e */
const isListbox = (e) => e.multiple || e.size > 1;

/**
 * @typedef {object} States
 * @property {'' | 'true' | 'false' | 'mixed'} checked  "" where the role has no such state
 * @property {'' | 'true' | 'false' | 'mixed'} pressed
 * @property {boolean} selected
 * @property {'' | 'true' | 'false'} expanded
 * @property {boolean} disabled
 * @property {boolean} required
 * @property {boolean} readonly
 * @property {boolean} invalid
 * @property {number} level  0: none
 */

const checkedRoles = new Set(['checkbox', 'radio', 'switch', 'menuitemcheckbox', 'menuitemradio', 'option', 'treeitem']);
const selectedRoles = new Set(['option', 'tab', 'row', 'gridcell', 'treeitem', 'columnheader', 'rowheader', 'cell']);
const levelRoles = new Set(['heading', 'treeitem', 'listitem', 'row']);
const expandedRoles = new Set(('application button checkbox columnheader combobox gridcell link listbox menuitem menuitemcheckbox menuitemradio row rowheader switch tab treeitem group').split(' '));

/** @param {Element} e @param {string} role @returns {States} */
function statesOf(e, role) {
  /** @type {States} */
  const states = {checked: '', pressed: '', selected: false, expanded: '', disabled: isDisabled(e), required: false, readonly: false, invalid: false, level: 0};
  if (checkedRoles.has(role)) states.checked = checkedOf(e, role);
  if (role === 'button') states.pressed = threeWay(attr(e, 'aria-pressed'));
  if (selectedRoles.has(role)) states.selected = e instanceof HTMLOptionElement ? e.selected : attr(e, 'aria-selected') === 'true';
  if (role === 'heading') states.level = headingLevel(e);
  else if (levelRoles.has(role)) states.level = Number(attr(e, 'aria-level')) || 0;
  if (expandedRoles.has(role)) states.expanded = expandedOf(e, role);
  if (e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement || e instanceof HTMLSelectElement) {
    states.required = e.required;
    if (!(e instanceof HTMLSelectElement)) states.readonly = matches(e, ':read-only') && e.readOnly;
  }
  if (attr(e, 'aria-required') === 'true') states.required = true;
  if (attr(e, 'aria-readonly') === 'true') states.readonly = true;
  const invalid = attr(e, 'aria-invalid');
  states.invalid = invalid !== null && invalid !== '' && invalid !== 'false';
  return states;
}

/** @param {string | null} value @returns {'' | 'true' | 'false' | 'mixed'} */
const threeWay = (value) => (value === 'true' || value === 'false' || value === 'mixed' ? value : '');

/** @param {Element} e @param {string} role @returns {States['checked']} */
function checkedOf(e, role) {
  if (isInput(e) && (e.type === 'checkbox' || e.type === 'radio')) return e.indeterminate && e.type === 'checkbox' ? 'mixed' : e.checked ? 'true' : 'false';
  const written = threeWay(attr(e, 'aria-checked'));
  if (written === 'mixed' && (role === 'radio' || role === 'switch' || role === 'menuitemradio')) return 'false';
  return written || (role === 'option' || role === 'treeitem' ? '' : 'false');
}

/** @param {Element} e @param {string} role @returns {States['expanded']} */
function expandedOf(e, role) {
  if (isSummary(e)) return /** @type {HTMLDetailsElement} */ (nodeAbove(e)).open ? 'true' : 'false';
  if (e instanceof HTMLSelectElement && role === 'combobox') return '';
  const written = attr(e, 'aria-expanded');
  return written === 'true' || written === 'false' ? written : '';
}

/** @param {Element} e */
function headingLevel(e) {
  const written = Number(attr(e, 'aria-level'));
  if (written >= 1) return Math.floor(written);
  const native = /^h([1-6])$/.exec(tagOf(e));
  return native ? Number(native[1]) : 2;
}

/** Disabled for a person: natively (fieldset and its first legend included), by ARIA on itself or above. @param {Element} e */
function isDisabled(e) {
  if (matches(e, ':disabled')) return true;
  return nearest(e, (at) => attr(at, 'aria-disabled') === 'true') !== null;
}

/** Whether e stands in an inert subtree. @param {Element} e */
const isInert = (e) => nearest(e, (at) => hasAttr(at, 'inert')) !== null;
