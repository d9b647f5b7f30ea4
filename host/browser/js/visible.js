// What a person can see. One walk over the composed tree carries what ancestors decide (clips, visibility, colours) in a
// View for each element, so that an element costs one style and one box.

/** @typedef {readonly [left: number, top: number, right: number, bottom: number]} Area */

/** How an element stands before a person's eyes. */
class View {
  /** Where content can be brought by scrolling. @type {Area} */
  reach;
  /** What is on screen now. @type {Area} */
  port;
  /** Its box lies where it can be seen. @type {boolean} */
  lies;
  /** The element itself can be seen: its own text and box. @type {boolean} */
  seen;
  /** @type {boolean} */
  onScreen;
  /** Nothing in it can be seen, whatever the styles below say. */
  gone = false;
  /** @type {boolean} */
  ariaHidden;
  /** @type {boolean} */
  inert;
  /** By ARIA, on itself or above. @type {boolean} */
  disabled;
  inline = false;
  display = '';
  /** All of its box is on screen. */
  whole = false;
  /** See isPointer. @type {boolean | undefined} */
  pointer = undefined;
  /** @type {DOMRect | null} */
  box = null;
  /** See backOf. @type {Color | null | undefined} */
  back = undefined;
  /** See insideOf. @type {[reach: Area, port: Area] | null} */
  inside = null;

  /** @param {Element} e @param {View | null} above */
  constructor(e, above) {
    this.e = e;
    this.above = above;
    this.style = getComputedStyle(e);
    this.reach = above ? above.reach : pageArea();
    this.port = above ? above.port : screenArea();
    this.lies = above ? above.lies : true;
    this.seen = above ? above.seen : true;
    this.onScreen = above ? above.onScreen : true;
    this.ariaHidden = above ? above.ariaHidden : false;
    this.inert = above ? above.inert : false;
    this.disabled = above ? above.disabled : false;
  }

  /** Takes over the areas for what flows in an element. @param {View} holder */
  flowIn(holder) {
    const inside = insideOf(holder);
    this.reach = inside[0];
    this.port = inside[1];
  }
}

/** @returns {Area} what the document can scroll to, in viewport coordinates */
function pageArea() {
  const root = rootNow();
  if (!root) return [0, 0, 0, 0];
  const scroller = document.scrollingElement ?? root;
  const style = getComputedStyle(root);
  const body = bodyNow();
  const across = style.overflowX !== 'visible' || !body ? style.overflowX : getComputedStyle(body).overflowX;
  const y = -scroller.scrollTop;
  const bottom = y + Math.max(scroller.scrollHeight, innerHeight);
  // A page that hides what is beside it does so for good; down it may only be locked while a dialog is open.
  if (across === 'hidden' || across === 'clip') return [0, y, innerWidth, bottom];
  const x = (style.direction === 'rtl' ? scroller.clientWidth - scroller.scrollWidth : 0) - scroller.scrollLeft;
  return [x, y, x + Math.max(scroller.scrollWidth, innerWidth), bottom];
}

/** @returns {Area} */
const screenArea = () => [0, 0, innerWidth, innerHeight];

/** @param {Area} a @param {Area} b @returns {Area} */
const meet = (a, b) => [Math.max(a[0], b[0]), Math.max(a[1], b[1]), Math.min(a[2], b[2]), Math.min(a[3], b[3])];

/** Whether enough of a box lies in an area to be seen: more than a pixel each way. @param {DOMRect} box @param {Area} area */
function shows(box, area) {
  const width = Math.min(box.right, area[2]) - Math.max(box.left, area[0]);
  const height = Math.min(box.bottom, area[3]) - Math.max(box.top, area[1]);
  return width > 1 && height > 1 || (width > 0 && height > 0 && width >= box.width - 0.5 && height >= box.height - 0.5 && (box.width > 1 || box.height > 1));
}

const bareInline = new Set(['span', 'b', 'i', 'strong', 'em', 'u', 's', 'small', 'code', 'mark', 'font', 'bdi', 'bdo', 'cite', 'kbd', 'samp', 'var', 'q', 'tt', 'time', 'data', 'wbr', 'br']);

/**
 * The view of an element under its parent's. Returns null when it and all below is not displayed.
 * @param {Element} e @param {View | null} above
 */
function viewOf(e, above) {
  const view = new View(e, above);
  const {style} = view;
  const display = view.display = style.display;
  if (display === 'none') return null;
  view.inline = display.startsWith('inline') || display === 'contents' || display.startsWith('ruby');
  if (attr(e, 'aria-hidden') === 'true') view.ariaHidden = true;
  if (hasAttr(e, 'inert')) view.inert = true;
  if (attr(e, 'aria-disabled') === 'true') view.disabled = true;
  const {opacity} = style;
  if (opacity !== '1' && Number(opacity) < 0.05) view.gone = true;
  const visible = style.visibility === 'visible';
  if (display === 'contents') {
    if (above) view.flowIn(above);
    view.seen = !view.gone && view.lies && visible;
    return view;
  }
  if (display === 'inline' && above && !view.gone && (bareInline.has(tagOf(e)) || startsWithText(e))) {
    // Running text lies where its block lies: no box to measure. (Placed elements are never `inline` in computed styles.)
    view.flowIn(above);
    view.seen = view.lies && visible;
    view.whole = above.whole;
    if (view.onScreen && !view.whole && !bareInline.has(tagOf(e))) view.onScreen = shows(view.box = boxOf(e), view.port);
    view.onScreen &&= view.seen;
    return view;
  }
  const {position} = style;
  if (above && (position === 'absolute' || position === 'fixed')) {
    const holder = /** @type {HTMLElement} */ (e).offsetParent ?? null;
    let at = /** @type {View | null} */ (above);
    if (holder || position === 'absolute') while (at && at.e !== holder) at = at.above;
    else at = null;
    if (at) view.flowIn(at);
    else view.reach = (view.port = screenArea(), position === 'fixed' ? view.port : pageArea());
    if (clippedAway.test(`${style.clip} ${style.clipPath}`)) view.gone = true;
  } else if (above) view.flowIn(above);
  if (display === 'table-cell' && above && above.lies && (above.whole || !above.onScreen) && position === 'static' && !view.gone && startsWithText(e) && style.transform === 'none') {
    // A cell with words lies where its row lies: half of the boxes of a large table.
    view.seen = visible;
    view.onScreen = visible && above.onScreen;
    view.whole = above.whole;
    return view;
  }
  const box = view.box = boxOf(e);
  if (view.gone) {
    view.seen = view.lies = view.onScreen = false;
    return view;
  }
  view.lies = shows(box, view.reach);
  view.seen = view.lies && visible;
  view.onScreen = view.seen && shows(box, view.port);
  view.whole = view.onScreen && box.left >= view.port[0] && box.top >= view.port[1] && box.right <= view.port[2] && box.bottom <= view.port[3];
  return view;
}

/** `clip` and `clip-path` as they hide text from eyes but not from screen readers. */
const clippedAway = /^rect\([01]px,? [01]px,? [01]px,? [01]px\)| inset\((50|100)%| circle\(0/;

/** @param {Element} e */
function startsWithText(e) {
  const first = firstOf(e);
  return first !== null && kindOf(first) === 3 && /\S/.test(textOf(first)) && !hasAttr(e, 'style');
}

/** The areas for what flows inside an element. @param {View} view @returns {[reach: Area, port: Area]} */
const insideOf = (view) => (view.inside ??= areasInside(view));

/** @param {View} view @returns {[reach: Area, port: Area]} */
function areasInside(view) {
  const {e, style, box} = view;
  if (!box || view.display === 'inline') return [view.reach, view.port];
  const x = style.overflowX;
  if (x === 'visible' || e === rootNow() || (e === bodyNow() && view.above?.style.overflowX === 'visible')) return [view.reach, view.port];
  const y = style.overflowY;
  const left = box.left + e.clientLeft;
  const top = box.top + e.clientTop;
  // A transformed box has other client sizes than its box: the box is then the better clip.
  const flat = Math.abs(/** @type {HTMLElement} */ (e).offsetWidth - box.width) < 1.5;
  /** @type {Area} */
  const inner = flat ? [left, top, left + e.clientWidth, top + e.clientHeight] : [box.left, box.top, box.right, box.bottom];
  const port = meet(view.port, inner);
  if (!view.lies) return [[0, 0, 0, 0], port];
  const scrollsX = x === 'auto' || x === 'scroll';
  const scrollsY = y === 'auto' || y === 'scroll';
  const met = meet(view.reach, inner);
  const back = style.direction === 'rtl' ? e.clientWidth - e.scrollWidth : 0;
  return [[
    scrollsX ? left + back - e.scrollLeft : x === 'visible' ? view.reach[0] : met[0],
    scrollsY ? top - e.scrollTop : y === 'visible' ? view.reach[1] : met[1],
    scrollsX ? left + back - e.scrollLeft + Math.max(e.scrollWidth, inner[2] - inner[0]) : x === 'visible' ? view.reach[2] : met[2],
    scrollsY ? top - e.scrollTop + Math.max(e.scrollHeight, inner[3] - inner[1]) : y === 'visible' ? view.reach[3] : met[3],
  ], port];
}

/** Whether the pointer over it says that it can be pressed. @param {View} view @returns {boolean} */
const isPointer = (view) => (view.pointer ??= view.style.cursor === 'pointer');

/** Never shown, whatever styles say. */
const unshownTags = new Set(['script', 'style', 'noscript', 'template', 'head', 'meta', 'link', 'title', 'base', 'datalist', 'param', 'source', 'track']);

/** The child of a closed `details` that is shown. @param {Element} e @param {Node} child */
const folded = (e, child) => e instanceof HTMLDetailsElement && !e.open && !(isElement(child) && isSummary(child));

/**
 * What walks over the visible tree. L is whatever it hands down.
 * @template L
 * @typedef {object} Visitor
 * @property {(e: Element, view: View, level: L) => void} element  displayed, though not always to be seen itself
 * @property {(node: Text, view: View, level: L) => void} text
 * @property {(node: Node) => void} unseen  not displayed, with all below
 */

/** Hands each child in the composed tree to the visitor. @template L @param {View} view @param {Visitor<L>} visitor @param {L} level */
function eachShown(view, visitor, level) {
  const {e: above} = view;
  const closed = above instanceof HTMLDetailsElement && !above.open;
  const locked = view.style.contentVisibility === 'hidden';
  eachChild(above, (child) => {
    const kind = kindOf(child);
    if (locked) visitor.unseen(child);
    else if (kind === 3) closed ? visitor.unseen(child) : visitor.text(/** @type {Text} */ (child), view, level);
    else if (kind === 1) {
      const e = /** @type {Element} */ (child);
      if (unshownTags.has(tagOf(e))) return;
      const inner = closed && !isSummary(e) ? null : viewOf(e, view);
      if (!inner || (inner.gone && !isBareControl(inner))) visitor.unseen(e);
      else visitor.element(e, inner, level);
    }
  });
}

/** A native control made transparent over a picture of it: a person sees the picture and presses the control. @param {View} view */
function isBareControl(view) {
  const {e, box} = view;
  if (view.above?.gone || !box || box.width < 5 || box.height < 5 || view.style.visibility !== 'visible') return false;
  if (!(e instanceof HTMLSelectElement || (isInput(e) && !/^(submit|reset|button|image|hidden)$/.test(e.type)))) return false;
  if (!shows(box, view.reach)) return false;
  view.lies = view.seen = true;
  view.onScreen = shows(box, view.port);
  return true;
}

/** The view of one element, from the top down; null when it is not displayed. @param {Element} e @returns {View | null} */
function viewAlone(e) {
  /** @type {Element[]} */
  const path = [];
  for (let at = /** @type {Element | null} */ (e); at; at = parentOf(at)) path.push(at);
  if (!isConnected(e) || path.at(-1) !== rootNow()) return null; // a child of a host that no slot shows
  /** @type {View | null} */
  let view = null;
  for (let i = path.length - 1; i >= 0; i--) {
    const at = /** @type {Element} */ (path[i]);
    if (view && (folded(view.e, at) || view.style.contentVisibility === 'hidden')) return null;
    view = viewOf(at, view);
    if (!view) return null;
    if (view.gone) return i === 0 && isBareControl(view) ? view : null;
  }
  return view;
}

/** Whether a person can see the element somewhere, scrolled to. @param {Element} e */
function isSeen(e) {
  const view = viewAlone(e);
  if (!view) return false;
  return view.seen || (view.display === 'contents' && [...queryAll(e, ':scope > *')].some(isSeen));
}

/** @typedef {readonly [red: number, green: number, blue: number, alpha: number]} Color */

/** @type {Map<string, Color | null>} */
const colors = new Map();

/** @param {string} text @returns {Color | null} null for what is not plain RGB */
function colorOf(text) {
  let color = colors.get(text);
  if (color === undefined) {
    const parts = /^rgba?\(([\d.]+), ([\d.]+), ([\d.]+)(?:, ([\d.]+))?\)$/.exec(text);
    color = parts ? [Number(parts[1]), Number(parts[2]), Number(parts[3]), parts[4] === undefined ? 1 : Number(parts[4])] : null;
    if (colors.size > 500) colors.clear();
    colors.set(text, color);
  }
  return color;
}

/** The flat colour behind an element's text; null when it cannot be told. @param {View} view @returns {Color | null} */
function backOf(view) {
  if (view.back !== undefined) return view.back;
  const own = colorOf(view.style.backgroundColor);
  if (!own) return view.back = null;
  if (own[3] >= 0.999) return view.back = own;
  const under = view.above ? backOf(view.above) : getComputedStyle(view.e).colorScheme === 'normal' ? /** @type {Color} */ ([255, 255, 255, 1]) : null;
  if (!under || own[3] === 0) return view.back = under;
  const [r, g, b, a] = own;
  return view.back = [r * a + under[0] * (1 - a), g * a + under[1] * (1 - a), b * a + under[2] * (1 - a), 1];
}

/** Whether a text of this element would be seen: its place and its colour. @param {Text} node @param {View} view */
function showsText(node, view) {
  const {style} = view;
  if (!view.seen && !overflows(node, view)) return false;
  if (!view.inline && parseFloat(style.textIndent) < -500) return false;
  const color = colorOf(style.color);
  if (!color) return true;
  if (color[3] < 0.05) return paintsThroughText(view);
  const back = backOf(view);
  if (!back || Math.abs(back[0] - color[0]) > 12 || Math.abs(back[1] - color[1]) > 12 || Math.abs(back[2] - color[2]) > 12) return true;
  return style.textShadow !== 'none' || hasPictureBehind(view);
}

/** Text that flows out of a box without a size. @param {Text} node @param {View} view */
function overflows(node, view) {
  if (view.gone || !view.box || (view.box.width > 1 && view.box.height > 1) || view.style.visibility !== 'visible' || view.style.overflowX !== 'visible') return false;
  const range = document.createRange();
  range.selectNodeContents(node);
  return shows(range.getBoundingClientRect(), view.reach);
}

/** Gradient text: transparent, with a background cut to its letters. @param {View} view */
function paintsThroughText(view) {
  for (let at = /** @type {View | null} */ (view), i = 0; at && i < 4; at = at.above, i++) if (at.style.backgroundClip.includes('text')) return true;
  return false;
}

/** Whether something that is no flat colour may lie under the text. @param {View} view */
function hasPictureBehind(view) {
  for (let at = /** @type {View | null} */ (view); at; at = at.above) {
    if (at.style.backgroundImage !== 'none') return true;
    if ((colorOf(at.style.backgroundColor)?.[3] ?? 1) >= 0.999) break;
  }
  const box = view.box ?? boxOf(view.e);
  // A picture, or a placed box with a colour of its own, beside the text in the same container.
  for (let at = parentOf(view.e), i = 0; at && i < 6; at = parentOf(at), i++) {
    let looked = 0;
    const found = everyElement(at, (e) => {
      if (++looked > 200) return true;
      if (holds(e, view.e) || holds(view.e, e)) return false;
      const picture = /^(img|picture|video|canvas|svg|iframe)$/.test(tagOf(e));
      if (!picture) {
        const style = getComputedStyle(e);
        if (style.backgroundImage === 'none' && (style.position === 'static' || (colorOf(style.backgroundColor)?.[3] ?? 1) < 0.05)) return false;
      }
      const other = boxOf(e);
      return other.left < box.right && other.right > box.left && other.top < box.bottom && other.bottom > box.top;
    });
    if (found) return true;
    if (getComputedStyle(at).position !== 'static') break;
  }
  return false;
}

const instruction = new RegExp([
  String.raw`\b(ignore|disregard|forget|override)\b.{0,40}\b(previous|prior|above|earlier|all|your|task|instruction|rule)`,
  String.raw`\b(system|assistant|ai|agent|user|owner|admin|developer)\s*(notice|prompt|message|note|instruction)?s?\s*:`,
  String.raw`\b(you (must|should|shall|are now|have to)|do not (tell|mention|reveal)|instead of your|new (task|instruction)s?)\b`,
  String.raw`\b(follow|click|press|open|visit|go to|navigate to|fetch|send|transfer|forward|paste|submit|reveal|upload)\b.{0,60}\b(link|button|https?:|www\.|url|address|page|password|credential|token|secret|e-?mail|account|money|form)`,
].join('|'), 'i');

/** Whether text that nobody can see speaks to an agent. @param {string} text */
const looksLikeInstruction = (text) => text.length > 11 && instruction.test(text.length > 2000 ? text.slice(0, 2000) : text);

/** Pieces of text in a subtree that is not shown and that look like an instruction; a bounded look. @param {Node} root @returns {number} */
function hiddenInstructions(root) {
  let left = 300;
  let count = 0;
  /** @param {Node} node */
  const look = (node) => {
    if (left <= 0) return;
    if (node instanceof Text) {
      left--;
      if (looksLikeInstruction(textOf(node))) count++;
    } else if (isElement(node) && !unshownTags.has(tagOf(node))) eachChild(node, look);
  };
  look(root);
  return count;
}
