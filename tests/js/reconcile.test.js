/** The worker may die between any two instructions. Whatever it leaves, nothing leaves the browser unjudged. */
import assert from 'node:assert/strict';
import test from 'node:test';
import {World, quiet, until} from './fake/world.js';

async function lent(how) {
  const world = await World.make(how);
  const host = world.host();
  const tab = await world.lend(host);
  await quiet();
  return {world, host, tab};
}

test('a worker that died between two calls is followed by one that holds the same lease', async () => {
  const {world, host, tab} = await lent();
  world.worker.kill();
  await world.wake();
  await until(() => host.reconciled?.length === 1);
  assert.deepEqual({...host.reconciled[0], lease: ''}, {tab, lease: '', url: 'https://site.example/', title: 'title of https://site.example/', opened: false, driving: false, private: false, sessions: []});
  assert.ok(host.reconciled[0].lease);
  assert.equal(world.browser.calls.filter(([name]) => name === 'debugger.attach').length, 1, 'attaching again would fail');
  world.browser.pause(tab, 'r1');
  await until(() => world.browser.sent.includes('r1'));
});

test('what was paused when it died fails first, known ids and unknown ones', async () => {
  const {world, host, tab} = await lent();
  host.verdict = undefined;
  world.browser.pause(tab, 'known');
  await quiet();
  world.worker.kill();
  world.browser.pause(tab, 'unknown'); // no worker hears of it
  await world.wake();
  await until(() => host.reconciled?.length === 1);
  assert.deepEqual(world.browser.sent, []);
  assert.equal(world.browser.paused.get(tab).size, 0);
  assert.equal(world.commands(tab, 'Page.stopLoading').length, 1);
});

test('who drove still drives, and in private nothing is told', async () => {
  const {world, host, tab} = await lent();
  await world.ask('lease.takeover', {tab, private: true});
  await quiet();
  world.worker.kill();
  await world.wake();
  await until(() => host.reconciled?.length === 1);
  const {url, title, driving, private: hidden} = host.reconciled[0];
  assert.deepEqual({url, title, driving, hidden}, {url: '', title: '', driving: true, hidden: true});
});

test('a tab that was closed, let go by Chrome, or dragged out meanwhile is not lent any more', async () => {
  const {world, host, tab} = await lent();
  const [cancelled, dragged, kept] = [await world.lend(host), await world.lend(host), await world.lend(host)];
  await quiet();
  world.worker.kill();
  world.browser.tabs.delete(tab);
  world.browser.attached.delete(tab);
  world.browser.attached.delete(cancelled);
  world.browser.move(dragged, -1);
  await world.wake();
  await until(async () => (await world.status()).leases.length === 1);
  assert.equal((await world.status()).leases[0].tab, kept);
  await until(() => world.browser.attached.size === 1);
});

test('groups of another browser session say that they ended', async () => {
  const world = await World.make();
  world.worker.kill();
  world.browser.groups.set(9, {id: 9, windowId: 1, title: 'Tab Valet · Claude Code'});
  world.browser.areas.session = {};
  await world.wake();
  await until(() => world.browser.groups.get(9).title === 'Tab Valet · Claude Code (ended)');
});

test('events that come while the state is being read are heard, in order', async () => {
  const {world, host, tab} = await lent();
  world.worker.kill();
  const starting = world.wake();
  await until(() => world.browser.worker?.chrome.debugger.onEvent.listeners.size > 0);
  host.verdict = undefined;
  world.browser.pause(tab, 'early');
  await starting;
  await until(() => world.browser.paused.get(tab)?.size === 0);
  assert.deepEqual(world.browser.sent, []);
});

/**
 * The main job as the worker sees it, up to wherever it dies. What the owner said no to, or nobody judged, is named post;
 * what was allowed, get.
 */
async function play(world, host) {
  const tab = world.page();
  const step = (work) => Promise.race([work, until(() => world.worker.dead)]).catch(() => {});
  await step(world.ask('lease.share', {instance: host.instance, tab}));
  await step(quiet(15));
  world.browser.event(tab, 'Target.attachedToTarget', {sessionId: 'S', waitingForDebugger: true, targetInfo: {targetId: 'C', type: 'iframe', url: 'https://f.example/'}});
  if (world.browser.attached.has(tab)) world.browser.pause(tab, 'get-1');
  await step(quiet(10));
  host.verdict = undefined;
  if (world.browser.attached.has(tab)) world.browser.pause(tab, 'post-1');
  await step(quiet(10));
  await step(world.ask('lease.takeover', {tab, private: false}));
  await step(world.ask('lease.handback', {tab}));
  if (world.browser.attached.has(tab)) world.browser.pause(tab, 'post-2', {sessionId: 'S'});
  await step(quiet(10));
  if (!world.worker.dead && host.linked) await step(host.call('tab.open', {url: 'about:blank', lease: 'x', beside: tab}));
  await step(world.ask('lease.stop', {tab}));
  await step(quiet(15));
  return tab;
}

test('dying at any call, it leaves nothing that a new worker does not put right', async () => {
  const whole = await World.make();
  await play(whole, whole.host());
  const total = whole.browser.calls.length;
  assert.ok(total > 60, `only ${total} calls`);
  const at = async (dieAt) => {
    const world = await World.make({dieAt});
    const host = world.host();
    const tab = await play(world, host);
    assert.ok(world.worker.dead, `call ${dieAt} was not reached`);
    const last = `worker died before call ${dieAt}, ${JSON.stringify(whole.browser.calls[dieAt]?.slice(0, 3))}`;
    host.verdict = undefined;
    await world.wake();
    await until(async () => (await world.status()) !== undefined);
    await until(() => [...world.browser.paused.values()].every((waiting) => waiting.size === 0)).catch(() => assert.fail(`still paused: ${last}`));
    assert.ok(!world.browser.sent.some((id) => id.startsWith('post')), `sent ${world.browser.sent}: ${last}`);
    await until(async () => {
      const {leases} = await world.status();
      const held = leases.map((lease) => lease.tab);
      return [...world.browser.attached].every((id) => held.includes(id)) && held.every((id) => world.browser.attached.has(id));
    }).catch(() => assert.fail(`attached ${[...world.browser.attached]} without a lease: ${last}`));
    await world.ask('lease.stop_all');
    await until(() => world.browser.attached.size === 0);
    assert.ok(!world.browser.sent.some((id) => id.startsWith('post')), `sent at the end: ${last}`);
    await until(() => [...world.browser.tabs.values()].every(({id}) => (world.browser.badges.get(id) ?? '') === ''));
    world.worker.kill();
    return tab;
  };
  for (let dieAt = 0; dieAt < total - 2; dieAt += 8) await Promise.all(Array.from({length: Math.min(8, total - 2 - dieAt)}, (_, i) => at(dieAt + i)));
});
