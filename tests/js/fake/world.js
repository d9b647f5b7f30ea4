/** A browser with the worker in it, paired, and hosts that run: what most tests start from. */
import {randomBytes} from 'node:crypto';
import {after} from 'node:test';
import {Browser} from './chrome.js';
import {Host} from './host.js';
import {Worker} from './worker.js';

const alive = setInterval(() => {}, 1000); // the worker's own timers keep nothing waiting
after(() => clearInterval(alive));

export class World {
  browser = new Browser();
  network = new Map();
  key = randomBytes(32);
  profile = randomBytes(16).toString('base64url');
  #port = 40_000;

  /** @param {{dieAt?: number, hurry?: number, paired?: boolean}} [how] */
  static async make({paired = true, ...how} = {}) {
    const world = new World();
    world.browser.native = (message) => {
      if (message.type === 'pair') return {profile: world.profile, key: world.key.toString('base64url'), epoch: 1};
      return {hosts: world.hosts.map((host) => host.listing), extension: '0.1.0', profiles: [world.profile]};
    };
    if (paired) {
      world.browser.areas.local.pairing = {profile: world.profile, label: 'Test', epoch: 1, manual: false, renew: false};
      world.browser.databases.keys.set(world.profile, await crypto.subtle.importKey('raw', world.key, 'HKDF', false, ['deriveKey']));
    }
    await world.wake(how);
    return world;
  }

  get hosts() { return [...this.network.values()].filter((host) => !host.dead); }

  /** Starts a worker, as an event or an alarm would. */
  async wake(how) {
    this.worker = await new Worker(this.browser, this.network, how).start();
    return this.worker;
  }

  host(options) {
    const host = new Host(++this.#port, this.key, options);
    this.network.set(host.port, host);
    return host;
  }

  page(url = 'https://site.example/', options) { return this.browser.open(url, options); }

  ask(type, values, sender) { return this.worker.ask(type, values, sender); }

  /** A tab that is lent to the host by the popup. */
  async lend(host, tab = this.page()) {
    const {ok, error} = await this.ask('lease.share', {instance: host.instance, tab});
    if (!ok) throw new Error(`${error.code}: ${error.message}`);
    await until(() => this.browser.badges.get(tab) === 'ON' && (this.browser.tabs.get(tab).pinned || this.browser.groups.get(this.browser.tabs.get(tab).groupId)?.title));
    return tab;
  }

  async status() { return (await this.ask('status.get')).value; }

  commands(tab, method) {
    return this.browser.calls.filter(([name, target, what]) => name === 'debugger.sendCommand' && target.tabId === tab && (!method || what === method));
  }
}

/** Waits for a condition; the worker answers in a few turns of the event loop. */
export async function until(check, ms = 20_000) {
  for (const end = Date.now() + ms; ;) {
    const value = await check();
    if (value) return value;
    if (Date.now() > end) throw new Error(`not so within ${ms} ms: ${check}`);
    await new Promise((done) => setTimeout(done, 2));
  }
}

/** A prompt about a tab. */
export const question = (tab) => ({
  id: 'p1', tab, kind: 'navigate', site: 'b.example', destination: 'https://b.example', method: '', control: '', fields: [],
  announced: true, choices: ['once', 'while_shared', 'no'], expires_ms: 300_000,
});

/** Lets everything that can happen at once happen. */
export const quiet = async (ms = 30) => new Promise((done) => setTimeout(done, ms));
