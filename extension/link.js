/**
 * One authenticated connection to one host: handshake, calls, notes, chunks, heartbeat. It knows nothing of tabs.
 *
 * The host proves itself before the extension does. A link is used once: what closes it ends every call in flight with
 * `transport_lost`, and links.js opens the next one.
 */
import {Fault} from './errors.js';
import {pairingKey} from './pairing.js';
import {decodeBytes, encodeBytes, prove, verifyHost} from './proof.js';
import {
  ANSWERS, CLOSE_CODES, DEAD_MS, HANDSHAKE_MS, HEARTBEAT_MS, INCOMING, Joiner, LINK_PATH, MAX_FRAME, MAX_HANDSHAKE_FRAME,
  MAX_IN_FLIGHT, MAX_MESSAGE, SUBPROTOCOL, VERSION, decode, encode, fits, refusal, shaped, split, tooDeep,
} from './protocol.js';
import {kept} from './state.js';

/**
 * @typedef {object} Hooks
 * @property {(link: Link, method: string, params: any) => Promise<object>} call params have the method's shape
 * @property {(link: Link, method: string, params: any) => void} note
 * @property {(link: Link, code: string) => void} closed once, with the code of PROTOCOL.md
 */

/** @param {string} method */
const shapeOf = (method) => (Object.hasOwn(INCOMING, method) ? INCOMING[method] : undefined);

const CALL_MS = 10_000;
const BEAT_MS = 5000;

export class Link {
  /** The host at the other end, from its own answer. @type {import('../protocol/protocol.js').HostInfo | undefined} */
  host;
  #hooks;
  #socket;
  /** @type {'proving' | 'open' | 'closed'} */
  #state = 'proving';
  #lastId = 0;
  #lastChunk = 0;
  #inFlight = 0;
  #heard = Date.now();
  #pinged = Date.now();
  /** @type {Map<number, {method: string, done: (result: any) => void, fail: (error: Fault) => void}>} */
  #waiting = new Map();
  #joiner = new Joiner();
  /** @type {ReturnType<typeof setInterval> | undefined} */
  #beat;

  /**
   * @param {number} port
   * @param {string} instance as the native host lists it, '' when it is to be learnt from the proof
   * @param {Hooks} hooks
   */
  constructor(port, instance, hooks) {
    this.port = port;
    this.instance = instance;
    this.#hooks = hooks;
    this.#socket = new WebSocket(`ws://127.0.0.1:${port}${LINK_PATH}`, SUBPROTOCOL);
    this.#socket.onmessage = ({data}) => this.#receive(data);
    this.#socket.onclose = ({code}) => this.#end(CLOSE_CODES[code] ?? 'transport_lost');
    /** Settles when both sides have proved themselves. */
    this.proved = this.#handshake();
    this.proved.catch((error) => this.close(error instanceof Fault && error.code === 'auth_failed' ? 4401 : 4400));
  }

  get open() { return this.#state === 'open'; }

  async #handshake() {
    const key = await pairingKey();
    await this.#opened();
    const profile = kept.pairing?.profile ?? '';
    const nonceC = crypto.getRandomValues(new Uint8Array(32));
    const offered = [VERSION];
    const {version: extension} = chrome.runtime.getManifest();
    const hello = await this.#ask('hello', {versions: offered, profile, nonce: encodeBytes(nonceC), extension}, HANDSHAKE_MS);
    const nonceS = decodeBytes(hello.nonce, 32);
    const proof = decodeBytes(hello.proof, 32);
    if (!nonceS || !proof || !decodeBytes(hello.instance, 16)) throw new Fault('bad_message', 'a malformed answer to hello');
    if (!offered.includes(hello.version)) throw new Fault('version_unsupported', 'the host chose a version that was not offered');
    if (this.instance !== '' && hello.instance !== this.instance) throw new Fault('auth_failed', 'another host answers at this port');
    const handshake = {
      profile, origin: `chrome-extension://${chrome.runtime.id}`, address: `127.0.0.1:${this.port}`, instance: hello.instance,
      offered, chosen: hello.version, nonceC, nonceS,
    };
    if (!await verifyHost(key, handshake, proof)) throw new Fault('auth_failed', 'the host did not prove the pairing');
    const mine = encodeBytes(await prove(key, handshake, proof));
    const ready = await this.#ask('prove', {proof: mine}, HANDSHAKE_MS);
    this.instance = hello.instance;
    this.host = ready.host;
    this.#state = 'open';
    this.#beat = setInterval(() => this.#heartbeat(Math.min(ready.heartbeat_ms, HEARTBEAT_MS)), BEAT_MS);
  }

  #opened() {
    return new Promise((done, fail) => {
      const late = setTimeout(() => fail(new Fault('timeout', 'the host did not answer')), HANDSHAKE_MS);
      const settled = (/** @type {(value?: any) => void} */ then) => () => { clearTimeout(late); then(new Fault('transport_lost', 'no host at this port')); };
      if (this.#socket.readyState === WebSocket.OPEN) settled(done)();
      this.#socket.addEventListener('open', settled(done));
      this.#socket.addEventListener('close', settled(fail));
    });
  }

  /**
   * A call that is answered by the host, or fails with its code, `timeout` or `transport_lost`.
   *
   * @param {string} method
   * @param {object} params
   * @param {number} [ms]
   * @returns {Promise<any>} of the shape that protocol.js gives for the method
   */
  call(method, params, ms = CALL_MS) {
    return this.open ? this.#ask(method, params, ms) : Promise.reject(new Fault('transport_lost', 'the link is closed'));
  }

  /** @param {string} method @param {object} params @param {number} ms @returns {Promise<any>} */
  #ask(method, params, ms) {
    const id = ++this.#lastId;
    return new Promise((done, fail) => {
      const late = setTimeout(() => settle(() => fail(new Fault('timeout', `${method} was not answered`))), ms);
      const settle = (/** @type {() => void} */ then) => {
        clearTimeout(late);
        this.#waiting.delete(id);
        then();
      };
      this.#waiting.set(id, {method, done: (result) => settle(() => done(result)), fail: (error) => settle(() => fail(error))});
      this.#send(encode({id, method, params}));
    });
  }

  /** Tells the host something, at once if the link is open. @param {string} method @param {object} params */
  note(method, params) {
    if (!this.open) return;
    const text = encode({method, params});
    if (!tooDeep(text)) this.#send(text);
  }

  /** @param {number} [code] of CLOSE_CODES; 1000: not needed any more */
  close(code = 1000) {
    this.#socket.close(code, CLOSE_CODES[code] ?? '');
    this.#end(CLOSE_CODES[code] ?? 'transport_lost');
  }

  /** @param {string} code */
  #end(code) {
    if (this.#state === 'closed') return;
    this.#state = 'closed';
    clearInterval(this.#beat);
    for (const {fail} of this.#waiting.values()) fail(new Fault('transport_lost', `the link ended: ${code}`, {close: code}));
    this.#hooks.closed(this, code);
  }

  /** @param {number} every */
  #heartbeat(every) {
    const now = Date.now();
    if (now - this.#heard > DEAD_MS) return this.close(4408);
    if (now - this.#pinged < every) return undefined;
    this.#pinged = now;
    return void this.call('ping', {}, DEAD_MS).catch(() => {}); // only being heard counts
  }

  /** @param {string} text */
  #send(text) {
    if (this.#socket.readyState !== WebSocket.OPEN) return;
    if (fits(text)) this.#socket.send(text);
    else void this.#sendInPieces(text);
  }

  /** Gives small messages a chance between the pieces of a large one. @param {string} text */
  async #sendInPieces(text) {
    for (const chunk of split(++this.#lastChunk, text)) {
      if (this.#socket.readyState !== WebSocket.OPEN) return;
      this.#socket.send(encode({method: 'chunk', params: chunk}));
      await new Promise((done) => setTimeout(done));
    }
  }

  /** @param {unknown} data */
  #receive(data) {
    if (this.#state === 'closed') return;
    this.#heard = Date.now();
    try {
      const limit = this.open ? MAX_FRAME : MAX_HANDSHAKE_FRAME;
      if (typeof data === 'string' && data.length > limit) throw new Fault('too_large', 'a frame over the limit');
      const message = decode(data);
      const whole = 'method' in message && message.method === 'chunk' && this.open ? this.#joiner.add(message.params) : message;
      if (whole !== undefined) this.#accept(typeof whole === 'string' ? decode(whole) : whole);
    } catch (error) {
      this.close(error instanceof Fault && error.code === 'not_permitted' ? 4403 : 4400);
    }
  }

  /** @param {ReturnType<typeof decode>} message */
  #accept(message) {
    if (!('method' in message)) return this.#settle(message);
    if (!this.open) throw new Fault('not_permitted', 'a message before the handshake was done');
    const {method, params} = message;
    if (!('id' in message)) {
      const shape = shapeOf(method);
      if (method === 'chunk') throw new Fault('bad_message', 'a chunk inside a chunk');
      if (shape) this.#hooks.note(this, method, shaped(params, shape, 'bad_message')); // unknown notes are of a newer host
      return undefined;
    }
    return void this.#serve(message);
  }

  /** @param {import('./protocol.js').Result | import('./protocol.js').Refusal} message */
  #settle(message) {
    const call = this.#waiting.get(message.id);
    if (!call) {
      if (message.id > this.#lastId) throw new Fault('bad_message', 'an answer to nothing');
      return; // it came too late
    }
    if ('error' in message) call.fail(new Fault(message.error.code, message.error.message, message.error.data));
    else call.done(shaped(message.result, ANSWERS[call.method] ?? {}, 'bad_message'));
  }

  /** @param {import('./protocol.js').Call} call */
  async #serve({id, method, params}) {
    if (method === 'ping') return this.#send(encode({id, result: {}}));
    let text;
    this.#inFlight++;
    try {
      const shape = shapeOf(method);
      if (!shape || method === 'chunk') throw new Fault('unknown_method', method.slice(0, 40));
      if (this.#inFlight > MAX_IN_FLIGHT) throw new Fault('busy', 'too many calls in flight');
      text = encode({id, result: await this.#hooks.call(this, method, shaped(params, shape))});
      if (text.length > MAX_MESSAGE || tooDeep(text)) throw new Fault('too_large', 'the answer is over a limit');
    } catch (error) {
      text = encode(refusal(id, error));
    } finally {
      this.#inFlight--;
    }
    return this.#send(text);
  }
}
