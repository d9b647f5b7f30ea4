/**
 * The mirror of the record: the heads of its files, which its writer cannot change here, and the last rows for the panel.
 *
 * @import {Head, Rows} from '../protocol/protocol.js'
 */
import {kept, save, session} from './state.js';

const FILES = 200;
const ROWS = 200;

/** audit.rows: a head only ever moves on. @param {Rows} rows */
export function keepRows({file, rows}) {
  const head = kept.heads[file];
  const fresh = rows.filter(({seq}) => seq > (head?.seq ?? -1));
  const last = fresh.at(-1);
  if (!last) return;
  kept.heads[file] = {seq: last.seq, hash: last.hash};
  for (const old of Object.keys(kept.heads).slice(0, -FILES)) delete kept.heads[old];
  session.rows = [...session.rows, ...fresh.map(({seq, row}) => ({file, seq, row}))].slice(-ROWS);
  save('heads', 'rows');
}

/** @returns {Head[]} */
export const heads = () => Object.entries(kept.heads).map(([file, {seq, hash}]) => ({file, seq, hash}));
