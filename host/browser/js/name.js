// Accessible names: accname 1.2 with HTML-AAM, spaced as Chrome spaces them.

/**
 * @typedef {object} Name
 * @property {string} text
 * @property {'' | 'attribute' | 'related' | 'native' | 'contents' | 'title' | 'placeholder'} from
 */

const namedByContents = new Set(('button cell checkbox columnheader gridcell heading link menuitem menuitemcheckbox menuitemradio option radio row rowheader switch tab '
  + 'tooltip treeitem term').split(' '));

/** Roles that must not be named, whatever the author writes. */
const neverNamed = new Set(('caption code deletion emphasis generic insertion none paragraph strong subscript superscript').split(' '));

/**
 * One computation. A node is never visited twice for one name.
 * @typedef {object} Naming
 * @property {Set<Element>} seen
 * @property {boolean} related  inside a labelledby or label
 * @property {boolean} inside   inside another element's contents
 * @property {boolean} hidden   the referenced root is hidden, so hidden nodes below count
 */

/** The accessible name of an element. @param {Element} e @param {string} [role] @returns {Name} */
function nameOf(e, role = roleOf(e)) {
  const name = nameIn(e, role, {seen: new Set(), related: false, inside: false, hidden: false});
  name.text = clean(name.text);
  return name.text ? name : {text: '', from: ''};
}

/** @param {Element} e @param {string} role @param {Naming} naming @returns {Name} */
function nameIn(e, role, naming) {
  naming.seen.add(e);
  if (!naming.related) {
    const related = byIds(e, 'aria-labelledby');
    if (related.length > 0) {
      const text = related.map((at) => relatedText(at, naming)).filter(Boolean).join(' ');
      if (text.trim()) return {text, from: 'related'};
    }
  }
  const label = attr(e, 'aria-label');
  if (naming.inside || naming.related) {
    const value = embeddedValue(e, role, naming);
    if (value !== null) return {text: value, from: 'native'};
  }
  if (label && label.trim()) return {text: label, from: 'attribute'};
  const native = nativeName(e, role, naming);
  if (native) return native;
  if (namedByContents.has(role) || naming.inside || naming.related || tagOf(e) === 'summary') {
    const text = contentsOf(e, naming);
    if (text.trim()) return {text, from: 'contents'};
  }
  const title = attr(e, 'title');
  if (title && title.trim() && !(naming.inside && neverNamed.has(role))) return {text: title, from: 'title'};
  if (!naming.inside && (role === 'textbox' || role === 'searchbox' || role === 'combobox' || role === 'spinbutton')) {
    const placeholder = attr(e, 'placeholder') || attr(e, 'aria-placeholder');
    if (placeholder && placeholder.trim()) return {text: placeholder, from: 'placeholder'};
  }
  return {text: '', from: ''};
}

/** @param {Element} e @param {Naming} naming */
function relatedText(e, naming) {
  return nameIn(e, roleOf(e), {seen: new Set(), related: true, inside: false, hidden: !isRendered(e) || attr(e, 'aria-hidden') === 'true'}).text.trim();
}

/** Whether it has a box or could have one: neither display none nor visibility hidden. @param {Element} e */
const isRendered = (e) => checkVisibility(e, {visibilityProperty: true}) || (getComputedStyle(e).display === 'contents' && getComputedStyle(e).visibility === 'visible');

/** The value of a control inside a name, null when it is no such control. @param {Element} e @param {string} role @param {Naming} naming @returns {string | null} */
function embeddedValue(e, role, naming) {
  switch (role) {
    case 'textbox': case 'searchbox':
      return isSecret(e) ? '' : e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement ? e.value : naming.inside ? textOf(e) : null;
    case 'combobox': case 'listbox':
      if (e instanceof HTMLSelectElement) return [...e.selectedOptions].map(optionText).join(' ');
      if (e instanceof HTMLInputElement) return isSecret(e) ? '' : e.value;
      return naming.inside ? [...queryAll(e, '[role=option][aria-selected=true]')].map(textOf).join(' ') || null : null;
    case 'slider': case 'spinbutton': case 'progressbar': case 'meter': case 'scrollbar':
      if (!naming.inside) return null;
      return attr(e, 'aria-valuetext') ?? attr(e, 'aria-valuenow') ?? (e instanceof HTMLInputElement ? e.value : null);
    default: return null;
  }
}

/** @param {HTMLOptionElement} option */
const optionText = (option) => option.label || clean(textOf(option));

/** What HTML itself gives as a name. @param {Element} e @param {string} role @param {Naming} naming @returns {Name | null} */
function nativeName(e, role, naming) {
  /** @param {string | null | undefined} text @returns {Name | null} */
  const native = (text) => (text && text.trim() ? {text, from: 'native'} : null);
  switch (tagOf(e)) {
    case 'input': {
      const input = /** @type {HTMLInputElement} */ (e);
      switch (input.type) {
        case 'submit': return labelsName(input, naming) ?? native(input.value) ?? (hasAttr(e, 'value') ? null : native('Submit'));
        case 'reset': return labelsName(input, naming) ?? native(input.value) ?? (hasAttr(e, 'value') ? null : native('Reset'));
        case 'button': return labelsName(input, naming) ?? native(input.value);
        case 'image': return labelsName(input, naming) ?? native(attr(e, 'alt')) ?? native(attr(e, 'title')) ?? native(hasAttr(e, 'value') ? input.value : '') ?? native('Submit');
        default: return labelsName(input, naming);
      }
    }
    case 'select': case 'textarea': case 'button': case 'output': case 'progress': case 'meter': return labelsName(/** @type {HTMLSelectElement} */ (e), naming);
    case 'img': case 'area': return native(attr(e, 'alt'));
    case 'fieldset': return childName(e, 'legend', naming);
    case 'table': return childName(e, 'caption', naming) ?? native(attr(e, 'summary'));
    case 'figure': return childName(e, 'figcaption', naming);
    case 'svg': {
      const title = [...queryAll(e, ':scope > title')][0];
      return native(title && textOf(title)) ?? native(attr(e, 'xlink:title'));
    }
    case 'optgroup': return native(/** @type {HTMLOptGroupElement} */ (e).label);
    case 'option': return native(optionText(/** @type {HTMLOptionElement} */ (e)));
    case 'iframe': return native(attr(e, 'title'));
    default: return null;
  }
}

/** @param {Element} e @param {string} tag @param {Naming} naming @returns {Name | null} */
function childName(e, tag, naming) {
  const child = [...queryAll(e, `:scope > ${tag}`)][0];
  if (!child || naming.seen.has(child)) return null;
  const text = nameIn(child, roleOf(child), {...naming, related: true, inside: true}).text;
  return text.trim() ? {text, from: 'native'} : null;
}

/** @param {HTMLInputElement | HTMLSelectElement} e @param {Naming} naming @returns {Name | null} */
function labelsName(e, naming) {
  if (naming.inside) return null;
  const labels = labelsOf(e);
  if (labels.length === 0) return null;
  const text = labels.filter((label) => !naming.seen.has(label) && isRendered(label)).map((label) => {
    return nameIn(label, 'generic', {seen: new Set([e]), related: true, inside: true, hidden: false}).text.trim();
  }).filter(Boolean).join(' ');
  return text ? {text, from: 'native'} : null;
}

/**
 * What holds until the engine lets go of the thread: then the page may change.
 * @template T @param {() => T} make @returns {() => T}
 */
function thisTurn(make) {
  /** @type {{value: T} | null} */
  let kept = null;
  return () => {
    if (!kept) {
      kept = {value: make()};
      queueMicrotask(() => {
        kept = null;
      });
    }
    return kept.value;
  };
}

/** Labels by control, for each tree. (`input.labels` walks the whole tree for each control.) */
const labelMaps = thisTurn(() => /** @type {Map<Node, Map<Element, HTMLLabelElement[]>>} */ (new Map()));

/** The labels of a control. @param {Element} e @returns {HTMLLabelElement[]} */
function labelsOf(e) {
  const root = rootOf(e);
  let map = labelMaps().get(root);
  if (!map) {
    map = new Map();
    for (const label of queryAll(/** @type {Document | DocumentFragment | Element} */ (root), 'label')) {
      const control = label instanceof HTMLLabelElement ? label.control : null;
      if (!control) continue;
      const labels = map.get(control);
      if (labels) labels.push(/** @type {HTMLLabelElement} */ (label));
      else map.set(control, [/** @type {HTMLLabelElement} */ (label)]);
    }
    labelMaps().set(root, map);
  }
  return map.get(e) ?? [];
}

/** Whether any style sheet gives pseudo-elements contents, as far as that can be read. */
const mayHavePseudos = thisTurn(() => {
  /** @param {CSSRuleList} rules @returns {boolean} */
  const any = (rules) => {
    for (const rule of rules) {
      if (rule instanceof CSSStyleRule && /:(before|after)/.test(rule.selectorText)) return true;
      if (rule instanceof CSSImportRule) return true;
      if ('cssRules' in rule && any(/** @type {CSSGroupingRule} */ (rule).cssRules)) return true;
    }
    return false;
  };
  return allRoots().some((root) => [...root.styleSheets, ...root.adoptedStyleSheets].some((sheet) => {
    try {
      return any(sheet.cssRules);
    } catch {
      return true; // a sheet of another origin
    }
  }));
});

const quoted = /"((?:[^"\\]|\\.)*)"/g;

/** The text a pseudo-element shows, with a space where it is a block. @param {Element} e @param {'::before' | '::after'} which */
function pseudoText(e, which) {
  if (!mayHavePseudos()) return '';
  const style = getComputedStyle(e, which);
  const {content} = style;
  if (!content || content === 'none' || content === 'normal') return '';
  const [shown = '', spoken] = content.split(' / ');
  let text = '';
  for (const [, piece = ''] of (spoken ?? shown).matchAll(quoted)) text += piece.replace(/\\(.)/g, '$1');
  if (text && isBoundary(style.display)) text = which === '::before' ? text + ' ' : ' ' + text;
  return text;
}

/** @param {string} display */
const isBoundary = (display) => display !== 'inline' && display !== 'contents' && !display.startsWith('ruby');

const spaced = /^[ \t\r\n\f\u00a0]/;
const spacedEnd = /[ \t\r\n\f\u00a0]$/;

/**
 * The text of an element's contents, as a name.
 * @param {Element} e @param {Naming} naming @param {boolean} [hidden] it is not visible itself, only what may be in it is
 * @returns {string}
 */
function contentsOf(e, naming, hidden = false) {
  let text = '';
  let parted = false; // the piece before wants a space after it
  /** @param {string} piece @param {boolean} apart */
  const add = (piece, apart) => {
    if (!piece) {
      parted ||= apart;
      return;
    }
    if (text && (parted || apart) && !spacedEnd.test(text) && !spaced.test(piece)) text += ' ';
    text += piece;
    parted = apart;
  };
  add(pseudoText(e, '::before'), false);
  const inner = {...naming, inside: true};
  /** @param {Node} child */
  const visit = (child) => {
    const kind = kindOf(child);
    if (kind === 3) {
      add(textOf(child), false);
      return;
    }
    if (kind !== 1) return;
    const at = /** @type {Element} */ (child);
    const tag = tagOf(at);
    if (tag === 'br') {
      add(' ', false);
      return;
    }
    if (unshownTags.has(tag) || naming.seen.has(at)) return;
    const style = getComputedStyle(at);
    const {display} = style;
    if (!naming.hidden) {
      if (display === 'none' || attr(at, 'aria-hidden') === 'true' || folded(e, at)) return;
      if (style.visibility !== 'visible') {
        // It may still hold something visible.
        add(contentsOf(at, {...inner, seen: naming.seen.add(at)}, true), isBoundary(display));
        return;
      }
    }
    const role = roleOf(at);
    if (role === 'none' && tag === 'img' || role === 'group' && attr(e, 'role') === 'treeitem') return;
    const {text: piece, from} = nameIn(at, role, inner);
    add(piece, isBoundary(display) || (from !== 'contents' && from !== '') || widgetRoles.has(role));
  };
  eachChild(e, hidden ? (child) => kindOf(child) === 1 && visit(child) : visit);
  for (const owned of byIds(e, 'aria-owns')) visit(owned);
  add(pseudoText(e, '::after'), false);
  return text;
}

/** How an element is called in messages and prompts. @param {string} role @param {string} name */
const describe = (role, name) => (name ? `${role} ${quote(cut(name, 80))}` : role);
