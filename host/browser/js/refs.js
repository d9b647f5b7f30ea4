// Refs: e12 names one element for as long as it lives with the same role and name.

/** Set by init: "" for the first document of a tab, else "f2" and so on. */
let refPrefix = '';
/** @type {(WeakRef<Element> | undefined)[]} by number */
const refElements = [];
/**
 * @typedef {object} RefEntry
 * @property {number} number
 * @property {string} identity
 * @property {Element | null} parent  where it stood, to know the element that took its place
 * @property {number} index
 * @property {number} siblings
 */
/** @type {WeakMap<Element, RefEntry>} */
const refEntries = new WeakMap();
/** @type {RefEntry[]} by number */
const refLog = [];

/** What makes an element the same to an agent: role and name; where names do not come from contents, the first words. @param {Element} e @param {string} role @param {string} [name] */
function identityOf(e, role, name) {
  if (textIdentity.has(role) && !isEditingHost(e)) return role + '\n' + firstWords(e);
  if (neverNamed.has(role)) return role;
  return role + '\n' + (name ?? nameOf(e, role).text);
}

const textIdentity = new Set(['row', 'cell', 'gridcell', 'listitem', 'rowheader', 'columnheader', 'generic']);

/** The first words of text in an element; a bounded look. @param {Element} e */
function firstWords(e) {
  let text = '';
  for (let at = /** @type {Node | null} */ (firstOf(e)), steps = 0; at && text.length < 60 && steps < 60; steps++) {
    if (kindOf(at) === 3) text += textOf(at).trim() + ' ';
    let next = /** @type {Node | null} */ (kindOf(at) === 1 ? firstOf(at) : null) ?? nextOf(at);
    while (!next) {
      at = nodeAbove(/** @type {Node} */ (at));
      if (!at || at === e) return text.slice(0, 60);
      next = nextOf(at);
    }
    at = next;
  }
  return text.slice(0, 60);
}

/** The ref of an element, a new one when its role or name changed. @param {Element} e @param {string} role @param {string} [name] */
function refOf(e, role, name) {
  const identity = identityOf(e, role, name);
  let entry = refEntries.get(e);
  if (!entry || entry.identity !== identity) {
    const number = refElements.length || 1;
    entry = {number, identity, parent: null, index: 0, siblings: 0};
    refElements[number] = new WeakRef(e);
    refEntries.set(e, entry);
    refLog[number] = entry;
  }
  return refPrefix + 'e' + entry.number;
}

const refPattern = /^(?:aria-ref=|ref=|@)?((?:f\d+)?)e(\d+)$/;

/** @param {string} target */
const isRef = (target) => refPattern.test(target);

/**
 * The element of a ref. Throws stale_ref when it is gone, is another document's, or became something else.
 * @param {string} target @returns {Element}
 */
function elementOfRef(target) {
  const [, prefix, digits] = /** @type {RegExpExecArray} */ (refPattern.exec(target));
  const ref = `${prefix}e${digits}`;
  if (prefix !== refPrefix) throw new Refusal('stale_ref', `${ref} is of another document`);
  const number = Number(digits);
  const entry = refLog[number];
  if (!entry) throw new Refusal('stale_ref', `there is no ${ref} in this document`);
  const e = refElements[number]?.deref();
  if (!e || !isConnected(e)) {
    const heir = heirOf(entry);
    if (!heir) throw new Refusal('stale_ref', `the element of ${ref} is gone`);
    refElements[number] = new WeakRef(heir);
    refEntries.set(heir, entry);
    return heir;
  }
  if (refEntries.get(e) !== entry) throw new Refusal('stale_ref', `the element of ${ref} was renamed`);
  const role = roleOf(e);
  if (identityOf(e, role) !== entry.identity) {
    throw new Refusal('stale_ref', `the element of ${ref} is now ${describe(role, nameOf(e, role).text)}`);
  }
  rememberPlace(e, entry);
  return e;
}

/** Remembers where an element stands, for heirOf. @param {Element} e @param {RefEntry} entry */
function rememberPlace(e, entry) {
  const above = nodeAbove(e);
  entry.parent = null;
  if (!(above instanceof Element)) return;
  const siblings = [...queryAll(above, ':scope > *')];
  if (siblings.length > 50 || siblings.some((at) => at !== e && identityOf(at, roleOf(at)) === entry.identity)) return;
  entry.parent = above;
  entry.siblings = siblings.length;
  entry.index = siblings.indexOf(e);
}

/**
 * The element that took the place of one that was drawn anew: same parent, same place among as many siblings, same role
 * and name, and no sibling that could be meant as well, neither then nor now. Anything less would press a neighbour.
 * @param {RefEntry} entry
 */
function heirOf(entry) {
  const {parent, index, siblings, identity} = entry;
  if (!parent || !isConnected(parent)) return null;
  const now = [...queryAll(parent, ':scope > *')];
  const heir = now[index];
  if (!heir || now.length !== siblings) return null;
  const same = now.filter((e) => identityOf(e, roleOf(e)) === identity);
  return same.length === 1 && same[0] === heir ? heir : null;
}
