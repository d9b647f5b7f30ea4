/**
 * The real worker in a realm of its own, so that it can die: at once, at any of its calls, with all that it remembered.
 */
import fs from 'node:fs';
import path from 'node:path';
import vm from 'node:vm';

const ROOT = path.resolve(import.meta.dirname, '../../../extension');
const sources = new Map();

export class Worker {
  dead = false;
  timers = new Set();
  sockets = [];

  /**
   * @param {import('./chrome.js').Browser} browser
   * @param {Map<number, import('./host.js').Host>} network hosts by port
   * @param {{dieAt?: number, hurry?: number}} [how] dieAt: the call of chrome.* before which the worker dies, counted from 0;
   *   hurry: its timers run so many times faster
   */
  constructor(browser, network, {dieAt = Infinity, hurry = 1} = {}) {
    this.hurry = hurry;
    let count = 0;
    const alive = (name) => {
      if (name && !this.dead && count++ === dieAt) this.kill();
      return !this.dead;
    };
    const worker = this;
    class WebSocket extends FakeSocket {
      constructor(url, protocol) {
        super(worker, network, url, protocol);
        worker.sockets.push(this);
      }
    }
    this.context = vm.createContext({
      crypto, TextEncoder, URL, URLSearchParams, btoa, atob, CryptoKey, console, queueMicrotask, structuredClone, WebSocket,
      navigator: {userAgentData: {brands: [{brand: 'Chromium'}], platform: 'Linux'}},
      indexedDB: fakeDatabase(browser, () => this.dead),
      setTimeout: (work, ms) => this.#timer(setTimeout, work, ms),
      setInterval: (work, ms) => this.#timer(setInterval, work, ms),
      clearTimeout, clearInterval: clearTimeout,
    });
    const makeError = vm.runInContext('(message) => new Error(message)', this.context);
    this.chrome = browser.facade(alive, makeError);
    this.context.chrome = this.chrome;
    browser.worker = this;
    this.browser = browser;
  }

  #timer(start, work, ms) {
    const timer = start(() => { if (!this.dead) work(); }, (ms ?? 0) / this.hurry);
    timer.unref(); // a worker keeps no test alive
    this.timers.add(timer);
    return timer;
  }

  async start() {
    const modules = new Map();
    const load = (file) => {
      if (!modules.has(file)) {
        if (!sources.has(file)) sources.set(file, fs.readFileSync(file, 'utf8'));
        modules.set(file, new vm.SourceTextModule(sources.get(file), {context: this.context, identifier: file}));
      }
      return modules.get(file);
    };
    const main = load(path.join(ROOT, 'background.js'));
    await main.link((name, from) => load(path.resolve(path.dirname(from.identifier), name)));
    await main.evaluate();
    return this;
  }

  /** Its clock jumps, as after a sleep of the machine. */
  later(ms) { vm.runInContext(`{const {now} = Date; Date.now = () => now() + ${ms};}`, this.context); }

  /** Gone between two instructions: no event is heard, no promise settles, no timer fires; sockets break. */
  kill() {
    this.dead = true;
    for (const timer of this.timers) clearTimeout(timer);
    for (const socket of this.sockets) socket.break(1006);
    if (this.browser.worker === this) this.browser.worker = undefined;
  }

  /** A message of one of the extension's own pages. */
  ask(type, values = {}, {tab, url = this.chrome.runtime.getURL('pages/popup.html'), id = this.chrome.runtime.id} = {}) {
    return new Promise((done) => {
      this.chrome.runtime.onMessage.fire({type, ...values}, {id, url, ...(tab !== undefined && {tab: {id: tab}})}, (answer) => done(structuredClone(answer)));
    });
  }
}

class FakeSocket {
  static OPEN = 1;
  readyState = 0;
  #listeners = {open: [], close: []};

  constructor(worker, network, url, protocol) {
    this.worker = worker;
    const host = network.get(Number(new URL(url).port));
    this.url = url;
    this.protocol = protocol;
    setImmediate(() => (host && !host.dead && !worker.dead ? host.admit(this) : this.break(1006)));
  }

  addEventListener(name, listener) { this.#listeners[name].push(listener); }

  accept(host) {
    this.host = host;
    this.readyState = 1;
    for (const listener of this.#listeners.open) listener();
  }

  send(text) {
    if (this.readyState === 1) setImmediate(() => this.host.receive(this, text));
  }

  deliver(text) {
    setImmediate(() => { if (this.readyState === 1 && !this.worker.dead) this.onmessage({data: text}); });
  }

  close(code, reason = '') {
    if (code !== 1000 && !(code >= 3000 && code < 5000)) throw new Error(`close(${code}) is not allowed to pages`);
    this.closed = {code, reason};
    this.break(code);
  }

  break(code) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.host?.dropped(this, code);
    setImmediate(() => {
      if (this.worker.dead) return;
      for (const listener of this.#listeners.close) listener();
      this.onclose?.({code});
    });
  }
}

/** IndexedDB as pairing.js uses it: one store. */
function fakeDatabase(browser, dead) {
  const later = (work) => setImmediate(() => { if (!dead()) work(); });
  return {
    open: () => {
      const opening = {result: {
        createObjectStore() {},
        close() {},
        transaction: () => {
          const {keys} = browser.databases;
          const transaction = {objectStore: () => ({
            get: (name) => ({result: keys.get(name)}),
            put: (value, name) => { keys.set(name, value); return {result: name}; },
            clear: () => { keys.clear(); return {result: undefined}; },
          })};
          later(() => transaction.oncomplete());
          return transaction;
        },
      }};
      later(() => opening.onsuccess());
      return opening;
    },
  };
}
