import assert from 'node:assert/strict';
import test from 'node:test';
import {World, question, quiet, until} from './fake/world.js';

const code = (promise) => promise.then(() => 'ok', (error) => error.code);
const ended = (host) => host.told('lease.ended').map(({reason}) => reason);

async function lent(how) {
  const world = await World.make(how);
  const host = world.host();
  const tab = await world.lend(host);
  return {world, host, tab};
}

test('a tab is attached and guarded in the fixed order, then offered', async () => {
  const {world, host, tab} = await lent();
  assert.deepEqual(world.commands(tab).map(([, , method]) => method), ['Page.enable', 'Network.enable', 'Network.setBypassServiceWorker',
    'Fetch.enable', 'Target.setAutoAttach', 'Emulation.setFocusEmulationEnabled', 'Page.setLifecycleEventsEnabled']);
  assert.deepEqual(host.calls.at(-1), {method: 'lease.offer', params: {
    id: '', tab: {tab, lease: '', url: 'https://site.example/', title: 'title of https://site.example/', opened: false, driving: false, private: false, sessions: []},
    access: 'act', exact: false, until: 0, sealed: false,
  }});
  assert.equal(world.browser.tabs.get(tab).autoDiscardable, false);
});

for (const [url, what] of [
  ['chrome://settings/', "Chrome's page"], ['chrome-extension://kabegceaidfheajlmbdeclmnnflkndej/pages/popup.html', 'our own page'],
  ['file:///etc/passwd', 'a file'], ['about:blank', 'an empty page'], ['http://127.0.0.1:40001/x', "a host's port"],
  ['http://2130706433:40001/', 'that port in another spelling'], ['http://[::1]:40001/', 'that port by IPv6'], ['http://localhost:40001/', 'that port by name'],
  ['http://somewhere.example:99/approve/x', 'what looks like an approval link'],
]) {
  test(`${what} is not lent`, async () => {
    const world = await World.make();
    const host = world.host();
    const {error} = await world.ask('lease.share', {instance: host.instance, tab: world.page(url)});
    assert.equal(error?.code, 'attach_refused');
    assert.equal(world.browser.attached.size, 0);
  });
}

test('what Chrome refuses is told to the owner and the host, in its words, and another tab can be chosen', async () => {
  const world = await World.make();
  const host = world.host();
  const tab = world.page();
  world.browser.refuses.set(tab, 'Cannot attach to this target.');
  const {error} = await world.ask('lease.share', {instance: host.instance, tab});
  assert.deepEqual([error.code, error.message], ['attach_refused', 'Cannot attach to this target.']);
  await until(() => host.told('approval.tab_refused').length === 1);
  assert.deepEqual(host.told('approval.tab_refused'), [{id: '', reason: 'Cannot attach to this target.'}]);
  await world.lend(host);
});

test('a guard that cannot be set up leaves nothing attached', async () => {
  const world = await World.make();
  world.browser.answers['Fetch.enable'] = () => { throw new Error('no'); };
  const tab = world.page();
  assert.equal((await world.ask('lease.share', {instance: world.host().instance, tab})).error.code, 'attach_refused');
  assert.equal(world.browser.attached.size, 0);
  assert.deepEqual((await world.status()).leases, []);
});

test('a host that does not accept leaves nothing attached, and says why', async () => {
  const world = await World.make();
  const host = world.host();
  host.answers['lease.offer'] = () => { throw Object.assign(new Error('too late'), {code: 'approval_expired'}); };
  assert.equal((await world.ask('lease.share', {instance: host.instance, tab: world.page()})).error.code, 'approval_expired');
  await until(() => world.browser.attached.size === 0);
});

test('a stop while the host considers the offer ends it on both sides', async () => {
  const world = await World.make();
  const host = world.host();
  const tab = world.page();
  let accept;
  host.answers['lease.offer'] = () => new Promise((done) => { accept = () => done({lease: 'L'}); });
  const sharing = world.ask('lease.share', {instance: host.instance, tab});
  await until(() => accept);
  await world.ask('lease.stop', {tab});
  accept();
  assert.equal((await sharing).error.code, 'page_closed');
  assert.equal(world.browser.attached.size, 0);
  assert.ok(ended(host).includes('stopped'));
  assert.deepEqual((await world.status()).leases, []);
});

test('a stop before the debugger is there leaves nothing attached', async () => {
  const world = await World.make();
  const host = world.host();
  const tab = world.page();
  const {attach} = world.browser.api.debugger;
  world.browser.api.debugger.attach = async (target) => {
    await world.ask('lease.stop', {tab});
    attach(target);
  };
  assert.equal((await world.ask('lease.share', {instance: host.instance, tab})).error.code, 'page_closed');
  assert.equal(world.browser.attached.size, 0);
  assert.equal(host.calls.some(({method}) => method === 'lease.offer'), false);
});

test('events of a tab wait until the host knows it, and then come in order', async () => {
  const world = await World.make();
  const host = world.host();
  const tab = world.page();
  host.verdict = undefined;
  host.answers['lease.offer'] = async () => {
    world.browser.pause(tab, 'r1');
    world.browser.event(tab, 'Page.frameStartedLoading', {frameId: 'F'});
    await quiet();
    assert.deepEqual(host.events(), []);
    return {lease: 'L'};
  };
  await world.ask('lease.share', {instance: host.instance, tab});
  await until(() => host.events().length === 2);
  assert.deepEqual(host.events().map(({method}) => method), ['Fetch.requestPaused', 'Page.frameStartedLoading']);
});

test("a host's first command makes the tab known too, and its events come before the answer", async () => {
  const world = await World.make();
  const host = world.host();
  const tab = world.page();
  host.answers['lease.offer'] = async () => {
    world.browser.event(tab, 'Page.frameStartedLoading', {frameId: 'F'});
    await host.send(tab, 'Page.getFrameTree');
    assert.equal(host.events().length, 1);
    return {lease: 'L'};
  };
  assert.equal((await world.ask('lease.share', {instance: host.instance, tab})).ok, true);
});

test('two agents never hold the same tab', async () => {
  const {world, tab} = await lent();
  assert.equal((await world.ask('lease.share', {instance: world.host().instance, tab})).error.code, 'attach_refused');
});

test('lent tabs stand in a group of their agent, in its colour and by its name', async () => {
  const {world, host, tab} = await lent();
  const second = await world.lend(host);
  const other = await world.lend(world.host());
  const elsewhere = await world.lend(host, world.page('https://b.example/', {windowId: 2}));
  const groupOf = (id) => world.browser.groups.get(world.browser.tabs.get(id).groupId);
  await until(() => groupOf(elsewhere).title !== '');
  assert.equal(groupOf(tab), groupOf(second));
  assert.deepEqual([groupOf(tab).title, groupOf(other).title], ['Tab Valet · Claude Code', 'Tab Valet · Claude Code 2']);
  assert.notEqual(groupOf(tab).color, groupOf(other).color);
  assert.deepEqual([groupOf(elsewhere).windowId, groupOf(elsewhere).color], [2, groupOf(tab).color]);
});

test('a pinned tab is lent and not grouped; pinning a lent one ends nothing', async () => {
  const world = await World.make({hurry: 10});
  const host = world.host();
  const pinned = await world.lend(host, world.page('https://a.example/', {pinned: true}));
  assert.equal(world.browser.tabs.get(pinned).groupId, -1);
  const tab = await world.lend(host);
  world.browser.tabs.get(tab).pinned = true;
  world.browser.move(tab, -1);
  await quiet(80);
  assert.equal((await world.status()).leases.length, 2);
});

test('dragged out of its group and not back in time, a lease ends; back in time it lives', async () => {
  const {world, host, tab} = await lent({hurry: 10});
  const {groupId} = world.browser.tabs.get(tab);
  await world.lend(host);
  world.browser.move(tab, -1);
  world.browser.move(tab, groupId);
  await quiet(120);
  assert.deepEqual(ended(host), []);
  world.browser.move(tab, -1);
  await until(() => ended(host).length === 1);
  assert.deepEqual(ended(host), ['dragged_out']);
  assert.equal(world.browser.attached.has(tab), false);
});

test('dragged into the group, a tab is not lent: it leaves, and the owner is asked', async () => {
  const {world, tab} = await lent({hurry: 10});
  const free = world.page();
  world.browser.move(free, world.browser.tabs.get(tab).groupId);
  await until(() => world.browser.tabs.get(free).groupId === -1);
  await until(() => world.browser.notifications.size === 1);
  assert.equal(world.browser.attached.has(free), false);
});

test("a tab that Chrome opened inside the group, the owner's Ctrl+click, leaves it and nobody is asked", async () => {
  const {world, tab} = await lent({hurry: 10});
  const {groupId} = world.browser.tabs.get(tab);
  const child = world.page('https://a.example/', {groupId});
  world.browser.fire('tabs.onCreated', world.browser.tabs.get(child));
  await until(() => world.browser.tabs.get(child).groupId === -1);
  await quiet(60);
  assert.equal(world.browser.notifications.size, 0);
});

test('at the end a tab goes back to the group it came from', async () => {
  const world = await World.make();
  const former = 77;
  world.browser.groups.set(former, {id: former, windowId: 1, title: 'Mine'});
  const other = world.page('https://b.example/', {groupId: former});
  const tab = world.page('https://a.example/', {groupId: former});
  await world.lend(world.host(), tab);
  await until(() => world.browser.tabs.get(tab).groupId !== former);
  await world.ask('lease.stop', {tab});
  await until(() => world.browser.tabs.get(tab).groupId === former);
  assert.equal(world.browser.badges.get(tab), '');
  assert.equal(world.browser.tabs.get(tab).autoDiscardable, true);
  assert.ok(other);
});

test('the badge says who drives and what is asked, and comes back after each commit', async () => {
  const {world, host, tab} = await lent({hurry: 10});
  const badge = () => world.browser.badges.get(tab);
  await world.ask('lease.takeover', {tab, private: false});
  assert.equal(badge(), '‖');
  world.browser.badges.clear(); // Chrome does at a commit
  world.browser.event(tab, 'Page.frameNavigated', {frame: {id: 'F', url: 'https://site.example/2'}});
  await until(() => badge() === '‖');
  await world.ask('lease.handback', {tab});
  assert.equal(badge(), 'ON');
  host.note('prompt.show', question(tab));
  await until(() => badge() === '?');
  host.note('prompt.withdraw', {id: 'p1'});
  await until(() => badge() === 'ON');
});

test("Cancel on Chrome's bar ends every lease, fails what is paused, takes questions back and tells the hosts", async () => {
  const {world, host, tab} = await lent();
  const other = world.host({name: 'Other'});
  const [second, third] = [await world.lend(host), await world.lend(other)];
  host.note('prompt.show', question(tab));
  await until(async () => (await world.status()).prompts.length === 1);
  host.verdict = undefined;
  world.browser.pause(tab, 'waits');
  await until(() => host.events('Fetch.requestPaused').length === 1);
  for (const one of [tab, second, third]) world.browser.throwOff(one, 'canceled_by_user');
  await until(() => host.told('lease.ended').length === 2 && other.told('lease.ended').length === 1);
  assert.deepEqual(host.told('lease.ended'), [{tab, reason: 'canceled'}, {tab: second, reason: 'canceled'}]);
  assert.deepEqual(other.told('lease.ended'), [{tab: third, reason: 'canceled'}]);
  await until(() => world.commands(tab, 'Fetch.failRequest').length === 1);
  const {leases, prompts} = await world.status();
  assert.deepEqual([leases, prompts], [[], []]);
  assert.equal(world.browser.notifications.has(`${host.instance} p1`), false);
  host.note('verdict', {tab, request: 'waits', action: 'continue'});
  await quiet();
  assert.equal(world.commands(tab, 'Fetch.continueRequest').length, 0);
  assert.equal((await world.ask('prompt.answer', {instance: host.instance, id: 'p1', choice: 'once'})).ok, false);
  assert.equal(world.browser.attached.size, 0);
  await until(() => [tab, second, third].every((one) => world.browser.badges.get(one) === ''));
});

test("Cancel on Chrome's bar ends every lease, for good", async () => {
  const {world, host, tab} = await lent({hurry: 10});
  world.browser.throwOff(tab, 'canceled_by_user');
  await until(() => ended(host).length === 1);
  assert.deepEqual(ended(host), ['canceled']);
  await quiet(60);
  assert.equal(world.browser.attached.size, 0);
});

test('thrown off by a page, the tab is attached again and the host looks at it afresh', async () => {
  const {world, host, tab} = await lent({hurry: 5});
  world.browser.event(tab, 'Target.attachedToTarget', {sessionId: 'S', waitingForDebugger: false, targetInfo: {targetId: 'C', type: 'iframe', url: ''}});
  host.reconciled = undefined;
  world.browser.throwOff(tab, 'target_closed');
  await until(() => host.reconciled?.length === 1);
  assert.deepEqual(host.reconciled[0].sessions, []);
  assert.equal(await code(host.send(tab, 'Page.getFrameTree')), 'ok');
  world.browser.refuses.set(tab, 'Cannot access a chrome:// URL');
  world.browser.throwOff(tab, 'target_closed');
  await until(() => ended(host).length === 1);
  assert.deepEqual(ended(host), ['refused']);
});

for (const url of ['chrome-extension://kabegceaidfheajlmbdeclmnnflkndej/pages/approve.html', 'chrome-extension://other/', 'http://127.0.0.1:40001/approve/xyz']) {
  test(`a lent tab that arrives at ${url} is let go at once`, async () => {
    const {world, host, tab} = await lent();
    world.browser.event(tab, 'Page.frameNavigated', {frame: {id: 'F', url}});
    await until(() => !world.browser.attached.has(tab));
    assert.deepEqual(ended(host), ['own_page']);
  });
}

test('a lease ends with its tab, when Chrome replaces it, and when its time is up', async () => {
  const {world, host, tab} = await lent();
  const [b, c] = [await world.lend(host), world.page()];
  await world.browser.api.tabs.remove(tab);
  world.browser.fire('tabs.onReplaced', 999, b);
  await world.ask('approval.share', {instance: host.instance, id: 'a1', tab: c, url: '', access: 'read', exact: true, until: 3600, sealed: true});
  assert.ok(Math.abs(world.browser.alarms.get(`until ${c}`).when - Date.now() - 3_600_000) < 5000);
  world.browser.fire('alarms.onAlarm', {name: `until ${c}`});
  await until(() => ended(host).length === 3);
  assert.deepEqual(ended(host), ['closed', 'tab_replaced', 'expired']);
});

test('a tab the agent opens is in the background, guarded, grouped, and its to close', async () => {
  const {world, host, tab} = await lent();
  const made = await host.call('tab.open', {url: 'https://site.example/new', lease: 'mine', beside: tab});
  assert.deepEqual(made, {tab: made.tab, lease: 'mine', url: 'about:blank', title: 'title of about:blank', opened: true, driving: false, private: false, sessions: []});
  const chromeTab = world.browser.tabs.get(made.tab);
  assert.equal(chromeTab.active, false);
  assert.equal(chromeTab.groupId, world.browser.tabs.get(tab).groupId);
  assert.ok(world.commands(made.tab, 'Fetch.enable').length === 1);
  assert.equal(await code(host.call('tab.close', {tab})), 'not_permitted');
  assert.equal(await code(host.call('tab.close', {tab: made.tab})), 'ok');
  assert.equal(world.browser.tabs.has(made.tab), false);
  assert.equal(await code(host.call('tab.open', {url: 'file:///etc/passwd', lease: 'x', beside: tab})), 'scheme_refused');
});

test("at the end the agent's tab is closed only when asked and never driven by the owner; else it is put away", async () => {
  const {world, host, tab} = await lent();
  const open = async () => (await host.call('tab.open', {url: 'about:blank', lease: 'x', beside: tab})).tab;
  const [closed, driven, looked, put] = [await open(), await open(), await open(), await open()];
  assert.deepEqual(await host.call('lease.end', {tab: closed, close: true}), {detached: true});
  assert.equal(world.browser.tabs.has(closed), false);
  await world.ask('lease.takeover', {tab: driven, private: false});
  await host.call('lease.end', {tab: driven, close: true});
  assert.equal(world.browser.tabs.has(driven), true);
  world.browser.tabs.get(looked).active = true;
  await host.call('lease.end', {tab: looked, close: false});
  await until(() => world.browser.tabs.get(looked).groupId === -1); // nothing is collapsed under the owner's eyes
  await host.call('lease.end', {tab: put, close: false});
  const group = () => world.browser.groups.get(world.browser.tabs.get(put).groupId);
  await until(() => group()?.title === 'Tab Valet · Claude Code (ended)');
  assert.equal(group().collapsed, true);
  assert.deepEqual(await host.call('lease.end', {tab, close: true}), {detached: true});
  assert.equal(world.browser.tabs.has(tab), true, "the owner's tab stays");
});

test('nothing is ever activated', async () => {
  const {world, host, tab} = await lent();
  await host.call('tab.open', {url: 'about:blank', lease: 'x', beside: tab});
  await world.ask('lease.stop_all');
  const changes = world.browser.calls.filter(([name]) => /^tabs\.(create|update)$/.test(name)).map(([name, ...args]) => (name === 'tabs.create' ? args[0] : args[1]));
  assert.ok(changes.length > 0 && changes.every(({active}) => active !== true));
});

test('a stop while Chrome attaches again leaves nothing attached', async () => {
  const {world, tab} = await lent();
  const {attach} = world.browser.api.debugger;
  let go;
  world.browser.api.debugger.attach = (target) => new Promise((done) => { go = () => done(attach(target)); });
  world.browser.throwOff(tab, 'target_closed');
  await until(() => go);
  await world.ask('lease.stop', {tab});
  go();
  await until(() => !world.browser.attached.has(tab) && world.commands(tab, 'Page.setLifecycleEventsEnabled').length === 2);
  await quiet();
  assert.equal(world.browser.attached.has(tab), false);
});
