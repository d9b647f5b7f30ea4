/** The vectors that Go and this side both run: protocol/testdata/README.md says what each file holds. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

const area = {get: async () => ({}), set: async () => {}};
globalThis.chrome = /** @type {any} */ ({storage: {local: area, session: area}}); // state.js names it, nothing here uses it

const {METHODS, checkCDP, isTarget} = await import('../../extension/cdp.js');
const {ARGS, BODY, EVENTS, HEADERS, TEXT, WORD, slim} = await import('../../extension/events.js');
const {parseManualCode} = await import('../../extension/pairing.js');
const {decodeBytes, encodeBytes, importKey, prove, transcript, verifyHost} = await import('../../extension/proof.js');
const {ANSWERS, CLOSE_CODES, INCOMING, Joiner, decode, encode, shaped, split} = await import('../../extension/protocol.js');

const folder = path.resolve(import.meta.dirname, '../../protocol/testdata/vectors');
const read = (name) => JSON.parse(fs.readFileSync(path.join(folder, `${name}.json`), 'utf8'));

/** Runs every vector of a file; `run` answers the value or throws a Fault. */
function vectors(name, run, skip = () => false) {
  test(`vectors: ${name}`, async () => {
    let bad = 0;
    for (const vector of read(name)) {
      if (vector.host_only || skip(vector)) continue; // host_only: what JSON.parse does not tell apart
      const {comment, expect, value} = vector;
      let got;
      let code = 'ok';
      try {
        got = await run(vector);
      } catch (error) {
        code = error.code ?? `not a Fault: ${error.stack}`;
      }
      assert.equal(code, expect, comment);
      if (expect !== 'ok') bad++;
      else if (value !== undefined) assert.deepEqual(got, value, comment);
    }
    assert.ok(bad > 0, 'no bad vector was run');
  });
}

/** @param {string} code @param {unknown} value */
const orElse = (value, code) => value === undefined || value === false ? assertFault(code) : value;
const assertFault = (code) => { throw Object.assign(new Error(code), {code}); };
const hex = (bytes) => Buffer.from(bytes).toString('hex');

vectors('frames', ({wire}) => {
  const message = decode(wire);
  assert.deepEqual(decode(encode(message)), message);
  return {kind: 'method' in message ? 'id' in message ? 'call' : 'note' : 'answer', ...message};
});

vectors('messages', ({wire, method, part}) => {
  const shape = part === 'params' ? INCOMING[method] : ANSWERS[method];
  return shaped(JSON.parse(wire), shape);
}, ({method, part}) => !(part === 'params' ? INCOMING : ANSWERS)[method]); // the others are what this side sends

vectors('chunks', ({wire}) => {
  const joiner = new Joiner();
  return wire.map((chunk) => joiner.add(chunk)).filter((text) => text !== undefined);
});

vectors('bytes', ({wire, size}) => hex(orElse(decodeBytes(wire, size), 'bad_message')));

vectors('manual', async ({wire}) => {
  const {profile, key} = await parseManualCode(wire);
  return {profile, key: encodeBytes(key)};
});

vectors('urls', ({wire}) => { orElse(isTarget(wire), 'scheme_refused'); });

vectors('cdp_check', ({wire: {method, params, act = false}}) => checkCDP(method, params, act));

vectors('events_slim', ({wire: {method, params}}) => orElse(slim(method, params), 'dropped'));

vectors('proof', async ({wire, value}) => {
  const bytes = (text) => decodeBytes(text, 32);
  const key = await importKey(bytes(wire.key));
  const handshake = {...wire, address: wire.addr, nonceC: bytes(wire.nonce_c), nonceS: bytes(wire.nonce_s)};
  const good = await verifyHost(key, handshake, bytes(value.server_proof));
  assert.equal(await verifyHost(key, handshake, bytes(value.client_proof)), false, 'a proof that is sent back');
  orElse(good, 'auth_failed');
  return {transcript: hex(transcript(handshake)), server_proof: value.server_proof, client_proof: encodeBytes(await prove(key, handshake, bytes(value.server_proof)))};
});

// The tables are written twice; both sides hold theirs to the same files.

test('the CDP allow-list is the one of Go', () => {
  assert.deepEqual(Object.entries(METHODS).map(([method, row]) => ({method, ...row})), read('cdp'));
});

test('the list of forwarded events is the one of Go', () => {
  const events = Object.entries(EVENTS).map(([method, row]) => ({method, ...row}));
  assert.deepEqual({events, headers: HEADERS, text: TEXT, body: BODY, args: ARGS, word: WORD}, read('events'));
});

test('the messages of a host, and the close codes, are those of Go', () => {
  const names = read('methods').filter(({from}) => from !== 'extension').map(({name}) => name);
  assert.deepEqual(Object.keys(INCOMING).sort(), names.sort());
  assert.deepEqual(CLOSE_CODES, read('codes').close);
});

test('every error code of the worker stands in the table of codes', () => {
  const known = new Set(read('codes').codes.map(({code}) => code));
  const folder = path.resolve(import.meta.dirname, '../../extension');
  const used = fs.readdirSync(folder).filter((name) => name.endsWith('.js'))
    .flatMap((name) => [...fs.readFileSync(path.join(folder, name), 'utf8').matchAll(/new Fault\('(\w+)'/g)].map(([, code]) => code));
  assert.ok(used.length > 30);
  assert.deepEqual(used.filter((code) => !known.has(code)), []);
});

test('a text in pieces is the same text, and no pair is torn', () => {
  const text = JSON.stringify({a: '𝄞'.repeat(300_000)});
  const joiner = new Joiner();
  const chunks = split(7, text);
  assert.ok(chunks.every(({data}) => data.isWellFormed()));
  assert.equal(chunks.map((chunk) => joiner.add(chunk)).at(-1), text);
});
