// What an act changed, as lines of the snapshot that came and went.

/** What stood when the act began. */
const baseline = {
  near: false, // a huge page: only what is on screen is compared
  after: '', // stamp() when lines were taken by delta
  /** @type {string[]} */
  lines: [],
  mutations: 0,
  /** @type {Record<string, number>} */
  counts: {},
  held: false,
};

/** Elements of a page whose whole tree would cost an act seconds. */
const hugePage = 50_000;

/** Changes when anything may have changed that shows in the lines. */
const stamp = () => `${mutations.now()} ${trusted.seq} ${trusted.lastScroll} ${innerWidth} ${innerHeight} ${document.visibilityState} ${document.readyState}`;

function begin() {
  if (!baseline.held) {
    baseline.held = true;
    mutations.hold();
  }
  const now = mutations.now();
  // What stood after the last act stands still when nothing has happened since: no second walk.
  if (baseline.after !== stamp()) {
    baseline.near = queryAll(document, '*').length > hugePage;
    baseline.lines = buildTree({}, baseline.near).lines.map(({t}) => t);
  }
  baseline.mutations = now;
  baseline.counts = {...trusted.counts};
  return {};
}

/** @param {{max: number}} args */
function delta({max}) {
  const before = baseline.lines;
  const after = buildTree({}, baseline.near).lines.map(({t}) => t);
  baseline.lines = after;
  baseline.after = stamp();
  // Most of a page stays: cut what both share at both ends, then compare the rest as bags of lines.
  let from = 0;
  while (from < before.length && from < after.length && before[from] === after[from]) from++;
  let end = 0;
  while (end < before.length - from && end < after.length - from && before[before.length - 1 - end] === after[after.length - 1 - end]) end++;
  const old = before.slice(from, before.length - end);
  const now = after.slice(from, after.length - end);
  /** @type {Map<string, number>} */
  const bag = new Map();
  for (const line of old) bag.set(line, (bag.get(line) ?? 0) + 1);
  /** @type {string[]} */
  const came = [];
  for (const line of now) {
    const count = bag.get(line) ?? 0;
    if (count > 0) bag.set(line, count - 1);
    else came.push(line);
  }
  /** @type {string[]} */
  const went = [];
  for (const line of old) {
    const count = bag.get(line) ?? 0;
    if (count > 0) {
      bag.set(line, count - 1);
      went.push(line);
    }
  }
  let text = '';
  let more = 0;
  for (const line of [...came.map((line) => `+ ${line.slice(2)}`), ...went.map((line) => `− ${line.slice(2)}`)]) {
    if (more === 0 && text.length + line.length + 1 <= max) text += (text && '\n') + line;
    else more++;
  }
  return {text, more};
}
