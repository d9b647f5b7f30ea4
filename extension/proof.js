/**
 * The proof of a pairing (PROTOCOL.md, *Handshake*): the host proves first, then the extension. The key is HKDF material
 * that WebCrypto gives nobody back.
 */
import {LABEL} from './protocol.js';

/**
 * @typedef {object} Handshake what a proof covers, as it crossed the wire
 * @property {string} profile
 * @property {string} origin chrome-extension://<id>
 * @property {string} address 127.0.0.1:<port>, as this side knows it by itself
 * @property {string} instance
 * @property {number[]} offered
 * @property {number} chosen
 * @property {Uint8Array} nonceC the extension's
 * @property {Uint8Array} nonceS the host's
 */

const utf8 = new TextEncoder();

/** @param {Handshake} h */
export function transcript({profile, origin, address, instance, offered, chosen, nonceC, nonceS}) {
  const texts = [LABEL, profile, origin, address, instance, offered.join(','), String(chosen)];
  const fields = [...texts.map((text) => utf8.encode(text)), nonceC, nonceS];
  return concat(...fields.flatMap((field) => [u32(field.length), field]));
}

/**
 * Whether the host's proof is right, compared in constant time.
 *
 * @param {CryptoKey} key
 * @param {Handshake} handshake
 * @param {Uint8Array<ArrayBuffer>} proof
 */
export async function verifyHost(key, handshake, proof) {
  const mac = await derive(key, 'server-proof', 'verify');
  return crypto.subtle.verify('HMAC', mac, proof, concat(utf8.encode('S\0'), transcript(handshake)));
}

/**
 * The extension's proof, which also covers the host's.
 *
 * @param {CryptoKey} key
 * @param {Handshake} handshake
 * @param {Uint8Array} hostProof
 */
export async function prove(key, handshake, hostProof) {
  const mac = await derive(key, 'client-proof', 'sign');
  return new Uint8Array(await crypto.subtle.sign('HMAC', mac, concat(utf8.encode('C\0'), transcript(handshake), hostProof)));
}

/** @param {Uint8Array<ArrayBuffer>} bytes */
export const importKey = (bytes) => crypto.subtle.importKey('raw', bytes, 'HKDF', false, ['deriveKey']);

/** @param {CryptoKey} key @param {string} role @param {'sign' | 'verify'} use */
const derive = (key, role, use) => crypto.subtle.deriveKey(
  {name: 'HKDF', hash: 'SHA-256', salt: new Uint8Array(), info: utf8.encode(`${LABEL} ${role}`)},
  key, {name: 'HMAC', hash: 'SHA-256', length: 256}, false, [use]);

/** base64url without padding, the only spelling of bytes on the wire. @param {Uint8Array} bytes */
export const encodeBytes = (bytes) => btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');

/**
 * Exactly `size` bytes, or undefined; any other spelling of them is refused.
 *
 * @param {unknown} text
 * @param {number} size
 */
export function decodeBytes(text, size) {
  if (typeof text !== 'string' || !/^[\w-]*$/.test(text) || text.length !== Math.ceil(size * 4 / 3)) return undefined;
  const bytes = Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));
  return encodeBytes(bytes) === text ? bytes : undefined;
}

/** @param {Uint8Array[]} parts */
export function concat(...parts) {
  const whole = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}

/** @param {number} n */
const u32 = (n) => new Uint8Array([n >>> 24, n >>> 16, n >>> 8, n]);
