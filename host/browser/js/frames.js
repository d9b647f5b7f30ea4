// Child frames: which element holds which frame, and where a point of the child lies in this document.

/** @type {WeakMap<Element, string>} */
const frameKeys = new WeakMap();
/** @type {Map<string, WeakRef<Element>>} */
const frameElements = new Map();

/** @param {{key: string}} args @param {Node | undefined} node */
function bindFrame({key}, node) {
  if (!(node instanceof Element)) throw new Refusal('bad_argument', 'bindFrame needs the frame element');
  frameKeys.set(node, key);
  frameElements.set(key, new WeakRef(node));
  return {};
}

/** @param {string} key @returns {Element} */
function frameOf(key) {
  const e = frameElements.get(key)?.deref();
  if (!e || !isConnected(e)) throw new Refusal('not_found', 'the frame is gone');
  return e;
}

/**
 * The matrix from an element's border box to the viewport. Built from what Chrome computed for each ancestor: own
 * transform properties about their origin, then the offset that remains, found by comparing with the real box.
 * @param {Element} e
 */
function matrixOf(e) {
  const turn = new DOMMatrix();
  for (let at = /** @type {Element | null} */ (e); at; at = parentOf(at)) {
    const style = getComputedStyle(at);
    /** @type {DOMMatrix} */
    let own = new DOMMatrix();
    if (style.rotate !== 'none') own = own.multiply(rotation(style.rotate));
    if (style.scale !== 'none') {
      const [x = 1, y = x, z = 1] = style.scale.split(' ').map(Number);
      own = own.multiply(new DOMMatrix().scale(x, y, z));
    }
    if (style.transform !== 'none') own = own.multiply(new DOMMatrix(style.transform));
    own.e = own.f = 0; // where it ends up is read from the box below
    const zoom = Number(style.zoom) || 1;
    if (zoom !== 1) own.scaleSelf(zoom);
    turn.preMultiplySelf(own);
  }
  const {width, height} = borderSize(e);
  // The turned border box has the real box as its bounds: that gives the offset.
  const corners = [[0, 0], [width, 0], [0, height], [width, height]].map(([x, y]) => turn.transformPoint(new DOMPoint(x, y)));
  const box = boxOf(e);
  const matrix = DOMMatrix.fromMatrix(turn);
  matrix.e = box.left - Math.min(...corners.map(({x}) => x));
  matrix.f = box.top - Math.min(...corners.map(({y}) => y));
  return matrix;
}

/** @param {string} rotate `45deg`, `x 45deg`, `1 0 0 45deg` */
function rotation(rotate) {
  const parts = rotate.split(' ');
  const angle = parseFloat(/** @type {string} */ (parts.at(-1)));
  const axis = parts.length === 4 ? parts.slice(0, 3).map(Number) : parts[0] === 'x' ? [1, 0, 0] : parts[0] === 'y' ? [0, 1, 0] : [0, 0, 1];
  return new DOMMatrix().rotateAxisAngle(axis[0] ?? 0, axis[1] ?? 0, axis[2] ?? 1, angle);
}

/** The size of the border box before any transform. @param {Element} e */
function borderSize(e) {
  const style = getComputedStyle(e);
  const px = (/** @type {string} */ name) => parseFloat(style.getPropertyValue(name)) || 0;
  if (style.boxSizing === 'border-box') return {width: px('width'), height: px('height')};
  return {
    width: px('width') + px('padding-left') + px('padding-right') + px('border-left-width') + px('border-right-width'),
    height: px('height') + px('padding-top') + px('padding-bottom') + px('border-top-width') + px('border-bottom-width'),
  };
}

/** @param {{key: string, x: number, y: number}} args */
function mapPoint({key, x, y}) {
  const e = frameOf(key);
  const style = getComputedStyle(e);
  const px = (/** @type {string} */ name) => parseFloat(style.getPropertyValue(name)) || 0;
  const point = matrixOf(e).transformPoint(new DOMPoint(x + px('border-left-width') + px('padding-left'), y + px('border-top-width') + px('padding-top')));
  const hit = elementAt(point.x, point.y);
  const ok = hit !== null && holds(e, hit);
  return {x: point.x, y: point.y, hit: ok, by: ok ? '' : hit ? describeHit(hit) : 'nothing'};
}

/** @param {{key: string, x: number, y: number}} args */
function reveal({key, x, y}) {
  const e = frameOf(key);
  const inside = () => {
    const {x: px, y: py, hit} = mapPoint({key, x, y});
    return hit && px > 0 && py > 0 && px < innerWidth && py < innerHeight;
  };
  if (inside()) return {};
  for (const block of /** @type {const} */ (['nearest', 'center', 'start', 'end'])) {
    align(e, block);
    if (inside()) return {};
    nudge(e, mapPoint({key, x, y}));
    if (inside()) return {};
  }
  return {};
}

/** Scrolls the areas around an element so that a point of the viewport comes to the middle of each. @param {Element} e @param {{x: number, y: number}} point */
function nudge(e, {x, y}) {
  for (let at = parentOf(e); at; at = parentOf(at)) {
    const {overflowX, overflowY} = getComputedStyle(at);
    const top = at === document.scrollingElement;
    if (!top && overflowX === 'visible' && overflowY === 'visible') continue;
    const box = top ? {left: 0, top: 0, width: innerWidth, height: innerHeight} : boxOf(at);
    const {scrollLeft, scrollTop} = at;
    at.scrollTo({left: scrollLeft + x - (box.left + box.width / 2), top: scrollTop + y - (box.top + box.height / 2), behavior: 'instant'});
    x -= at.scrollLeft - scrollLeft;
    y -= at.scrollTop - scrollTop;
  }
}
