import assert from 'node:assert/strict';
import test from 'node:test';
import {World, quiet, until} from './fake/world.js';

const code = (promise) => promise.then(() => 'ok', (error) => error.code);

async function lent() {
  const world = await World.make();
  const host = world.host();
  const tab = await world.lend(host);
  return {world, host, tab};
}

test('a command of the list reaches the tab, its answer comes back as it is', async () => {
  const {world, host, tab} = await lent();
  world.browser.answers['Page.getFrameTree'] = {frameTree: {frame: {id: 'F'}}};
  assert.deepEqual(await host.send(tab, 'Page.getFrameTree'), {frameTree: {frame: {id: 'F'}}});
});

for (const [method, params] of [
  ['Page.bringToFront', {}], ['Network.getCookies', {}], ['Storage.getCookies', {}], ['Target.createTarget', {url: 'about:blank'}],
  ['Page.setBypassCSP', {enabled: true}], ['Fetch.continueRequest', {requestId: 'r'}], ['Fetch.disable', {}], ['Log.enable', {}],
  ['Page.navigate', {url: 'chrome://settings'}], ['Page.navigate', {url: 'chrome-extension://x/'}], ['Page.navigate', {url: 'http://127.0.0.1:9/approve/x'}],
  ['Runtime.evaluate', {expression: '1'}], ['__proto__', {}], ['Page.getFrameTree', {x: 1}],
]) {
  test(`${method} ${JSON.stringify(params)} is refused`, async () => {
    const {world, host, tab} = await lent();
    const before = world.commands(tab).length;
    assert.equal(await code(host.send(tab, method, params)), 'method_not_allowed');
    assert.equal(world.commands(tab).length, before);
  });
}

test("a host reaches only its own tabs, and neither a foreign one nor one that is not lent", async () => {
  const {world, host, tab} = await lent();
  const other = world.host();
  const its = await world.lend(other);
  const free = world.page();
  for (const [who, which] of [[host, its], [other, tab], [host, free], [host, 999]]) {
    assert.equal(await code(who.send(which, 'Page.getFrameTree')), 'not_leased');
    assert.equal(await code(who.call('lease.end', {tab: which, close: true})), 'not_leased');
    assert.equal(await code(who.call('tab.close', {tab: which})), 'not_leased');
    assert.equal(await code(who.call('tab.open', {url: 'about:blank', lease: 'x', beside: which})), 'not_leased');
  }
});

for (const [how, stop, expected] of [
  ['drives', (world, tab) => world.ask('lease.takeover', {tab, private: false}), 'owner_has_control'],
  ['drives in private', (world, tab) => world.ask('lease.takeover', {tab, private: true}), 'owner_private'],
  ['has paused the agent', (world, tab, host) => world.ask('agent.pause', {instance: host.instance, paused: true}), 'agent_paused'],
]) {
  test(`while the owner ${how} the host opens and closes no tab`, async () => {
    const {world, host, tab} = await lent();
    const {tab: own} = await host.call('tab.open', {url: 'about:blank', lease: 'x', beside: tab});
    for (const one of [tab, own]) await stop(world, one, host);
    assert.equal(await code(host.call('tab.open', {url: 'about:blank', lease: 'y', beside: tab})), expected);
    assert.equal(await code(host.call('tab.close', {tab: own})), expected);
    assert.ok(world.browser.tabs.has(own));
  });
}

test('while the owner drives acts are refused, reads go on, and what clears up passes', async () => {
  const {world, host, tab} = await lent();
  await world.ask('lease.takeover', {tab, private: false});
  assert.equal(await code(host.send(tab, 'Input.insertText', {text: 'x'})), 'owner_has_control');
  assert.equal(await code(host.send(tab, 'Page.getFrameTree', {}, {act: true})), 'owner_has_control');
  assert.equal(await code(host.send(tab, 'Page.getFrameTree')), 'ok');
  assert.equal(await code(host.send(tab, 'Input.dispatchMouseEvent', {type: 'mouseReleased', x: 1, y: 1})), 'ok');
  assert.equal(await code(host.send(tab, 'Page.stopScreencast')), 'ok');
  await world.ask('lease.handback', {tab});
  assert.equal(await code(host.send(tab, 'Input.insertText', {text: 'x'})), 'ok');
  assert.deepEqual([host.told('takeover').length, host.told('handback').length], [1, 1]);
});

test('in private nothing is read, and no event tells an address', async () => {
  const {world, host, tab} = await lent();
  await world.ask('lease.takeover', {tab, private: true});
  const before = host.events().length;
  assert.equal(await code(host.send(tab, 'Page.getFrameTree')), 'owner_private');
  assert.equal(await code(host.send(tab, 'Page.stopLoading')), 'ok');
  world.browser.event(tab, 'Page.frameNavigated', {frame: {id: 'F', url: 'https://secret.example/'}});
  world.browser.pause(tab, 'r', {url: 'https://secret.example/'});
  world.browser.event(tab, 'Target.attachedToTarget', {sessionId: 'S', waitingForDebugger: true, targetInfo: {targetId: 'C', type: 'iframe', url: 'https://secret.example/'}});
  await quiet();
  assert.ok(!JSON.stringify(host.events().slice(before)).includes('secret'));
  assert.deepEqual(host.events().slice(before).map(({method}) => method), ['Target.attachedToTarget']);
});

test('a paused agent may read and not act', async () => {
  const {world, host, tab} = await lent();
  await world.ask('agent.pause', {instance: host.instance, paused: true});
  assert.equal(await code(host.send(tab, 'Page.reload')), 'agent_paused');
  assert.equal(await code(host.send(tab, 'Page.getFrameTree')), 'ok');
  assert.deepEqual((await world.status()).paused, [host.instance]);
  await world.ask('agent.pause', {instance: host.instance, paused: false});
  assert.equal(await code(host.send(tab, 'Page.reload')), 'ok');
  assert.deepEqual(host.told('agent.paused'), [{paused: true}, {paused: false}]);
});

test('a host pauses itself, and only the owner resumes it', async () => {
  const {world, host, tab} = await lent();
  host.note('agent.paused', {paused: true});
  assert.equal(await code(host.send(tab, 'Page.reload')), 'agent_paused');
  host.note('agent.paused', {paused: false});
  assert.equal(await code(host.send(tab, 'Page.reload')), 'agent_paused');
  assert.deepEqual((await world.status()).paused, [host.instance]);
  assert.deepEqual(host.told('agent.paused'), []);
  await world.ask('agent.pause', {instance: host.instance, paused: false});
  assert.equal(await code(host.send(tab, 'Page.reload')), 'ok');
  assert.deepEqual(host.told('agent.paused'), [{paused: false}]);
});

test("Chrome's own error comes back with its number", async () => {
  const {world, host, tab} = await lent();
  world.browser.answers['DOM.resolveNode'] = () => { throw new Error('{"code":-32000,"message":"No node with given id found"}'); };
  const error = await host.send(tab, 'DOM.resolveNode', {backendNodeId: 1}).catch((caught) => caught);
  assert.deepEqual([error.code, error.message, error.data], ['chrome_error', 'No node with given id found', {cdp: -32000}]);
});

test('a large result comes in pieces, and small messages between them', async () => {
  const {world, host, tab} = await lent();
  world.browser.answers['Page.captureScreenshot'] = {data: 'x'.repeat(3 << 20)};
  const {receive} = host;
  const seen = [];
  const pieces = [];
  const whole = new Promise((done) => {
    host.receive = function (socket, text) {
      const message = JSON.parse(text);
      seen.push(message.method);
      assert.ok(text.length <= 1 << 20);
      if (message.method !== 'chunk') return receive.call(this, socket, text);
      if (message.params.seq === 2) world.browser.event(tab, 'Page.loadEventFired', {timestamp: 1});
      pieces.push(message.params.data);
      return message.params.last ? done(JSON.parse(pieces.join(''))) : undefined;
    };
  });
  host.send(tab, 'Page.captureScreenshot').catch(() => {});
  assert.equal((await whole).result.data.length, 3 << 20);
  assert.ok(seen.indexOf('cdp.event') < seen.lastIndexOf('chunk'));
});

test('half a surrogate pair and a deep answer end no link', async () => {
  const {world, host, tab} = await lent();
  world.browser.answers['Runtime.evaluate'] = {result: {value: '\ud800 "\\ud800" \\\ud83d\ude00'}};
  const {result} = await host.send(tab, 'Runtime.evaluate', {expression: '1', contextId: 1});
  assert.equal(result.value, '\ufffd "\\ud800" \\😀');
  let deep = {};
  for (let i = 0; i < 80; i++) deep = {deep};
  world.browser.answers['Page.getFrameTree'] = deep;
  assert.equal(await code(host.send(tab, 'Page.getFrameTree')), 'too_large');
  assert.equal(host.closes.length, 0);
});

test('a child frame is guarded before it runs; a worker is let run and left alone', async () => {
  const {world, host, tab} = await lent();
  world.browser.event(tab, 'Target.attachedToTarget', {sessionId: 'S', waitingForDebugger: true, targetInfo: {targetId: 'C', type: 'iframe', url: 'https://ads.example/'}});
  const toChild = world.browser.calls.filter(([name, target]) => name === 'debugger.sendCommand' && target.sessionId === 'S').map(([, , method]) => method);
  assert.deepEqual(toChild, ['Page.enable', 'Network.enable', 'Network.setBypassServiceWorker', 'Fetch.enable', 'Target.setAutoAttach',
    'Emulation.setFocusEmulationEnabled', 'Page.setLifecycleEventsEnabled', 'Runtime.runIfWaitingForDebugger']);
  await until(() => host.events('Target.attachedToTarget').length === 1);
  assert.equal(await code(host.send(tab, 'Page.getFrameTree', {}, {session: 'S'})), 'ok');
  world.browser.event(tab, 'Target.attachedToTarget', {sessionId: 'W', waitingForDebugger: true, targetInfo: {targetId: 'D', type: 'worker', url: ''}}, 'S');
  const last = world.browser.calls.filter(([name]) => name === 'debugger.sendCommand').slice(-2).map(([, target, method]) => [target.sessionId, method]);
  assert.deepEqual(last, [['W', 'Runtime.runIfWaitingForDebugger'], ['S', 'Target.detachFromTarget']]);
  assert.equal(await code(host.send(tab, 'Page.getFrameTree', {}, {session: 'W'})), 'chrome_error');
  world.browser.event(tab, 'Target.detachedFromTarget', {sessionId: 'S'});
  assert.equal(await code(host.send(tab, 'Page.getFrameTree', {}, {session: 'S'})), 'chrome_error');
  assert.equal(host.events('Target.attachedToTarget').length, 1);
});

test('events outside the list stay in the browser, and a screencast frame is acknowledged', async () => {
  const {world, host, tab} = await lent();
  const before = host.events().length;
  world.browser.event(tab, 'Network.dataReceived', {});
  world.browser.event(tab, 'Page.lifecycleEvent', {frameId: 'F', loaderId: 'L', name: 'firstPaint', timestamp: 1});
  world.browser.event(tab, 'Page.screencastFrame', {data: 'x', sessionId: 7});
  await quiet();
  assert.equal(host.events().length, before);
  assert.deepEqual(world.commands(tab, 'Page.screencastFrameAck').map(([, , , params]) => params), [{sessionId: 7}]);
});
