// May the element be acted on, and where: scrolled into view, visible, enabled, still, and itself under the point.

/** @type {(e: Element, options: ScrollIntoViewOptions) => void} */
const scrollElementIntoView = uncurry(Element.prototype.scrollIntoView);

/** @param {Element} e @param {ScrollLogicalPosition} block */
const align = (e, block) => scrollElementIntoView(e, {block, inline: block === 'start' || block === 'end' ? 'center' : block, behavior: 'instant'});

/** Codes that time may cure. */
const curable = new Set(['not_found', 'hidden', 'disabled', 'covered', 'moving', 'outside']);

/** @param {import('./engine').CheckArgs} args @returns {Promise<import('./engine').Checked>} */
async function check(args) {
  const start = performance.now();
  const end = start + (args.quick ? 0 : Math.min(args.timeout_ms ?? 3000, 60_000));
  let held = false;
  try {
    for (;;) {
      try {
        return await checkOnce(args, end);
      } catch (error) {
        if (!(error instanceof Refusal) || !curable.has(error.code)) throw error;
        if (!held) mutations.hold();
        held = true;
        const left = end - performance.now();
        if (left <= 0) {
          if (!args.quick) error.data = {...error.data, waited_ms: Math.round(performance.now() - start)};
          throw error;
        }
        await mutations.next(Math.min(left, 100));
        await nextFrame();
      }
    }
  } finally {
    if (held) mutations.release();
  }
}

/** @param {import('./engine').CheckArgs} args @param {number} end @returns {Promise<import('./engine').Checked>} */
async function checkOnce(args, end) {
  const e = locate(args.target, args.nth);
  const aim = aimOf(e);
  const what = describe(roleOf(e), nameOf(e).text);
  const view = viewAlone(aim);
  if (!view || !(view.seen || view.display === 'contents')) throw new Refusal('hidden', `${what} is not visible`, {why: hiddenWhy(aim)});
  if (args.for !== 'none' && args.for !== 'hover' && args.for !== 'press') {
    if (isInert(e)) throw new Refusal('disabled', `${what} is inert: something else has to be dealt with first`);
    if (isActDisabled(e)) throw new Refusal('disabled', `${what} is disabled`);
  }
  if (args.for === 'type' && editableKind(e) === '') throw new Refusal('not_editable', `${what} takes no text`);
  if (args.for === 'type' && isReadonly(e)) throw new Refusal('not_editable', `${what} is read-only`);
  const wantsPoint = args.for === 'click' || args.for === 'hover' || args.for === 'type' || args.for === 'select';
  const scrolled = wantsPoint && !args.quick && bringIntoView(e, aim);
  let animating = false;
  let aimed = pointFor(e, aim);
  if (wantsPoint && !args.quick && (scrolled || mayMove(aim))) {
    ({animating, aimed} = await untilStill(e, aim, end, what));
  }
  if (wantsPoint && !aimed.point) throw new Refusal(aimed.outside ? 'outside' : 'covered', aimed.outside ? `${what} cannot be scrolled into view` : `${what} is covered by ${aimed.by}`, {by: aimed.by});
  const {x, y, width, height} = boxOf(aim);
  return {
    ...found(e),
    ...(aimed.point && {point: aimed.point}),
    rect: {x, y, width, height},
    animating,
    ...fieldFacts(e),
    ...(frameKeys.has(e) && {frame: frameKeys.get(e)}),
    would: wouldOf(aimed.hit && args.for === 'click' && holds(e, aimed.hit) ? aimed.hit : e, args),
  };
}

/** Where a person would press: the control, or its label where the control itself cannot be seen. @param {Element} e */
function aimOf(e) {
  if (!(isInput(e) || e instanceof HTMLSelectElement || e instanceof HTMLTextAreaElement) || isSeen(e)) return e;
  return labelsOf(e).find(isSeen) ?? e;
}

/** @param {Element} e */
function isActDisabled(e) {
  if (isDisabled(e)) return true;
  return e instanceof HTMLLabelElement && e.control !== null && matches(e.control, ':disabled');
}

/** @param {Element} e */
const isReadonly = (e) => ((isInput(e) || e instanceof HTMLTextAreaElement) && e.readOnly) || attr(e, 'aria-readonly') === 'true';

/** @param {Element} e */
function hiddenWhy(e) {
  for (let at = /** @type {Element | null} */ (e); at; at = parentOf(at)) {
    const style = getComputedStyle(at);
    const where = at === e ? '' : ` of ${cut(describeHit(at), 80)}`;
    if (style.display === 'none') return `display: none${where}`;
    const above = parentOf(at);
    if (above && folded(above, at)) return `inside closed details ${cut(describeHit(above), 80)}`;
    if (at === e && style.visibility !== 'visible') return 'visibility: hidden';
    if (Number(style.opacity) < 0.05) return `transparent${where}`;
  }
  const box = boxOf(e);
  return box.width < 1 || box.height < 1 ? 'no size' : 'clipped or outside the page';
}

/**
 * Scrolls only when there is no good point where it stands; tries other alignments when a bar lies over it.
 * @param {Element} e @param {Element} aim @returns {boolean} whether anything was scrolled
 */
function bringIntoView(e, aim) {
  if (pointFor(e, aim).point) return false;
  const before = boxOf(aim);
  for (const block of /** @type {const} */ (['nearest', 'center', 'end', 'start'])) {
    align(aim, block);
    if (pointFor(e, aim).point) break;
  }
  const after = boxOf(aim);
  return before.x !== after.x || before.y !== after.y;
}

/**
 * @typedef {object} Aimed
 * @property {{x: number, y: number}} [point]
 * @property {Element} [hit] what receives it
 * @property {string} by     what covers it, when there is no point
 * @property {boolean} outside
 */

/** A point of the element that the element itself receives. @param {Element} e @param {Element} aim @returns {Aimed} */
function pointFor(e, aim) {
  let by = '';
  let outside = true;
  for (const rect of visiblePieces(aim)) {
    outside = false;
    for (const [fx, fy] of spots) {
      const x = rect.x + rect.width * fx;
      const y = rect.y + rect.height * fy;
      const hit = elementAt(x, y);
      if (hit && receives(e, aim, hit)) return {point: {x, y}, hit, by: '', outside: false};
      by ||= hit ? describeHit(hit) : 'nothing';
    }
  }
  return {by, outside};
}

/** Where a person aims first, then the rest. */
const spots = /** @type {const} */ ([[0.5, 0.5], [0.25, 0.5], [0.75, 0.5], [0.5, 0.25], [0.5, 0.75], [0.1, 0.5], [0.9, 0.5], [0.15, 0.15], [0.85, 0.85], [0.85, 0.15], [0.15, 0.85]]);

/** The pieces of an element that are on screen, largest first where it is one box, in order where text wraps. @param {Element} e @returns {DOMRect[]} */
function visiblePieces(e) {
  let rects = [...rectsOf(e)];
  if (rects.length === 0 || rects.every((rect) => rect.width < 1 || rect.height < 1)) {
    // A box without a size (display: contents, floated children): its children are what can be pressed.
    rects = [];
    eachChild(e, (child) => {
      if (isElement(child)) rects.push(...rectsOf(child));
    });
  }
  return rects.slice(0, 8).map((rect) => {
    const left = Math.max(rect.left, 0);
    const top = Math.max(rect.top, 0);
    return new DOMRect(left, top, Math.min(rect.right, innerWidth) - left, Math.min(rect.bottom, innerHeight) - top);
  }).filter((rect) => rect.width >= 1 && rect.height >= 1);
}

/** Whether a click on hit reaches e: itself, something plain inside it, its label, or what its slot shows. @param {Element} e @param {Element} aim @param {Element} hit */
function receives(e, aim, hit) {
  if (!holds(aim, hit)) return e instanceof HTMLLabelElement ? e.control === hit : labelOf(hit)?.control === e;
  if (hit === aim || hit === e) return true;
  // A control of its own inside the target would take the click for itself.
  const inner = nearest(hit, (at) => at === aim || isControl(at));
  if (inner === aim || inner === null) return true;
  return inner === e || (aim instanceof HTMLLabelElement && aim.control === inner) || !(e instanceof HTMLLabelElement || aim instanceof HTMLLabelElement || isControl(e));
}

/** @param {Element} hit the label it stands in, when no other control is in between @returns {HTMLLabelElement | null} */
function labelOf(hit) {
  const at = nearest(hit, (e) => e instanceof HTMLLabelElement || isControl(e));
  return at instanceof HTMLLabelElement ? at : null;
}

/** @param {Element} e */
const isControl = (e) => /^(a|button|input|select|textarea|summary)$/.test(tagOf(e)) && (tagOf(e) !== 'a' || hasAttr(e, 'href'));

/** How an element that took a point is called. @param {Element} e */
function describeHit(e) {
  const at = nearest(e, (up) => !textRoles.has(roleOf(up)) || hasAttr(up, 'id')) ?? e;
  const role = roleOf(at);
  const name = nameOf(at, role).text || (at === rootNow() || at === bodyNow() ? '' : clean(firstWords(at)));
  const id = role === 'generic' && idOf(at) ? `#${cut(clean(idOf(at)), 40)}` : '';
  return role === 'generic' && !name ? `<${tagOf(at)}${id}>` : describe(role, cut(name, 60)) + (id && ` (${id})`);
}

/** @param {{ref: string, x: number, y: number}} args */
function hits({ref, x, y}) {
  const e = locate(ref);
  const hit = elementAt(x, y);
  const ok = hit !== null && receives(e, aimOf(e), hit);
  return {hit: ok, by: ok ? '' : hit ? describeHit(hit) : 'nothing'};
}

/** @type {(d: Document) => Animation[]} */
const animationsOf = uncurry(Document.prototype.getAnimations);

const geometry = /^(transform|translate|rotate|scale|left|right|top|bottom|inset|margin|padding|width|height|min|max|flex|font|lineHeight|gap|grid|offset|zoom|letterSpacing|border\w*Width)/;

/** The running animations that change places or sizes of the element or of what it stands in. @param {Element} e @returns {Animation[]} */
function moversOf(e) {
  return animationsOf(document).filter((animation) => {
    const {effect} = animation;
    if (animation.playState !== 'running' || !(effect instanceof KeyframeEffect) || !effect.target || !holds(effect.target, e)) return false;
    return effect.getKeyframes().some((frame) => Object.keys(frame).some((key) => geometry.test(key)));
  });
}

/** Whether something may be moving the element: a scroll under way, an animation on it or above it, a style that scripts write. @param {Element} e */
function mayMove(e) {
  return performance.now() - trusted.lastScroll < 120 || moversOf(e).length > 0
    || nearest(e, (at) => /\b(transform|translate|left|top|right|bottom|margin|scale|rotate)\b/.test(attr(at, 'style') ?? '')) !== null;
}

/** How long rest is waited for before it is enough that the point holds over a frame. */
const patience = 700;

/** @param {Element} e @param {Element} aim @param {number} end @param {string} what */
async function untilStill(e, aim, end, what) {
  const stop = Math.min(end, performance.now() + patience);
  // What ends soon is waited for: at its start and its end a movement is too slow to be seen from frame to frame.
  for (const animation of moversOf(aim)) {
    const left = Number(animation.effect?.getComputedTiming().endTime ?? Infinity) - Number(animation.currentTime ?? 0);
    if (left <= stop - performance.now()) await Promise.race([animation.finished.catch(() => {}), sleep(left + frameFallback)]);
  }
  let before = boxOf(aim);
  for (;;) {
    await nextFrame();
    const now = boxOf(aim);
    if (Math.abs(now.x - before.x) < 0.5 && Math.abs(now.y - before.y) < 0.5 && Math.abs(now.width - before.width) < 0.5 && Math.abs(now.height - before.height) < 0.5) {
      let aimed = pointFor(e, aim);
      if (!aimed.point && bringIntoView(e, aim)) aimed = pointFor(e, aim);
      return {animating: false, aimed};
    }
    before = now;
    if (performance.now() >= stop) break;
  }
  // It never rests. A person would press it all the same: one point that it receives now and after the next frame.
  for (let i = 0; i < 10; i++) {
    const aimed = pointFor(e, aim);
    await nextFrame();
    const hit = aimed.point && elementAt(aimed.point.x, aimed.point.y);
    if (hit && receives(e, aim, hit)) return {animating: true, aimed};
  }
  throw new Refusal('moving', `${what} does not keep still`);
}
