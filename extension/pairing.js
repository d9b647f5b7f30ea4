/**
 * The secret that this profile and the owner's hosts share, and the native-messaging host, which alone hands it out and
 * says which hosts run. The key goes into WebCrypto at once and into IndexedDB as an object nobody can read.
 */
import {Fault, report, text, wire} from './errors.js';
import {NATIVE_NAME, isObject, shaped} from './protocol.js';
import {decodeBytes, encodeBytes, importKey} from './proof.js';
import {changed, kept, save} from './state.js';

/** @typedef {{instance: string, name: string, pid: number, port: number, started: string, state: string}} Host */
/** @typedef {'ok' | 'missing' | 'forbidden' | 'unknown'} Native */

const LIST_MS = 1500; // how long a list may be shown; each one starts a process
const HOST = {instance: 'name', name: 'string', pid: 'int', port: 'int', started: 'string', state: 'name'};
const LIST = {hosts: {list: HOST}, extension: 'string', profiles: {list: 'string'}};

/** What the native host said last. Losing it costs one more question. */
export const native = {
  /** @type {Native} */ state: 'unknown',
  /** @type {Host[]} */ hosts: [],
  extension: '',
  /** @type {string[]} */ profiles: [],
  asked: 0,
};

/** @type {Promise<void> | undefined} */
let asking;

/**
 * The hosts that run now, by the native host's word. While that cannot be had (native.state), an empty list.
 *
 * @param {boolean} [fresh] do not answer from memory
 */
export async function hosts(fresh = false) {
  if (fresh || Date.now() - native.asked > LIST_MS) {
    asking ??= list().finally(() => { asking = undefined; });
    await asking;
  }
  return native.hosts;
}

async function list() {
  try {
    const answer = shaped(await exchange({type: 'list'}), LIST, 'bad_message');
    Object.assign(native, answer, {state: 'ok'});
  } catch (error) {
    const {code} = wire(error);
    native.state = code === 'native_missing' ? 'missing' : code === 'native_forbidden' ? 'forbidden' : 'unknown';
    native.hosts = [];
    if (native.state === 'unknown') report(error);
  }
  native.asked = Date.now();
}

/** Whether this profile can prove itself, as far as is known. @returns {'none' | 'paired' | 'renew_needed'} */
export function pairingState() {
  if (!kept.pairing) return 'none';
  if (native.state === 'ok' && !kept.pairing.manual && !native.profiles.includes(kept.pairing.profile)) return 'none'; // revoked
  return kept.pairing.renew ? 'renew_needed' : 'paired';
}

/** Pairs this profile, or gives it a new key. Only the owner's click leads here. @param {boolean} renew */
export async function pair(renew) {
  if (renew && !kept.pairing) throw new Fault('not_paired', 'there is no pairing to renew');
  const label = kept.pairing?.label ?? describeBrowser();
  const answer = await exchange(renew ? {type: 'pair', renew: kept.pairing?.profile} : {type: 'pair', label});
  const {profile, key, epoch} = shaped(answer, {profile: 'name', key: 'name', epoch: 'int'}, 'bad_message');
  const bytes = decodeBytes(key, 32);
  if (!bytes || !decodeBytes(profile, 16)) throw new Fault('bad_message', 'the native host sent no key');
  await keep({profile, label, epoch, manual: false, renew: false}, bytes);
  native.asked = 0;
  return profile;
}

/** Pairs by the code of `tabvalet pair --manual`. @param {string} code */
export async function pairManually(code) {
  const {profile, key} = await parseManualCode(code);
  await keep({profile, label: describeBrowser(), epoch: 0, manual: true, renew: false}, key);
  return profile;
}

/** Reads a code as people type it: case, spaces and dashes do not count. @param {string} code */
export async function parseManualCode(code) {
  const bytes = base32(code.replace(/[- \t\r\n]/g, ''));
  if (bytes?.length !== 52) throw new Fault('pairing_code', 'not the length or the letters of a code');
  const body = bytes.slice(0, 48);
  const sum = new Uint8Array(await crypto.subtle.digest('SHA-256', body));
  if (bytes.slice(48).some((byte, i) => byte !== sum[i])) throw new Fault('pairing_code', 'the checksum does not match');
  return {profile: encodeBytes(body.slice(0, 16)), key: body.slice(16)};
}

/** @param {string} letters */
function base32(letters) {
  if (!/^[a-z2-7]*$/i.test(letters)) return undefined;
  const bytes = [];
  let bits = 0;
  let value = 0;
  for (const letter of letters.toUpperCase()) {
    value = (value << 5 | 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'.indexOf(letter)) & 0xfff;
    bits += 5;
    if (bits >= 8) bytes.push(value >>> (bits -= 8) & 0xff);
  }
  return (value & (1 << bits) - 1) === 0 && bits < 5 ? new Uint8Array(bytes) : undefined;
}

export async function forget() {
  kept.pairing = null;
  save('pairing');
  await inKeys('readwrite', (keys) => keys.clear());
}

/** A host has accepted the proof. */
export function proved() {
  if (!kept.pairing?.manual) return;
  kept.pairing.manual = false;
  native.asked = 0;
  save('pairing');
}

/** The pairing's key was replaced or thrown away on the other side; the owner is offered to renew it. */
export function renewNeeded() {
  if (!kept.pairing || kept.pairing.renew) return;
  kept.pairing.renew = true;
  save('pairing');
  changed();
}

/** The key of the pairing. @returns {Promise<CryptoKey>} */
export async function pairingKey() {
  const profile = kept.pairing?.profile;
  const key = profile && await inKeys('readonly', (keys) => keys.get(profile));
  if (!(key instanceof CryptoKey)) throw new Fault('not_paired', 'this profile is not paired');
  return key;
}

/** @param {import('./state.js').Pairing} pairing @param {Uint8Array<ArrayBuffer>} bytes */
async function keep(pairing, bytes) {
  const key = await importKey(bytes);
  bytes.fill(0);
  await inKeys('readwrite', (keys) => {
    keys.clear();
    return keys.put(key, pairing.profile);
  });
  kept.pairing = pairing;
  save('pairing');
  changed();
}

/**
 * One operation on the store of keys.
 *
 * @template T
 * @param {IDBTransactionMode} mode
 * @param {(keys: IDBObjectStore) => IDBRequest<T>} operation
 * @returns {Promise<T>}
 */
function inKeys(mode, operation) {
  return new Promise((done, fail) => {
    const opening = indexedDB.open('tabvalet', 1);
    opening.onupgradeneeded = () => opening.result.createObjectStore('keys');
    opening.onerror = () => fail(opening.error);
    opening.onsuccess = () => {
      const database = opening.result;
      const transaction = database.transaction('keys', mode);
      const request = operation(transaction.objectStore('keys'));
      transaction.oncomplete = () => { database.close(); done(request.result); };
      transaction.onabort = () => { database.close(); fail(transaction.error); };
    };
  });
}

/** One question to the native host: a process of its own. @param {object} message */
async function exchange(message) {
  const answer = await chrome.runtime.sendNativeMessage(NATIVE_NAME, message).catch((/** @type {unknown} */ error) => {
    const [, why = ''] = /(not found|forbidden)/i.exec(text(error)) ?? [];
    throw new Fault(why ? `native_${why === 'forbidden' ? why : 'missing'}` : 'unavailable', text(error));
  });
  if (!isObject(answer) || !('error' in answer)) return answer;
  const {code, message: said, data} = shaped(answer.error, {code: 'name', message: 'string', data: 'object?'}, 'bad_message');
  throw new Fault(code, said, data);
}

/** What the owner will know this profile by: "Chromium on Linux". */
function describeBrowser() {
  /** @type {{brands?: {brand: string}[], platform?: string}} */
  const {brands = [], platform = ''} = /** @type {any} */ (navigator).userAgentData ?? {}; // not in TypeScript's DOM
  const names = brands.map(({brand}) => brand).filter((brand) => !/not.?a.?brand|not[^a-z]/i.test(brand));
  const name = names.find((brand) => brand !== 'Chromium') ?? names[0] ?? 'Chrome';
  return platform ? `${name} on ${platform}` : name;
}
