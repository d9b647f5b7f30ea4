/**
 * The mirror of the record: the heads of its files, which its writer cannot change here, and the last rows for the panel.
 * A host is shown what is kept of its rows soon after it sent them: it stores that for `tabvalet audit verify`.
 *
 * @import {Head, Rows} from '../protocol/protocol.js'
 */
import {tell} from './links.js';
import {kept, save, session} from './state.js';

const FILES = 200;
const ROWS = 200;
const SHOW_MS = 800;
const SAVE_MS = 150;

/** Files of which a host was not shown the present head. @type {Map<string, Set<string>>} by instance */
const unshown = new Map();
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let saving;

/** audit.rows: a head only ever moves on. @param {string} instance @param {Rows} rows */
export function keepRows(instance, {file, rows}) {
  const head = kept.heads[file];
  const fresh = rows.filter(({seq}) => seq > (head?.seq ?? -1));
  const last = fresh.at(-1);
  if (!last) return;
  kept.heads[file] = {seq: last.seq, hash: last.hash};
  for (const old of Object.keys(kept.heads).slice(0, -FILES)) delete kept.heads[old];
  session.rows = [...session.rows, ...fresh.map(({seq, row}) => ({file, seq, row}))].slice(-ROWS);
  saving ??= setTimeout(saveRows, SAVE_MS); // an act is on its way behind its row: to write now would make it wait
  unshown.set(instance, (unshown.get(instance) ?? new Set()).add(file));
  if (/** @type {{kind?: unknown}} */ (last.row).kind === 'close') { // the host is about to go
    saveRows();
    showHeads(instance);
  } else timer ??= setTimeout(showAll, SHOW_MS);
}

function saveRows() {
  clearTimeout(saving);
  saving = undefined;
  save('heads', 'rows');
}

function showAll() {
  timer = undefined;
  for (const instance of [...unshown.keys()]) showHeads(instance);
}

/** Shows a host the heads that have moved since it was shown any. @param {string} instance */
export function showHeads(instance) {
  const files = unshown.get(instance);
  unshown.delete(instance);
  if (files) tell(instance, 'audit.mirror', {heads: heads().filter(({file}) => files.has(file))});
}

/** @returns {Head[]} */
export const heads = () => Object.entries(kept.heads).map(([file, {seq, hash}]) => ({file, seq, hash}));
