// The composed tree: what a person sees of light trees, open and closed shadow roots and slots, as one tree.
// Accessors come from the prototypes, because a form or the document may carry named properties that hide its own.

/** @typedef {import('./engine').Found} Found */

/** @type {(f: unknown) => any} */
const uncurry = Function.prototype.bind.bind(Function.prototype.call);
/** @type {(proto: object, key: string) => any} */
const getter = (proto, key) => uncurry(/** @type {PropertyDescriptor} */ (Object.getOwnPropertyDescriptor(proto, key)).get);

/** @type {(e: Element, name: string) => string | null} */
const attr = uncurry(Element.prototype.getAttribute);
/** @type {(e: Element, name: string) => boolean} */
const hasAttr = uncurry(Element.prototype.hasAttribute);
/** @type {(e: Element, selector: string) => boolean} */
const matches = uncurry(Element.prototype.matches);
/** @type {(e: Element) => DOMRect} */
const boxOf = uncurry(Element.prototype.getBoundingClientRect);
/** @type {(e: Element) => DOMRectList} */
const rectsOf = uncurry(Element.prototype.getClientRects);
/** @type {(e: Element, options: object) => boolean} */
const checkVisibility = uncurry(Element.prototype.checkVisibility);
/** @type {(e: Element) => string} */
const tagOf = getter(Element.prototype, 'localName');
/** @type {(e: Element) => string} */
const idOf = getter(Element.prototype, 'id');
/** @type {(e: Element) => ShadowRoot | null} */
const openRoot = getter(Element.prototype, 'shadowRoot');
/** @type {(n: Node) => number} */
const kindOf = getter(Node.prototype, 'nodeType');
/** @type {(n: Node) => string} */
const textOf = getter(Node.prototype, 'textContent');
/** @type {(n: Node) => ChildNode | null} */
const firstOf = getter(Node.prototype, 'firstChild');
/** @type {(n: Node) => ChildNode | null} */
const nextOf = getter(Node.prototype, 'nextSibling');
/** @type {(n: Node) => Node | null} */
const nodeAbove = getter(Node.prototype, 'parentNode');
/** @type {(n: Node) => boolean} */
const isConnected = getter(Node.prototype, 'isConnected');
/** @type {(n: Node) => Node} */
const rootOf = uncurry(Node.prototype.getRootNode);
/** @type {(n: Element | Text) => HTMLSlotElement | null} */
const openSlot = (n) => (n instanceof Element ? slotOfElement : slotOfText)(n);
const slotOfElement = getter(Element.prototype, 'assignedSlot');
const slotOfText = getter(Text.prototype, 'assignedSlot');
/** @type {(n: Document | DocumentFragment | Element, selector: string) => NodeListOf<Element>} */
const queryAll = (n, selector) => (n instanceof Element ? queryElement : n instanceof Document ? queryDocument : queryFragment)(n, selector);
const queryElement = uncurry(Element.prototype.querySelectorAll);
const queryDocument = uncurry(Document.prototype.querySelectorAll);
const queryFragment = uncurry(DocumentFragment.prototype.querySelectorAll);

/** @type {() => HTMLElement | null} */
const bodyNow = getter(Document.prototype, 'body').bind(null, document);
/** @type {() => HTMLElement | null} */
const rootNow = getter(Document.prototype, 'documentElement').bind(null, document);
/** @type {(d: Document) => string} */
const urlOf = getter(Document.prototype, 'URL');
/** @type {(d: Document) => Element | null} */
const activeOf = getter(Document.prototype, 'activeElement');
/** @type {(f: HTMLFormElement) => HTMLFormControlsCollection} */
const elementsOf = getter(HTMLFormElement.prototype, 'elements');

/** @param {unknown} n @returns {n is Element} */
const isElement = (n) => n instanceof Element;
/** @param {Element} e @returns {e is HTMLInputElement} */
const isInput = (e) => e instanceof HTMLInputElement;

/** Closed roots that Go handed over, by host. @type {WeakMap<Element, ShadowRoot>} */
const closedRoots = new WeakMap();

/** @param {Element} e @returns {ShadowRoot | null} */
const shadowOf = (e) => openRoot(e) ?? closedRoots.get(e) ?? null;

/**
 * Calls visit with each child in the composed tree. Text, elements and comments alike.
 * @param {Node} node @param {(child: Node) => void} visit
 */
function eachChild(node, visit) {
  if (isElement(node)) {
    const root = shadowOf(node);
    if (root) node = root;
    else if (node instanceof HTMLSlotElement) {
      const given = node.assignedNodes();
      if (given.length > 0) {
        for (const n of given) visit(n);
        return;
      }
    }
  }
  for (let child = firstOf(node); child; child = nextOf(child)) visit(child);
}

/** The slot that shows a child of a host, in open and in closed roots. @param {Element | Text} n @param {ShadowRoot} root */
function slotIn(n, root) {
  const open = openSlot(n);
  if (open) return open;
  for (const slot of queryAll(root, 'slot')) {
    if (/** @type {HTMLSlotElement} */ (slot).assignedNodes().includes(n)) return slot;
  }
  return null;
}

/** The parent in the composed tree; null at the top and for children of a host that no slot shows. @param {Node} n @returns {Element | null} */
function parentOf(n) {
  const above = nodeAbove(n);
  if (above instanceof ShadowRoot) return above.host;
  if (!isElement(above)) return null;
  const root = shadowOf(above);
  if (root && (n instanceof Element || n instanceof Text)) return slotIn(n, root);
  return above;
}

/** @param {Node} ancestor @param {Node | null} n whether n is ancestor or stands inside it, in the composed tree */
function holds(ancestor, n) {
  for (let at = n; at; at = parentOf(at)) if (at === ancestor) return true;
  return false;
}

/** The nearest of e and its composed ancestors for which test is true. @param {Element | null} e @param {(e: Element) => boolean} test */
function nearest(e, test) {
  for (let at = e; at; at = parentOf(at)) if (test(at)) return at;
  return null;
}

/**
 * Calls visit with every element of the composed tree below root, hidden ones too; a true answer stops the walk.
 * @param {Node} root @param {(e: Element) => boolean | void} visit @returns {boolean}
 */
function everyElement(root, visit) {
  let done = false;
  eachChild(root, (child) => {
    if (done || !isElement(child)) return;
    done = visit(child) === true || everyElement(child, visit);
  });
  return done;
}

/** Every tree there is: the document, and each shadow root the engine reaches. @returns {(Document | ShadowRoot)[]} */
function allRoots() {
  /** @type {(Document | ShadowRoot)[]} */
  const roots = [document];
  for (let i = 0; i < roots.length; i++) {
    for (const e of queryAll(/** @type {Document | ShadowRoot} */ (roots[i]), '*')) {
      const root = shadowOf(e);
      if (!root) continue;
      roots.push(root);
      secrets.watch(root);
    }
  }
  return roots;
}

/** The focused element, through shadow roots; null when nothing is. @returns {Element | null} */
function focused() {
  let at = activeOf(document);
  for (let root = at && shadowOf(at); root?.activeElement; root = at && shadowOf(at)) at = root.activeElement;
  return at === bodyNow() || at === rootNow() ? null : at;
}

/** @type {(d: Document, x: number, y: number) => Element | null} */
const pointInDocument = uncurry(Document.prototype.elementFromPoint);

/** The element that receives a point of the viewport, through shadow roots. @param {number} x @param {number} y @returns {Element | null} */
function elementAt(x, y) {
  let hit = pointInDocument(document, x, y);
  for (let root = hit && shadowOf(hit); root; root = hit && shadowOf(hit)) {
    const inner = root.elementFromPoint(x, y);
    if (!inner || inner === hit || rootOf(inner) !== root) break;
    hit = inner;
  }
  return hit;
}

/** The element with an id in the tree of e. @param {Element} e @param {string} id @returns {Element | null} */
function byId(e, id) {
  const root = rootOf(e);
  return root instanceof Document ? documentById(root, id) : root instanceof DocumentFragment ? fragmentById(root, id) : null;
}
const documentById = uncurry(Document.prototype.getElementById);
const fragmentById = uncurry(DocumentFragment.prototype.getElementById);

/** @param {Element} e @param {string} name @returns {Element[]} the elements a list of ids names */
function byIds(e, name) {
  const ids = attr(e, name);
  if (!ids) return [];
  return ids.split(/\s+/).map((id) => id && byId(e, id)).filter(isElement);
}

const invisibles = /[\u0000-\u001f\u007f-\u009f\u00ad\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff]|\udb40[\udc00-\udc7f]/;
const invisiblesAll = new RegExp(invisibles, 'g');

/**
 * Text of the page as one line: spaces collapsed, control and direction characters and invisible tags removed.
 * @param {string} text
 */
function clean(text) {
  if (/[\s\u00a0]/.test(text)) text = text.replace(/[\s\u00a0]+/g, ' ').trim();
  return invisibles.test(text) ? text.replace(invisiblesAll, '') : text;
}

/** Text as it may stand in a line: what would read as a ref or a state is broken up. @param {string} text */
const escapeText = (text) => (text.includes('[') ? text.replace(/\[(?=(?:ref|active|aria-hidden|box|checked|collapsed|cursor|disabled|expanded|filled|inert|invalid|level|pressed|readonly|required|secret|selected|type)[\]=])/g, '[\\') : text);

/** @param {string} text @returns {string} a name in quotes that it cannot close */
const quote = (text) => '"' + escapeText(/["\\]/.test(text) ? text.replace(/["\\]/g, '\\$&') : text) + '"';

/** @param {string} text @param {number} max */
const cut = (text, max) => (text.length > max ? text.slice(0, max - 1).replace(/[\ud800-\udbff]$/, '') + '…' : text);

/** What the engine answers when something cannot be done: a code of protocol.Codes. */
class Refusal extends Error {
  /** @param {string} code @param {string} message @param {Record<string, unknown>} [data] */
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}
