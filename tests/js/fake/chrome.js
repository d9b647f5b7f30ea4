/**
 * A Chrome of only what the worker uses, kept across workers: tabs, groups, what is attached and what is paused. It behaves
 * as FACTS measured: a detach sends what is paused, an attachment outlives the worker, a tab attaches only once.
 */

import fs from 'node:fs';

const CATALOGUE = JSON.parse(fs.readFileSync(new URL('../../../extension/_locales/en/messages.json', import.meta.url), 'utf8'));

export const ID = 'kabegceaidfheajlmbdeclmnnflkndej';
const OWN = `chrome-extension://${ID}/`;

export class Event {
  listeners = new Set();
  addListener(listener) { this.listeners.add(listener); }
  removeListener(listener) { this.listeners.delete(listener); }
  fire(...args) { for (const listener of [...this.listeners]) listener(...args); }
}

export class Browser {
  /** Every call of the worker, in order: [name, ...args]. */
  calls = [];
  /** Requests that left: continued by a command, or by a detach. */
  sent = [];
  tabs = new Map();
  groups = new Map();
  areas = {local: {}, session: {}};
  databases = {keys: new Map()};
  badges = new Map();
  alarms = new Map();
  notifications = new Map();
  attached = new Set();
  /** tab → Map of request id → session */
  paused = new Map();
  /** Answers of Chrome to a CDP method: a value, or a function of (target, params). */
  answers = {};
  /** What the native host answers; a function of the message, or an Error's message. */
  native = () => ({hosts: [], extension: '0.1.0', profiles: []});
  refuses = new Map(); // tab → Chrome's reason
  /** Whether the window has the system's focus. */
  focused = false;
  #last = 100;
  worker;

  open(url, {active = false, pinned = false, windowId = 1, groupId = -1} = {}) {
    const id = ++this.#last;
    this.tabs.set(id, {id, url, title: `title of ${url}`, active, pinned, windowId, groupId, index: this.tabs.size});
    return id;
  }

  fire(path, ...args) {
    const event = path.split('.').reduce((at, name) => at?.[name], this.worker?.chrome);
    event?.fire(...args);
  }

  event(tabId, method, params = {}, sessionId) {
    this.fire('debugger.onEvent', {tabId, ...(sessionId && {sessionId})}, method, structuredClone(params));
  }

  /** A document request of the tab stops at the guard. */
  pause(tabId, requestId, {url = 'https://site.example/next', method = 'GET', sessionId = '', ...more} = {}) {
    if (!this.attached.has(tabId)) return void this.sent.push(requestId);
    this.paused.set(tabId, (this.paused.get(tabId) ?? new Map()).set(requestId, sessionId));
    this.event(tabId, 'Fetch.requestPaused', {requestId, request: {url, method, headers: {}}, frameId: 'F', resourceType: 'Document', ...more}, sessionId);
  }

  /** Chrome takes the debugger away. */
  throwOff(tabId, why) {
    this.#detach(tabId);
    this.fire('debugger.onDetach', {tabId}, why);
  }

  #detach(tabId) {
    this.attached.delete(tabId);
    this.sent.push(...(this.paused.get(tabId) ?? new Map()).keys());
    this.paused.delete(tabId);
  }

  move(tabId, groupId) {
    const tab = this.tabs.get(tabId);
    tab.groupId = groupId;
    for (const id of this.groups.keys()) if (![...this.tabs.values()].some((one) => one.groupId === id)) this.groups.delete(id);
    this.fire('tabs.onUpdated', tabId, {groupId}, tab);
  }

  #tab(id) {
    const tab = this.tabs.get(id);
    if (!tab) throw new Error(`No tab with id: ${id}.`);
    return tab;
  }

  /** What the worker's chrome object does; every function may throw and is made a promise by {@link facade}. */
  api = {
    storage: {
      local: this.#area('local'),
      session: this.#area('session'),
    },
    debugger: {
      attach: ({tabId}) => {
        this.#tab(tabId);
        if (this.refuses.has(tabId)) throw new Error(this.refuses.get(tabId));
        if (this.attached.has(tabId)) throw new Error(`Another debugger is already attached to the tab with id: ${tabId}.`);
        this.attached.add(tabId);
      },
      detach: ({tabId}) => {
        if (!this.attached.has(tabId)) throw new Error(`Debugger is not attached to the tab with id: ${tabId}.`);
        this.#detach(tabId);
      },
      sendCommand: (target, method, params = {}) => {
        if (!this.attached.has(target.tabId)) throw new Error(`Debugger is not attached to the tab with id: ${target.tabId}.`);
        const waiting = this.paused.get(target.tabId);
        if (/^Fetch\.(continue|fulfill|fail)Request$/.test(method)) {
          if (!waiting?.has(params.requestId)) throw new Error(JSON.stringify({code: -32602, message: 'Invalid InterceptionId.'}));
          waiting.delete(params.requestId);
          if (method === 'Fetch.continueRequest') this.sent.push(params.requestId);
          return {};
        }
        if (method === 'Page.stopLoading') waiting?.clear();
        const answer = this.answers[method];
        return typeof answer === 'function' ? answer(target, params) : answer ?? {};
      },
      getTargets: () => [...this.tabs.values()].map(({id, url, title}) => ({id: String(id), tabId: id, type: 'page', url, title, attached: this.attached.has(id)})),
      onEvent: 'event', onDetach: 'event',
    },
    tabs: {
      get: (id) => this.#tab(id),
      query: ({active} = {}) => [...this.tabs.values()].filter((tab) => active === undefined || tab.active === active),
      create: ({url, active, windowId}) => this.tabs.get(this.open(url, {active, windowId})),
      update: (id, change) => Object.assign(this.#tab(id), change),
      remove: (id) => {
        this.#tab(id);
        this.paused.delete(id);
        this.attached.delete(id);
        this.tabs.delete(id);
        this.fire('tabs.onRemoved', id, {});
      },
      group: ({tabIds: [id], groupId, createProperties}) => {
        const made = groupId ?? ++this.#last;
        if (groupId === undefined) this.groups.set(made, {id: made, windowId: createProperties.windowId, title: '', color: 'grey', collapsed: false});
        this.#tab(id);
        this.move(id, made);
        return made;
      },
      ungroup: (id) => { this.#tab(id); this.move(id, -1); },
      onActivated: 'event', onCreated: 'event', onUpdated: 'event', onRemoved: 'event', onReplaced: 'event',
    },
    windows: {
      getLastFocused: () => ({id: 1, focused: this.focused}),
      onFocusChanged: 'event',
    },
    tabGroups: {
      get: (id) => { if (!this.groups.has(id)) throw new Error('No group'); return this.groups.get(id); },
      query: ({windowId, title} = {}) => [...this.groups.values()].filter((group) => (windowId === undefined || group.windowId === windowId) && (title === undefined || group.title === title)),
      update: (id, change) => Object.assign(this.groups.get(id), change),
    },
    action: {
      setBadgeText: ({tabId, text}) => { this.#tab(tabId); this.badges.set(tabId, text); },
      setBadgeBackgroundColor: () => {},
    },
    alarms: {
      create: (name, when) => void this.alarms.set(name, when),
      clear: (name) => this.alarms.delete(name),
      onAlarm: 'event',
    },
    notifications: {
      create: (id, what) => void this.notifications.set(id, what),
      clear: (id) => this.notifications.delete(id),
      onClicked: 'event',
    },
    webNavigation: {
      getFrame: ({tabId}) => ({url: this.#tab(tabId).url, errorOccurred: this.#tab(tabId).failed ?? false}),
      onBeforeNavigate: 'event', onCommitted: 'event', onCreatedNavigationTarget: 'event',
    },
    runtime: {
      sendNativeMessage: (name, message) => {
        const answer = this.native(structuredClone(message));
        if (answer instanceof Error) throw answer;
        return answer;
      },
      reload: () => { this.reloaded = true; },
      onMessage: 'event', onStartup: 'event',
    },
  };

  #area(name) {
    return {
      get: (keys) => Object.fromEntries(keys.filter((key) => key in this.areas[name]).map((key) => [key, this.areas[name][key]])),
      set: (values) => void Object.assign(this.areas[name], structuredClone(values)),
    };
  }

  /**
   * A chrome object for one worker. Each call is recorded and answered asynchronously, as long as `alive` lets it.
   *
   * @param {(name: string) => boolean} alive asked before each call: false, and the worker is dead before it happened
   * @param {(message: string) => Error} error makes an error of the worker's own realm
   */
  facade(alive, error) {
    const wrap = (at, path) => Object.fromEntries(Object.entries(at).map(([name, what]) => {
      const here = path ? `${path}.${name}` : name;
      if (what === 'event') return [name, new Event()];
      if (typeof what === 'object') return [name, wrap(what, here)];
      return [name, (...args) => {
        if (!alive(here)) return new Promise(() => {});
        this.calls.push([here, ...structuredClone(args)]);
        let result;
        try {
          result = at[name](...structuredClone(args)); // looked up now: a test may have put another in its place
        } catch (problem) {
          return this.later(alive, () => { throw error(problem.message); });
        }
        return this.later(alive, () => result instanceof Promise ? result : structuredClone(result));
      }];
    }));
    const chrome = wrap(this.api, '');
    Object.assign(chrome.runtime, {id: ID, getURL: (file) => OWN + file, getManifest: () => ({version: '0.1.0'})});
    chrome.i18n = {getMessage: (key, values = []) => (CATALOGUE[key]?.message ?? '').replace(/\$(\d)/g, (_, n) => values[n - 1])};
    return chrome;
  }

  async later(alive, value) {
    await new Promise((done) => setImmediate(done));
    return alive('') ? value() : new Promise(() => {});
  }
}
