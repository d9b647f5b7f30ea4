import assert from 'node:assert/strict';
import test from 'node:test';
import {World, question, quiet, until} from './fake/world.js';

const TOKEN = 'A'.repeat(43);
const PAGE = 'chrome-extension://kabegceaidfheajlmbdeclmnnflkndej/pages/approve.html';

async function opened(how = {}, world = undefined) {
  world ??= await World.make();
  const host = [...world.network.values()][0] ?? world.host();
  const url = `http://127.0.0.1:${host.port}/approve/${TOKEN}`;
  const tab = how.tab ?? world.page(url);
  world.browser.fire(how.event ?? 'webNavigation.onBeforeNavigate', {tabId: tab, frameId: 0, url, documentLifecycle: 'active', ...how.details});
  await until(() => world.browser.tabs.get(tab).url === PAGE, how.details || how.tab ? 60 : undefined).catch(() => {});
  return {world, host, tab, url, inPlace: world.browser.tabs.get(tab).url === PAGE};
}

for (const event of ['webNavigation.onBeforeNavigate', 'webNavigation.onCommitted']) {
  test(`an approval link heard by ${event} becomes the approval page, and its token reaches the host`, async () => {
    const {world, host, tab, inPlace} = await opened({event});
    assert.ok(inPlace);
    const {ok, value} = await world.ask('approval.find', {}, {tab, url: PAGE});
    assert.ok(ok);
    assert.equal(value.instance, host.instance);
    assert.deepEqual(host.calls.at(-1), {method: 'approval.get', params: {token: TOKEN}});
  });
}

for (const [what, how] of Object.entries({
  'in a frame': {details: {frameId: 3}},
  'in a prerendered page': {details: {documentLifecycle: 'prerender'}},
  'at a port of no host': {details: {url: `http://127.0.0.1:9/approve/${TOKEN}`}},
  'without a whole token': {details: {url: 'http://127.0.0.1:40001/approve/short'}},
  'with more behind the token': {details: {url: `http://127.0.0.1:40001/approve/${TOKEN}/x`}},
  'of another scheme': {details: {url: `https://127.0.0.1:40001/approve/${TOKEN}`}},
})) {
  test(`a link ${what} is left alone`, async () => {
    const {inPlace, host} = await opened(how);
    assert.equal(inPlace, false);
    assert.equal(host.calls.length, 0);
  });
}

test('a tab that is or was lent, and its popups, never become the approval page', async () => {
  const world = await World.make();
  const host = world.host();
  const tab = await world.lend(host);
  const popup = world.page('about:blank');
  world.browser.fire('webNavigation.onCreatedNavigationTarget', {sourceTabId: tab, tabId: popup, url: 'about:blank'});
  const grandchild = world.page('about:blank');
  world.browser.fire('webNavigation.onCreatedNavigationTarget', {sourceTabId: popup, tabId: grandchild, url: 'about:blank'});
  for (const agents of [popup, grandchild]) assert.equal((await opened({tab: agents}, world)).inPlace, false);
  assert.equal((await opened({tab}, world)).inPlace, false);
  assert.equal(host.told('lease.ended').length, 0, 'the guard judges it first');
  world.browser.event(tab, 'Page.frameNavigated', {frame: {id: 'F', url: `http://127.0.0.1:${host.port}/approve/${TOKEN}`}});
  await until(() => host.told('lease.ended').length === 1);
  assert.equal(host.told('lease.ended')[0].reason, 'own_page');
  assert.equal((await opened({tab}, world)).inPlace, false, 'nor when it is not lent any more');
});

test('decisions are taken from our own pages only, and from no tab an agent may sit in', async () => {
  const world = await World.make();
  const host = world.host();
  const lent = await world.lend(host);
  await world.ask('lease.takeover', {tab: lent, private: false});
  host.note('prompt.show', question(lent));
  await until(async () => (await world.status()).prompts.length === 1);
  const share = {instance: host.instance, id: 'a1', tab: world.page(), url: '', access: 'act', exact: false, until: 0, sealed: false};
  for (const [type, values] of [
    ['approval.share', share], ['approval.refuse', {instance: host.instance, id: 'a1'}], ['lease.share', {instance: host.instance, tab: share.tab}],
    ['lease.handback', {tab: lent}], ['prompt.answer', {instance: host.instance, id: 'p1', choice: 'once'}], ['pair.start', {}], ['pair.renew', {}],
    ['pair.manual', {code: 'x'}], ['pair.forget', {}], ['approval.find', {instance: host.instance}],
  ]) {
    for (const sender of [{tab: lent, url: PAGE}, {url: 'https://evil.example/'}, {url: 'chrome-extension://kabegceaidfheajlmbdeclmnnflkndej.evil/'}, {id: 'another'}]) {
      assert.equal((await world.ask(type, values, sender)).error?.code, 'not_permitted', `${type} from ${JSON.stringify(sender)}`);
    }
  }
  assert.equal(host.calls.filter(({method}) => method !== 'lease.reconcile' && method !== 'lease.offer').length, 0);
});

test('the page shares the chosen tab with what the owner chose, and the link stays for the lease', async () => {
  const {world, host, tab} = await opened();
  await world.ask('approval.find', {}, {tab, url: PAGE});
  const target = world.page('https://bank.example/');
  const {value: choices} = await world.ask('approval.tabs', {}, {tab, url: PAGE});
  assert.deepEqual(choices.map(({tab: id, refused}) => [id, refused]), [[target, null]], 'our own page is not offered');
  const {value} = await world.ask('approval.share', {instance: host.instance, id: 'a1', tab: target, url: '', access: 'read', exact: true, until: 60, sealed: true}, {tab, url: PAGE});
  assert.deepEqual(value, {tab: target});
  const {params} = host.calls.at(-1);
  assert.deepEqual({...params, tab: params.tab.tab}, {id: 'a1', tab: target, access: 'read', exact: true, until: 60, sealed: true});
});

test('a tab that went to another site since the owner saw it is not shared', async () => {
  const {world, host, tab} = await opened();
  await world.ask('approval.find', {}, {tab, url: PAGE});
  const target = world.page('https://news.example/today');
  const share = () => world.ask('approval.share',
    {instance: host.instance, id: 'a1', tab: target, url: 'https://news.example/', access: 'act', exact: false, until: 0, sealed: false}, {tab, url: PAGE});
  const {attach} = world.browser.api.debugger;
  world.browser.api.debugger.attach = (which) => { attach(which); world.browser.tabs.get(target).url = 'https://bank.example/'; };
  const {error} = await share();
  assert.equal(error.code, 'attach_refused');
  assert.match(error.message, /another site, bank\.example/);
  assert.equal(world.browser.attached.has(target), false);
  assert.equal((await world.ask('lease.share', {instance: host.instance, tab: target, url: 'https://news.example/'})).error?.code, 'attach_refused');
  assert.deepEqual(host.calls.filter(({method}) => method === 'lease.offer'), []);
  world.browser.tabs.get(target).url = 'https://www.news.example/';
  world.browser.api.debugger.attach = attach;
  assert.equal((await share()).error, undefined);
});

test('a new tab opens in the background at the address the owner chose', async () => {
  const {world, host, tab} = await opened();
  const share = (url) => world.ask('approval.share', {instance: host.instance, id: 'a1', tab: null, url, access: 'act', exact: false, until: 0, sealed: false}, {tab, url: PAGE});
  for (const url of ['file:///x', 'javascript:1', `http://127.0.0.1:${host.port}/`]) assert.equal((await share(url)).error.code, 'attach_refused', url);
  const {value} = await share('https://www.shop.example/');
  assert.equal(host.calls.at(-1).params.tab.url, 'https://www.shop.example/');
  assert.equal(host.calls.at(-1).params.tab.opened, true);
  assert.equal(world.browser.tabs.get(value.tab).active, false);
  const {create} = world.browser.api.tabs;
  world.browser.api.tabs.create = (how) => Object.assign(create(how), {url: 'https://login.example/'});
  assert.match((await share('https://other.example/')).error.message, /another site, login\.example/);
  world.browser.api.tabs.create = (how) => Object.assign(create(how), {failed: true});
  assert.match((await share('https://down.example/')).error.message, /could not be loaded/);
});

test('refused, the host is told and the link closes by itself', async () => {
  const world = await World.make({hurry: 10});
  const {host, tab} = await opened({}, world);
  await world.ask('approval.find', {}, {tab, url: PAGE});
  assert.equal((await world.ask('approval.refuse', {instance: host.instance, id: 'a1'}, {tab, url: PAGE})).ok, true);
  assert.deepEqual(host.calls.at(-1), {method: 'approval.refuse', params: {id: 'a1'}});
  await until(() => host.closes.includes(1000));
});

test('a page that is closed, or left, wants no link any more', async () => {
  for (const leave of [(world, tab) => world.browser.api.tabs.remove(tab)]) {
    const world = await World.make({hurry: 10});
    const {host, tab} = await opened({}, world);
    await world.ask('approval.find', {}, {tab, url: PAGE});
    assert.equal(host.closes.length, 0);
    await leave(world, tab);
    await until(() => host.closes.includes(1000));
  }
});

test('where Chrome may start no program the port comes from the link, and the proof covers it', async () => {
  const world = await World.make();
  world.browser.native = () => new Error('Specified native messaging host not found.');
  const host = world.host();
  const {tab, inPlace} = await opened({}, world);
  assert.ok(inPlace);
  assert.equal((await world.ask('approval.find', {}, {tab, url: PAGE})).value.instance, host.instance);
  assert.equal((await world.status()).native, 'missing');
});

test('a question is pointed out, answered only with what was offered, and gone after', async () => {
  const world = await World.make();
  const host = world.host();
  const tab = await world.lend(host);
  host.note('prompt.show', question(tab));
  host.note('prompt.show', {...question(999), id: 'p2'}); // of a tab it does not hold
  await until(() => world.browser.notifications.size === 1);
  const [{id, client, instance}] = (await world.status()).prompts;
  assert.deepEqual([id, client, instance], ['p1', 'Claude Code', host.instance]);
  assert.equal((await world.ask('prompt.answer', {instance, id, choice: 'ten_minutes'})).error.code, 'bad_params');
  assert.equal((await world.ask('prompt.answer', {instance, id, choice: 'once'})).ok, true);
  assert.deepEqual(host.calls.at(-1), {method: 'prompt.answer', params: {id: 'p1', choice: 'once'}});
  assert.equal((await world.ask('prompt.answer', {instance, id, choice: 'once'})).error.code, 'approval_unknown');
  assert.equal(world.browser.notifications.size, 0);
});
