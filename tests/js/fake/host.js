/** The host's end of a link, scripted by tests: real proofs over a socket of memory. */
import {createHash, createHmac, hkdfSync, randomBytes} from 'node:crypto';

const b64 = (bytes) => Buffer.from(bytes).toString('base64url');

export class Host {
  socket;
  calls = [];
  notes = [];
  results = new Map();
  closes = [];
  dead = false;
  #last = 0;
  #waiting = new Map();
  /** Answers by method: a value, or a function of the parameters; a promise is waited for. */
  answers = {
    'lease.reconcile': ({tabs}) => ({keep: tabs.map(({tab}) => tab)}),
    'lease.offer': () => ({lease: `lease-${this.calls.length}`}),
    'approval.get': () => ({id: 'a1', host: this.info, reason: 'because', url: '', access: 'act', expires_ms: 1000, sealed: false, loosened: []}),
  };
  /** What a paused request gets: an action, nothing, or a function of the event. */
  verdict = 'continue';

  constructor(port, key, {name = 'Claude Code', instance = b64(randomBytes(16))} = {}) {
    Object.assign(this, {port, key, name, instance});
    this.info = {name, executable: '/usr/bin/client', parent: '/usr/bin/sh', pid: 1, version: '0.1.0', extension: '0.1.0'};
  }

  get listing() { return {instance: this.instance, name: this.name, pid: 1, port: this.port, started: '2026-11-30T12:00:00Z', state: 'waiting'}; }
  get linked() { return this.socket?.readyState === 1 && this.reconciled !== undefined; }
  events(method) { return this.notes.filter((note) => note.method === 'cdp.event' && (!method || note.params.method === method)).map(({params}) => params); }
  told(method) { return this.notes.filter((note) => note.method === method).map(({params}) => params); }

  admit(socket) {
    this.socket = socket;
    this.reconciled = undefined;
    socket.accept(this);
  }

  dropped(socket, code) {
    this.closes.push(code);
    if (socket === this.socket) {
      for (const {fail} of this.#waiting.values()) fail(new Error('transport_lost'));
      this.#waiting.clear();
    }
  }

  receive(socket, text) {
    if (socket !== this.socket) return;
    const message = JSON.parse(text);
    if (message.method === 'hello') return this.hello(message);
    if (message.method === 'prove') return this.prove(message);
    if (message.method && message.id) return void this.serve(message);
    if (message.method) {
      this.notes.push(message);
      if (message.params.method === 'Fetch.requestPaused' && !message.params.driven) this.judge(message.params);
      return undefined;
    }
    const waiting = this.#waiting.get(message.id);
    this.#waiting.delete(message.id);
    return message.error ? waiting?.fail(Object.assign(new Error(message.error.message), message.error)) : waiting?.done(message.result);
  }

  hello({id, params}) {
    this.nonce = randomBytes(32);
    const fields = ['tabvalet/1', params.profile, 'chrome-extension://kabegceaidfheajlmbdeclmnnflkndej', `127.0.0.1:${this.port}`,
      this.instance, params.versions.join(','), '1', Buffer.from(params.nonce, 'base64url'), this.nonce];
    this.transcript = Buffer.concat(fields.flatMap((field) => {
      const bytes = Buffer.from(field);
      const size = Buffer.alloc(4);
      size.writeUInt32BE(bytes.length);
      return [size, bytes];
    }));
    this.proof = this.mac('server-proof', Buffer.from('S\0'), this.transcript);
    this.say({id, result: {version: 1, nonce: b64(this.nonce), instance: this.instance, proof: b64(this.proof), ...this.lie}});
  }

  prove({id, params}) {
    if (params.proof !== b64(this.mac('client-proof', Buffer.from('C\0'), this.transcript, this.proof))) return this.socket.break(4401);
    return this.say({id, result: {host: this.info, heartbeat_ms: 15_000}});
  }

  mac(role, ...parts) {
    const mac = createHmac('sha256', Buffer.from(hkdfSync('sha256', this.key, '', `tabvalet/1 ${role}`, 32)));
    for (const part of parts) mac.update(part);
    return mac.digest();
  }

  async serve({id, method, params}) {
    this.calls.push({method, params});
    if (method === 'lease.reconcile') this.reconciled = params.tabs;
    const answer = this.answers[method] ?? {};
    try {
      this.say({id, result: typeof answer === 'function' ? await answer(params) : answer});
    } catch ({code, message}) {
      this.say({id, error: {code, message}});
    }
  }

  judge(event) {
    const action = typeof this.verdict === 'function' ? this.verdict(event) : this.verdict;
    if (action) this.note('verdict', {tab: event.tab, ...(event.session && {session: event.session}), request: event.params.requestId, action});
  }

  say(message) { this.socket.deliver(JSON.stringify({jsonrpc: '2.0', ...message})); }
  note(method, params) { this.say({method, params}); }

  call(method, params) {
    return new Promise((done, fail) => {
      const id = ++this.#last;
      this.#waiting.set(id, {done, fail});
      this.say({id, method, params});
    });
  }

  send(tab, method, params = {}, more = {}) { return this.call('cdp.send', {tab, method, params, ...more}); }

  die() {
    this.dead = true;
    this.socket?.break(1006);
  }
}

/** What `tabvalet pair --manual` prints. */
export function manualCode(profile, key) {
  const body = Buffer.concat([Buffer.from(profile, 'base64url'), key]);
  const bytes = Buffer.concat([body, createHash('sha256').update(body).digest().subarray(0, 4)]);
  const bits = [...bytes].map((byte) => byte.toString(2).padStart(8, '0')).join('');
  return bits.match(/.{1,5}/g).map((five) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[parseInt(five.padEnd(5, '0'), 2)]).join('');
}
