/**
 * The wire as PROTOCOL.md has it: frames, chunks and the shapes of what a host may send. What comes off a socket is
 * `unknown` until it has passed here.
 *
 * @import {Chunk} from '../protocol/protocol.js'
 */
import {Fault, wire} from './errors.js';

export const VERSION = 1;
export const LABEL = 'tabvalet/1';
export const SUBPROTOCOL = 'tabvalet.1';
export const LINK_PATH = '/tabvalet/1';
export const NATIVE_NAME = 'io.tabvalet.host';

export const MAX_HANDSHAKE_FRAME = 4 << 10;
export const MAX_FRAME = 1 << 20;
export const MAX_MESSAGE = 64 << 20;
export const MAX_IN_FLIGHT = 64;
const MAX_DEPTH = 64;
const MAX_OPEN_CHUNKS = 16;
const CHUNK = 256 << 10; // UTF-16 units: at most 3 bytes each

export const HANDSHAKE_MS = 3000; // per step
export const HEARTBEAT_MS = 15_000;
export const DEAD_MS = 35_000;
export const VERDICT_MS = 2500;
export const RECONNECT_MIN_MS = 250;
export const RECONNECT_MAX_MS = 10_000;

/** Close codes of the link: what each stands for. */
export const CLOSE_CODES = /** @type {Record<number, string>} */ ({
  1009: 'too_large', 4400: 'bad_message', 4401: 'auth_failed', 4403: 'not_permitted', 4408: 'timeout', 4409: 'superseded',
  4410: 'rotated', 4426: 'version_unsupported', 4429: 'rate_limited', 4503: 'shutting_down',
});

/**
 * @typedef {{id: number, method: string, params: object}} Call
 * @typedef {{method: string, params: object}} Note
 * @typedef {{id: number, result: object}} Result
 * @typedef {{id: number, error: {code: string, message: string, data?: Record<string, unknown>}}} Refusal
 */

/**
 * Reads one frame, or throws bad_message.
 *
 * @param {unknown} data
 * @returns {Call | Note | Result | Refusal}
 */
export function decode(data) {
  if (typeof data !== 'string') throw bad('a frame that is not text');
  if (tooDeep(data)) throw bad(`nested deeper than ${MAX_DEPTH}`);
  let frame;
  try {
    frame = JSON.parse(data);
  } catch {
    throw bad('not JSON');
  }
  if (!data.isWellFormed() || (SURROGATE.test(data) && JSON.stringify(frame).search(LONE) >= 0)) throw bad('a lone surrogate');
  const isCall = isObject(frame) && 'method' in frame;
  const shape = isCall ? CALL : isObject(frame) && 'error' in frame ? REFUSAL : RESULT;
  const {jsonrpc, ...message} = shaped(frame, shape, 'bad_message');
  if ('id' in message && message.id < 1) throw bad('an id is an integer from 1');
  return /** @type {any} */ (message); // what the shape has just checked
}

/**
 * Writes one message. Half a surrogate pair, which a page may put into any text, would end the link: it becomes U+FFFD.
 *
 * @param {Call | Note | Result | Refusal} message
 */
export function encode(message) {
  const text = JSON.stringify({jsonrpc: '2.0', ...message});
  return SURROGATE.test(text) ? text.replace(LONE, '$1\\ufffd') : text;
}

/** @param {number} id @param {unknown} error @returns {Refusal} */
export const refusal = (id, error) => ({id, error: wire(error)});

/**
 * Whether a text fits one frame. A UTF-16 unit is at most three bytes, so that most texts need not be encoded to tell.
 *
 * @param {string} text
 */
export const fits = (text) => text.length * 3 <= MAX_FRAME || (text.length <= MAX_FRAME && new TextEncoder().encode(text).length <= MAX_FRAME);

/**
 * Cuts a text that does not fit into chunks, never between the halves of a surrogate pair.
 *
 * @param {number} id
 * @param {string} text
 * @returns {Chunk[]}
 */
export function split(id, text) {
  const chunks = [];
  for (let start = 0, seq = 0; start < text.length; seq++) {
    let end = Math.min(start + CHUNK, text.length);
    if (end < text.length && (text.charCodeAt(end - 1) & 0xfc00) === 0xd800) end--;
    chunks.push({id, seq, last: end === text.length, data: text.slice(start, end)});
    start = end;
  }
  return chunks;
}

/** Puts the chunks of one direction together. */
export class Joiner {
  /** @type {Map<number, string[]>} */
  #open = new Map();
  #size = 0;

  /**
   * @param {unknown} params
   * @returns {string | undefined} the whole text with its last piece
   */
  add(params) {
    const {id, seq, last, data} = shaped(params, {id: 'int', seq: 'int', last: 'boolean', data: 'string'}, 'bad_message');
    const pieces = this.#open.get(id) ?? [];
    if (id < 1 || data === '' || seq !== pieces.length) throw bad('a chunk out of order');
    if (seq === 0 && this.#open.size === MAX_OPEN_CHUNKS) throw bad('too many messages in pieces');
    if ((this.#size += data.length) > MAX_MESSAGE) throw new Fault('too_large', 'chunks over the limit');
    pieces.push(data);
    this.#open.set(id, pieces);
    if (!last) return undefined;
    this.#open.delete(id);
    const text = pieces.join('');
    this.#size -= text.length;
    return text;
  }
}

// Shapes. A member is a kind ('?' behind it: may be absent), a list of allowed words, {list: shape}, or a shape; '*' lets
// other members pass.

/** @typedef {string | string[] | {[member: string]: Shape}} Shape */

const CALL = {jsonrpc: ['2.0'], id: 'int?', method: 'name', params: 'object'};
const RESULT = {jsonrpc: ['2.0'], id: 'int', result: 'object'};
const REFUSAL = {jsonrpc: ['2.0'], id: 'int', error: {code: 'name', message: 'string', data: 'object?'}};
const WORDS = {list: 'string'};
const PROMPT = {
  id: 'string', tab: 'int', kind: ['navigate', 'submit', 'read', 'upload', 'download', 'publish', 'script', 'popup'],
  site: 'string', destination: 'string', method: 'string', control: 'string', fields: WORDS, announced: 'boolean',
  choices: {list: ['once', 'ten_minutes', 'while_shared', 'no']}, expires_ms: 'int',
};
const HOST = {name: 'string', executable: 'string', parent: 'string', pid: 'int', version: 'string', extension: 'string'};

/** What a host may ask for and tell. @type {Record<string, Shape>} */
export const INCOMING = {
  ping: {},
  'agent.paused': {paused: 'boolean'},
  chunk: {id: 'int', seq: 'int', last: 'boolean', data: 'string'},
  'cdp.send': {tab: 'int', session: 'string?', method: 'string', params: 'object', act: 'boolean?'},
  verdict: {tab: 'int', session: 'string?', request: 'string', action: ['continue', 'refuse', 'fail', 'arrive']},
  'tab.open': {url: 'string', lease: 'string', beside: 'int'},
  'tab.close': {tab: 'int'},
  'lease.end': {tab: 'int', close: 'boolean'},
  'lease.update': {tab: 'int', frozen: 'boolean', grants: WORDS},
  'prompt.show': PROMPT,
  'prompt.withdraw': {id: 'string'},
  'audit.rows': {file: 'string', rows: {list: {seq: 'int', hash: 'string', row: 'object'}}},
};

/** What a host answers. @type {Record<string, Shape>} */
export const ANSWERS = {
  hello: {version: 'int', nonce: 'string', instance: 'string', proof: 'string'},
  prove: {host: HOST, heartbeat_ms: 'int'},
  'lease.reconcile': {keep: {list: 'int'}},
  'approval.get': {
    id: 'string', host: HOST, reason: 'string', url: 'string', access: ['read', 'act', 'submit'], expires_ms: 'int',
    sealed: 'boolean', loosened: WORDS,
  },
  'lease.offer': {lease: 'string'},
};

/**
 * The value, if it has exactly that shape; else throws.
 *
 * @param {unknown} value
 * @param {Shape} shape
 * @param {string} [code]
 * @returns {any} typed by whoever named the shape
 */
export function shaped(value, shape, code = 'bad_params') {
  const wrong = mismatch(value, shape, '');
  if (wrong !== undefined) throw new Fault(code, wrong);
  return value;
}

/** @param {unknown} value @param {Shape} shape @param {string} at @returns {string | undefined} */
function mismatch(value, shape, at) {
  if (typeof shape === 'string') return isKind(value, shape) ? undefined : `${at || 'the value'} is no ${shape.replace('?', '')}`;
  if (Array.isArray(shape)) return shape.includes(/** @type {string} */ (value)) ? undefined : `${at} is none of ${shape.join(', ')}`;
  if ('list' in shape) {
    if (!Array.isArray(value)) return `${at} is no list`;
    return value.map((item, i) => mismatch(item, /** @type {Shape} */ (shape.list), `${at}[${i}]`)).find((wrong) => wrong !== undefined);
  }
  if (!isObject(value)) return `${at || 'the value'} is no object`;
  for (const name of Object.keys(value)) if (!Object.hasOwn(shape, name) && !('*' in shape)) return `an unknown member ${name.slice(0, 40)}`;
  for (const [name, member] of Object.entries(shape)) {
    if (name === '*') continue;
    if (!Object.hasOwn(value, name)) {
      if (typeof member === 'string' && member.endsWith('?')) continue;
      return `no ${name}`;
    }
    const wrong = mismatch(value[name], member, name);
    if (wrong !== undefined) return wrong;
  }
  return undefined;
}

/** @param {unknown} value @param {string} kind */
function isKind(value, kind) {
  switch (kind.replace('?', '')) {
    case 'int': return Number.isSafeInteger(value);
    case 'name': return typeof value === 'string' && value !== '';
    case 'object': return isObject(value);
    case 'int|null': return value === null || Number.isSafeInteger(value);
    default: return typeof value === kind.replace('?', '');
  }
}

/** @param {unknown} value @returns {value is Record<string, unknown>} */
export const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** @param {string} message */
const bad = (message) => new Fault('bad_message', message);

const SURROGATE = /\\ud[89a-f]/i;

/** In what JSON.stringify writes, only a lone surrogate is still an escape. */
const LONE = /(?<!\\)((?:\\\\)*)\\ud[89a-f][\da-f]{2}/gi;

/**
 * Counts brackets outside strings; a string is skipped as a whole, so that an image costs nothing.
 *
 * @param {string} text
 */
export function tooDeep(text) {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text.charCodeAt(i);
    if (c === 34) {
      do {
        i = text.indexOf('"', i + 1);
        if (i < 0) return false; // no JSON
      } while (escaped(text, i));
    } else if (c === 91 || c === 123) {
      if (++depth > MAX_DEPTH) return true;
    } else if (c === 93 || c === 125) depth--;
  }
  return false;
}

/** @param {string} text @param {number} quote */
function escaped(text, quote) {
  let start = quote;
  while (text.charCodeAt(start - 1) === 92) start--;
  return (quote - start) % 2 === 1;
}
