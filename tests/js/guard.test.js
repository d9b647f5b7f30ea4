import assert from 'node:assert/strict';
import test from 'node:test';
import {World, quiet, until} from './fake/world.js';

const lent = async (how) => {
  const world = await World.make(how);
  const host = world.host();
  return {world, host, tab: await world.lend(host)};
};

test('a paused request is told at once and continued by the verdict', async () => {
  const {world, host, tab} = await lent();
  world.browser.pause(tab, 'r1');
  await until(() => world.browser.sent.includes('r1'));
  assert.deepEqual(host.events('Fetch.requestPaused'), [{tab, method: 'Fetch.requestPaused', params: {
    requestId: 'r1', frameId: 'F', resourceType: 'Document', request: {url: 'https://site.example/next', method: 'GET', headers: {}},
  }}]);
});

test('the host is told before anything is stored', async () => {
  const {world, tab} = await lent();
  const order = [];
  const {send} = world.worker.sockets.at(-1);
  world.worker.sockets.at(-1).send = function (text) { order.push('told'); send.call(this, text); };
  const {set} = world.browser.api.storage.session;
  world.worker.chrome.storage.session.set = async (values) => { order.push('stored'); set(values); };
  world.browser.pause(tab, 'r1');
  assert.deepEqual(order, ['told'], 'in the listener itself');
  await until(() => order.includes('stored'));
});

test('a refused request is answered 204, a failed one fails, and neither leaves', async () => {
  const {world, host, tab} = await lent();
  host.verdict = ({params}) => (params.requestId === 'r1' ? 'refuse' : 'fail');
  world.browser.pause(tab, 'r1');
  world.browser.pause(tab, 'r2');
  await until(() => world.browser.paused.get(tab).size === 0);
  assert.deepEqual(world.commands(tab, 'Fetch.fulfillRequest').map(([, , , params]) => params), [{requestId: 'r1', responseCode: 204}]);
  assert.deepEqual(world.commands(tab, 'Fetch.failRequest').map(([, , , params]) => params), [{requestId: 'r2', errorReason: 'BlockedByClient'}]);
  assert.deepEqual(world.browser.sent, []);
});

test('without a verdict in 2.5 s the request fails', async () => {
  const {world, host, tab} = await lent({hurry: 10});
  host.verdict = undefined;
  world.browser.pause(tab, 'r1');
  await until(() => world.browser.paused.get(tab).size === 0);
  assert.deepEqual(world.browser.sent, []);
  host.note('verdict', {tab, request: 'r1', action: 'continue'}); // too late
  await quiet();
  assert.equal(world.commands(tab, 'Fetch.continueRequest').length, 0);
});

test('a verdict of another host, or for another tab, changes nothing', async () => {
  const {world, host, tab} = await lent();
  const other = world.host();
  const its = await world.lend(other);
  host.verdict = other.verdict = undefined;
  world.browser.pause(tab, 'r1');
  await until(() => host.events('Fetch.requestPaused').length === 1);
  other.note('verdict', {tab, request: 'r1', action: 'continue'});
  host.note('verdict', {tab: its, request: 'r1', action: 'continue'});
  await quiet();
  assert.deepEqual(world.browser.sent, []);
  assert.equal(world.browser.paused.get(tab).size, 1);
});

test('a lost link fails what is paused, and what comes while it is lost', async () => {
  const {world, host, tab} = await lent();
  host.verdict = undefined;
  world.browser.pause(tab, 'r1');
  await until(() => host.events('Fetch.requestPaused').length === 1);
  host.admit = (socket) => socket.break(1006); // it runs, and does not answer
  host.socket.break(1006);
  await until(() => !world.browser.paused.get(tab)?.size);
  world.browser.pause(tab, 'r2');
  await quiet();
  assert.deepEqual(world.browser.sent, []);
});

test('while the owner drives their requests leave at once and are told as driven', async () => {
  const {world, host, tab} = await lent();
  host.verdict = 'fail';
  await world.ask('lease.takeover', {tab, private: false});
  world.browser.pause(tab, 'r1');
  await until(() => host.events('Fetch.requestPaused').length === 1);
  assert.deepEqual(world.browser.sent, ['r1']);
  assert.equal(host.events('Fetch.requestPaused')[0].driven, true);
});

test('a request of the tab in front in the focused window is told so, by what Chrome said last', async () => {
  const world = await World.make();
  const host = world.host();
  const [tab, other] = [world.page(), world.page()];
  await world.lend(host, tab);
  const front = async () => {
    const told = host.events('Fetch.requestPaused').length;
    world.browser.pause(tab, `r${told}`);
    await until(() => host.events('Fetch.requestPaused').length > told);
    return host.events('Fetch.requestPaused').at(-1).front;
  };
  const activate = (tabId, windowId = 1) => world.browser.fire('tabs.onActivated', {tabId, windowId});
  const focus = (windowId) => world.browser.fire('windows.onFocusChanged', windowId);
  assert.equal(await front(), undefined, 'nothing is in front');
  activate(tab);
  assert.equal(await front(), undefined, 'no window has the focus');
  focus(1);
  assert.equal(await front(), true);
  focus(2);
  assert.equal(await front(), undefined, 'in front of another window');
  activate(other, 2);
  focus(1);
  assert.equal(await front(), true);
  focus(-1);
  assert.equal(await front(), undefined, 'another program has the focus');
  focus(1);
  activate(other);
  assert.equal(await front(), undefined, 'behind another tab');
});

test('a new worker looks which tab is in front', async () => {
  const world = await World.make();
  const host = world.host();
  const tab = await world.lend(host, world.page('https://site.example/', {active: true}));
  world.browser.focused = true;
  world.worker.kill();
  await world.wake();
  await until(async () => host.linked && host.reconciled.length === 1);
  await quiet();
  world.browser.pause(tab, 'r1');
  await until(() => host.events('Fetch.requestPaused').length === 1);
  assert.equal(host.events('Fetch.requestPaused')[0].front, true);
});

test('a takeover fails what is paused that instant, before the host hears of it', async () => {
  const {world, host, tab} = await lent();
  host.verdict = undefined;
  world.browser.pause(tab, 'post');
  await until(() => host.events('Fetch.requestPaused').length === 1);
  const asked = world.ask('lease.takeover', {tab, private: false});
  await until(() => host.told('takeover').length === 1);
  host.note('verdict', {tab, request: 'post', action: 'continue'}); // was on its way
  await asked;
  await quiet();
  assert.deepEqual(world.browser.sent, []);
  assert.equal(world.browser.paused.get(tab).size, 0);
});

for (const [what, stop] of Object.entries({
  'the owner stops': ({world, tab}) => world.ask('lease.stop', {tab}),
  'the host ends the lease': ({host, tab}) => host.call('lease.end', {tab, close: false}),
  'it is dragged out': ({world, tab}) => world.browser.move(tab, -1),
  'its time is up': ({world, tab}) => world.browser.fire('alarms.onAlarm', {name: `until ${tab}`}),
  'the pairing is forgotten': ({world}) => world.ask('pair.forget'),
  'the extension is reloaded': ({world}) => world.ask('extension.reload'),
})) {
  test(`nothing that is paused leaves when ${what}`, async () => {
    const {world, host, tab} = await lent();
    host.verdict = undefined;
    world.browser.pause(tab, 'post');
    world.browser.pause(tab, 'frame', {sessionId: 'child'});
    await until(() => host.events('Fetch.requestPaused').length === 2);
    await stop({world, host, tab});
    await until(() => !world.browser.attached.has(tab));
    assert.deepEqual(world.browser.sent, []);
  });
}

test('a request of a tab that is not lent any more fails', async () => {
  const {world, tab} = await lent();
  world.browser.api.debugger.detach = () => new Promise(() => {}); // Chrome takes its time
  await Promise.race([world.ask('lease.stop', {tab}), quiet(400)]);
  world.browser.pause(tab, 'late');
  await until(() => world.commands(tab, 'Fetch.failRequest').length === 1);
  assert.deepEqual(world.browser.sent, []);
});
