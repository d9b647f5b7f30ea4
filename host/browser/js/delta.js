// What an act changed, as lines of the snapshot that came and went.

/** What stood when the act began. */
const baseline = {
  near: false, // a huge page: only what is on screen is compared
  /** @type {string[]} */
  lines: [],
  /** The lines that were taken last, and stamp() then. @type {{stamp: string, lines: string[]}} */
  last: {stamp: '', lines: []},
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
  if (baseline.last.stamp !== stamp()) {
    baseline.near = queryAll(document, '*').length > hugePage;
    takeLines();
  }
  baseline.lines = baseline.last.lines;
  baseline.mutations = now;
  baseline.counts = {...trusted.counts};
  return {};
}

function takeLines() {
  const lines = buildTree({}, baseline.near).lines.map(({t}) => t);
  baseline.last = {stamp: stamp(), lines};
  return lines;
}

/** Elements of a page that is walked within a check. */
const lightPage = 5000;

/** A check that begins the act as well, where that costs little. @param {import('./engine').CheckArgs} args */
async function checkAndBegin(args) {
  const checked = await check(args);
  if (!args.begin || queryAll(document, '*').length > lightPage) return checked;
  begin();
  return {...checked, begun: true};
}

/** Fills, and tells what that changed once the page has had its turn. @param {import('./engine').FillArgs} args */
async function fillAndTell({max, ...args}) {
  const filled = fill(args);
  if (max === undefined || !filled.matches) return filled;
  await nextTask();
  return {...filled, delta: delta({max})};
}

/** May be asked again: it compares with what stood at begin. @param {{max: number}} args */
function delta({max}) {
  const before = baseline.lines;
  const after = takeLines();
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
