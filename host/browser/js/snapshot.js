// Snapshots: a tree is serialised once, bounded, and paged from that capture.

/** @type {Map<number, Line[]>} */
const captures = new Map();
let captureCount = 0;

/** @param {Line[]} lines */
const charsOf = (lines) => {
  let chars = 0;
  for (const line of lines) chars += 2 * line.d + line.t.length + 1;
  return chars;
};

/** Builds the lines of a subtree. @param {import('./engine').SnapshotArgs} args @param {boolean} [near] see Tree */
function buildTree(args, near = false) {
  const tree = new Tree(args, near);
  const root = args.target ? locate(args.target) : rootNow();
  if (root) tree.build(root, root === rootNow() ? null : viewAlone(root));
  return tree;
}

/** @param {import('./engine').SnapshotArgs} args @returns {import('./engine').Snapshot} */
function takeSnapshot(args) {
  const tree = buildTree(args);
  const {lines} = tree;
  const capture = ++captureCount;
  captures.set(capture, lines);
  captures.delete(capture - 4);
  const chars = charsOf(lines);
  const scroller = document.scrollingElement ?? rootNow();
  const max = args.max_chars ?? 400_000;
  const active = tree.active && lines.find((line) => line.e === tree.active)?.r;
  for (const line of lines) line.e = undefined; // a capture keeps no element alive
  return {
    lines: (chars > max ? outline(lines, max) : lines).map(plainLine),
    capture,
    total: lines.length,
    chars,
    hidden_text: tree.hidden,
    unbound: tree.unbound,
    scroll: {
      x: Math.round(scroller?.scrollLeft ?? 0), y: Math.round(scroller?.scrollTop ?? 0), width: scroller?.scrollWidth ?? 0, height: scroller?.scrollHeight ?? 0,
      view_width: innerWidth, view_height: innerHeight,
    },
    ...(active && {active}),
  };
}

/** @param {Line} line @returns {import('./engine').SnapshotLine} */
function plainLine({d, t, r, v, h, f, o, i}) {
  /** @type {import('./engine').SnapshotLine} */
  const line = {d, t};
  if (r) line.r = r;
  if (v) line.v = v;
  if (h) line.h = h;
  if (f !== undefined) line.f = f;
  if (o) line.o = o;
  if (i !== undefined) line.i = i;
  return line;
}

/**
 * What is on screen in full with the lines it stands under, of the rest the headings and landmarks while there is room.
 * @param {Line[]} lines @param {number} max @returns {Line[]}
 */
function outline(lines, max) {
  const keep = new Uint8Array(lines.length);
  let room = max;
  /** @type {number[]} */
  const path = []; // indexes of the lines above, by depth
  /** @param {number} i */
  const take = (i) => {
    const line = /** @type {Line} */ (lines[i]);
    for (let d = 0; d <= line.d; d++) {
      const at = d === line.d ? i : /** @type {number} */ (path[d]);
      if (at === undefined || keep[at]) continue;
      keep[at] = 1;
      const kept = /** @type {Line} */ (lines[at]);
      room -= 2 * kept.d + kept.t.length + 1;
    }
  };
  for (const wanted of /** @type {const} */ (['v', 'h'])) {
    path.length = 0;
    for (let i = 0; i < lines.length && room > 0; i++) {
      const line = /** @type {Line} */ (lines[i]);
      path[line.d] = i;
      path.length = line.d + 1;
      if (line[wanted]) take(i);
      else if (line.t.startsWith('- /') && keep[i - 1]) keep[i] = 1;
    }
  }
  /** @type {Line[]} */
  const out = [];
  for (let i = 0; i < lines.length; i++) {
    const line = /** @type {Line} */ (lines[i]);
    if (keep[i]) {
      out.push(line);
      continue;
    }
    const from = i;
    let depth = line.d;
    /** @type {Record<string, number>} */
    const roles = {};
    for (; i < lines.length && !keep[i]; i++) {
      const left = /** @type {Line} */ (lines[i]);
      depth = Math.min(depth, left.d);
      if (left.role && (widgetRoles.has(left.role) || left.role === 'row' || left.role === 'listitem' || left.role === 'heading')) roles[left.role] = (roles[left.role] ?? 0) + 1;
    }
    const counts = Object.entries(roles).sort((a, b) => b[1] - a[1]).slice(0, 4).map(([role, n]) => `${n} ${role}${n > 1 ? 's' : ''}`).join(', ');
    out.push({d: depth, t: `- … ${i - from} lines left out${counts ? ` (${counts})` : ''}`, o: i - from, i: from});
    i--;
  }
  return out;
}

/** @param {import('./engine').WindowArgs} args @returns {import('./engine').SnapshotWindow} */
function snapshotWindow({capture, from, max_chars}) {
  const lines = captures.get(capture);
  if (!lines) throw new Refusal('stale_ref', 'that snapshot is no longer kept; take a new one');
  let to = from;
  for (let room = max_chars; to < lines.length; to++) {
    const line = /** @type {Line} */ (lines[to]);
    room -= 2 * line.d + line.t.length + 1;
    if (room < 0 && to > from) break;
  }
  return {lines: lines.slice(from, to).map(plainLine), ...(to < lines.length && {next: to}), total: lines.length};
}
