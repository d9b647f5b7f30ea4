// Scrolling: the page, or the area around an element.

/** @param {Element} e whether its inside can be scrolled up and down */
const scrolls = (e) => e.scrollHeight > e.clientHeight + 1 && /^(auto|scroll|overlay)$/.test(getComputedStyle(e).overflowY);

/** The area that a person's wheel would move: the one around the element, or, where the page itself cannot move, the one in its middle. @param {Element | null} e */
function areaOf(e) {
  const page = document.scrollingElement ?? rootNow();
  if (e) return nearest(e, (at) => at === page || scrolls(at)) ?? page;
  if (!page || page.scrollHeight > page.clientHeight + 1) return page;
  const middle = elementAt(innerWidth / 2, innerHeight / 2);
  return (middle && nearest(middle, scrolls)) ?? page;
}

/** @param {Parameters<import('./engine').Engine['scroll']>[0]} args @returns {ReturnType<import('./engine').Engine['scroll']>} */
function scrollArea({target, to, by_y}) {
  const e = target === undefined ? null : locate(target);
  const area = areaOf(e);
  if (!area) throw new Refusal('not_found', 'there is nothing to scroll');
  const before = area.scrollTop;
  if (e && to === undefined && by_y === undefined) align(e, 'center');
  else {
    const top = to === 'top' ? 0 : to === 'bottom' ? area.scrollHeight : before + (by_y ?? area.clientHeight * 0.9);
    area.scrollTo({top, behavior: 'instant'});
  }
  return {
    moved: Math.round(area.scrollTop - before),
    at_top: area.scrollTop <= 0,
    at_bottom: area.scrollTop + area.clientHeight >= area.scrollHeight - 1,
    area: area === document.scrollingElement || area === rootNow() ? 'page' : describeHit(area),
  };
}
