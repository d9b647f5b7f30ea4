/**
 * The conversations of protocol/testdata/sessions, with the real link at the extension's end: this side plays the host. What
 * the extension says of its own accord is said through the link as the session has it; what comes out must be that frame.
 */
import assert from 'node:assert/strict';
import {createHmac, hkdfSync} from 'node:crypto';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';
import {ID} from './fake/chrome.js';

const folder = path.resolve(import.meta.dirname, '../../protocol/testdata/sessions');
const KEY = new Uint8Array(32).fill(7);
const PORT = 47_811;
const b64 = (bytes) => Buffer.from(bytes).toString('base64url');
const given = {PROFILE: b64(Buffer.alloc(16, 1)), INSTANCE: b64(Buffer.alloc(16, 2)), NONCE_S: b64(Buffer.alloc(32, 3))};
const HOST = {name: 'Claude Code', executable: '', parent: '', pid: 1, version: '0.1.0', extension: '0.1.0'};

const area = {get: async () => ({}), set: async () => {}};
globalThis.chrome = /** @type {any} */ ({storage: {local: area, session: area}, runtime: {id: ID, getManifest: () => ({version: '0.1.0'})}});
const key = await crypto.subtle.importKey('raw', KEY, 'HKDF', false, ['deriveKey']);
globalThis.indexedDB = /** @type {any} */ ({open() {
  const opening = {result: {close() {}, transaction() {
    const transaction = {objectStore: () => ({get: () => ({result: key})})};
    setImmediate(() => transaction.oncomplete());
    return transaction;
  }}};
  setImmediate(() => opening.onsuccess());
  return opening;
}});
const {Link} = await import('../../extension/link.js');
const {kept} = await import('../../extension/state.js');
kept.pairing = {profile: given.PROFILE, label: '', epoch: 1, manual: false, renew: false};

/** The socket of memory; frames and closes of the extension queue up in `out`. */
class Socket {
  static OPEN = 1;
  static last;
  readyState = 0;
  out = [];
  listeners = {open: [], close: []};
  constructor() {
    Socket.last = this;
    setImmediate(() => { this.readyState = 1; this.listeners.open.forEach((listener) => listener()); });
  }
  addEventListener(name, listener) { this.listeners[name].push(listener); }
  send(text) { this.out.push(text); }
  close(code, reason) { this.out.push(`${code} ${reason}`); this.readyState = 3; }
  break(code) { this.readyState = 3; this.onclose({code}); this.listeners.close.forEach((listener) => listener()); }
  async next() {
    for (let turns = 0; this.out.length === 0; turns++) {
      assert.ok(turns < 2000, 'the extension says nothing');
      await new Promise((done) => setTimeout(done, 1));
    }
    return this.out.shift();
  }
}
globalThis.WebSocket = /** @type {any} */ (Socket);

const lp = (...fields) => Buffer.concat(fields.flatMap((field) => {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(Buffer.byteLength(field));
  return [size, Buffer.from(field)];
}));
const mac = (role, ...parts) => {
  const hmac = createHmac('sha256', Buffer.from(hkdfSync('sha256', KEY, '', `tabvalet/1 ${role}`, 32)));
  parts.forEach((part) => hmac.update(part));
  return hmac.digest();
};

/** Sections of a session: [kind, body], and its prose. */
function parse(text) {
  const [prose, ...rest] = text.split(/^-- (.+) --$/m);
  return {prose, sections: Array.from({length: rest.length / 2}, (_, i) => [rest[2 * i].replace(/ \d+$/, ''), rest[2 * i + 1].trim()])};
}

/** What stands for anything in a frame that this side sends. */
const concrete = (value) => {
  if (value === '...') return 'x';
  if (Array.isArray(value)) return value.map(concrete);
  if (typeof value !== 'object' || value === null) return value;
  return value['...'] ? HOST : Object.fromEntries(Object.entries(value).map(([name, member]) => [name, concrete(member)]));
};

async function play({sections}) {
  const names = {...given};
  const said = []; // what the extension heard: calls to answer
  const ended = [];
  const results = new Map();
  const link = new Link(PORT, given.INSTANCE, {
    call: (_, method, params) => new Promise((done, fail) => said.push({method, params, done, fail})),
    note: (_, method, params) => said.push({method, params}),
    closed: (_, code) => ended.push(code),
  });
  link.proved.catch(() => {});
  const socket = Socket.last;
  const fill = (text) => text.replace(/"\$(\w+)"/g, (whole, name) => (name in names ? JSON.stringify(names[name]) : whole));
  let pieces = '';

  const extension = async (body) => {
    let want = JSON.parse(fill(body));
    if (want.method === 'chunk') {
      pieces += want.params.data;
      if (!want.params.last) return;
      want = JSON.parse(pieces); // the real link splits only what is too large; the message is the same
    }
    if (want.method === 'hello') {
      const frame = JSON.parse(await socket.next());
      names.NONCE = frame.params.nonce;
      names.T = lp('tabvalet/1', names.PROFILE, `chrome-extension://${ID}`, `127.0.0.1:${PORT}`, names.INSTANCE, '1', '1',
        Buffer.from(names.NONCE, 'base64url'), Buffer.from(names.NONCE_S, 'base64url'));
      const proof = mac('server-proof', Buffer.from('S\0'), names.T);
      names.HOST_PROOF = b64(proof);
      names.PROOF = b64(mac('client-proof', Buffer.from('C\0'), names.T, proof));
      assert.deepEqual(frame, JSON.parse(fill(body)));
      return;
    }
    if (want.method !== 'prove') {
      await link.proved;
      if (want.method && want.id) results.set(want.id, link.call(want.method, want.params).catch((error) => error));
      else if (want.method) link.note(want.method, want.params);
      else if (said[0]?.done) {
        const {Fault} = await import('../../extension/errors.js');
        const {done, fail} = said.shift();
        if (want.error) fail(new Fault(want.error.code, want.error.message));
        else done(want.result);
      }
    }
    assert.deepEqual(JSON.parse(await socket.next()), want);
  };

  for (const [kind, body] of sections) {
    if (kind === 'extension') await extension(body);
    else if (kind === 'host') {
      const frame = concrete(JSON.parse(fill(body)));
      if (frame.id === 'x') frame.id = 1;
      const before = said.length;
      socket.onmessage({data: JSON.stringify(frame)});
      if (frame.method && frame.method !== 'ping') assert.deepEqual([said[before].method, said[before].params], [frame.method, frame.params]);
      else if (results.has(frame.id)) {
        const result = await results.get(frame.id);
        assert.deepEqual(frame.error ? result.code : result, frame.error ? frame.error.code : frame.result);
      }
    } else if (kind === 'host close') {
      const [code, reason] = body.split(' ');
      socket.break(Number(code));
      await new Promise((done) => setImmediate(done));
      assert.deepEqual(ended, [reason]);
    } else if (kind === 'extension close') assert.equal(await socket.next(), body);
  }
  assert.deepEqual(socket.out, [], 'the extension said more');
  link.close();
}

let played = 0;
for (const file of fs.existsSync(folder) ? fs.readdirSync(folder).filter((name) => name.endsWith('.txtar')) : []) {
  const session = parse(fs.readFileSync(path.join(folder, file), 'utf8'));
  const liesInProof = session.sections.some(([kind, body]) => kind === 'extension' && body.includes('"prove"') && !body.includes('"$PROOF"'));
  if (/^host only/i.test(session.prose) || liesInProof) continue; // no extension of ours says that
  played++;
  test(`session: ${file}`, () => play(session));
}

test('sessions were played', () => assert.ok(played >= 10));
