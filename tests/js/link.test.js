import assert from 'node:assert/strict';
import {randomBytes} from 'node:crypto';
import test from 'node:test';
import {World, quiet, until} from './fake/world.js';

const code = (promise) => promise.then(() => 'ok', (error) => error.code);
const share = (world, host) => world.ask('lease.share', {instance: host.instance, tab: world.page()});

async function lent(how) {
  const world = await World.make(how);
  const host = world.host();
  const tab = await world.lend(host);
  return {world, host, tab};
}

test('the link is made to 127.0.0.1 at the listed port, and the third frame is lease.reconcile', async () => {
  const {world, host} = await lent();
  assert.deepEqual(world.worker.sockets.map(({url, protocol}) => [url, protocol]), [[`ws://127.0.0.1:${host.port}/tabvalet/1`, 'tabvalet.1']]);
  assert.deepEqual(host.calls[0], {method: 'lease.reconcile', params: {tabs: []}});
  assert.deepEqual(host.told('audit.mirror'), [{heads: []}]);
});

for (const [what, lie] of Object.entries({
  'a wrong key': {key: randomBytes(32)},
  'another instance': {lie: {instance: randomBytes(16).toString('base64url')}},
  'a proof of other bytes': {lie: {proof: randomBytes(32).toString('base64url')}},
  'a short proof': {lie: {proof: 'AAAA'}},
  'a version that was not offered': {lie: {version: 2}},
  'an unknown member': {lie: {more: 1}},
})) {
  test(`a host with ${what} is left before this side has proved anything`, async () => {
    const world = await World.make();
    const host = Object.assign(world.host(), lie);
    let proved = false;
    host.prove = () => { proved = true; };
    assert.equal((await share(world, host)).ok, false);
    assert.equal(proved, false);
    assert.ok([4400, 4401].includes(host.closes[0]), `closed with ${host.closes}`);
    assert.equal(world.browser.attached.size, 0);
  });
}

test('a key that was replaced on the other side asks for renewal, and renewed it works', async () => {
  const world = await World.make();
  const host = world.host();
  world.key = host.key = randomBytes(32);
  assert.equal((await share(world, host)).error.code, 'auth_failed');
  assert.equal((await world.status()).pairing, 'renew_needed');
  assert.equal((await world.ask('pair.renew')).value.profile, world.profile);
  assert.equal((await world.status()).pairing, 'paired');
  await world.lend(host);
});

test('rotated while a tab is lent, the lease ends and renewal is offered', async () => {
  const {world, host} = await lent();
  host.socket.break(4410);
  await until(() => world.browser.attached.size === 0);
  assert.equal((await world.status()).pairing, 'renew_needed');
});

for (const [what, text] of Object.entries({
  'no JSON': '{', 'an array': '[]', 'a null id': '{"jsonrpc":"2.0","id":null,"method":"ping","params":{}}',
  'an unknown member': '{"jsonrpc":"2.0","id":1,"method":"ping","params":{},"x":1}',
  'an answer to nothing': '{"jsonrpc":"2.0","id":999,"result":{}}',
  'a note of the wrong shape': '{"jsonrpc":"2.0","method":"verdict","params":{"tab":1}}',
  'a chunk out of order': '{"jsonrpc":"2.0","method":"chunk","params":{"id":1,"seq":1,"last":true,"data":"x"}}',
  'a frame over the limit': `{"jsonrpc":"2.0","method":"x","params":{"x":"${'x'.repeat(1 << 20)}"}}`,
})) {
  test(`${what} ends the link with 4400, and the tab is linked again`, async () => {
    const {world, host, tab} = await lent();
    host.socket.deliver(text);
    await until(() => host.closes.includes(4400));
    await until(() => host.reconciled?.length === 1);
    assert.equal(await code(host.send(tab, 'Page.getFrameTree')), 'ok');
  });
}

test('before the handshake is done nothing is served', async () => {
  const world = await World.make();
  const host = world.host();
  host.hello = () => host.say({id: 7, method: 'ping', params: {}});
  assert.equal((await share(world, host)).ok, false);
  assert.deepEqual(host.closes, [4403]);
});

test('ping is answered; unknown, misshapen and too many calls get their code', async () => {
  const {world, host, tab} = await lent();
  assert.deepEqual(await host.call('ping', {}), {});
  assert.equal(await code(host.call('constructor', {})), 'unknown_method');
  assert.equal(await code(host.call('lease.offer', {})), 'unknown_method');
  assert.equal(await code(host.call('cdp.send', {tab, method: 'Page.getFrameTree'})), 'bad_params');
  world.browser.answers['Page.getFrameTree'] = () => new Promise(() => {});
  for (let i = 0; i < 64; i++) host.send(tab, 'Page.getFrameTree').catch(() => {});
  assert.equal(await code(host.send(tab, 'Page.getLayoutMetrics')), 'busy');
});

test('a host that is silent for 35 s is dead: the link ends and is made anew', async () => {
  const {world, host} = await lent({hurry: 10});
  const links = world.worker.sockets.length;
  const {receive} = host;
  host.receive = function (socket, text) { if (!text.includes('"ping"')) receive.call(this, socket, text); };
  world.worker.later(36_000);
  await until(() => host.closes.includes(4408));
  await until(() => world.worker.sockets.length > links);
});

test('a host that is gone for good ends its leases: detached, badge off, out of the group', async () => {
  const {world, host, tab} = await lent();
  const other = world.host();
  const its = await world.lend(other);
  host.die();
  await until(() => !world.browser.attached.has(tab));
  await until(() => world.browser.tabs.get(tab).groupId === -1);
  assert.equal(world.browser.badges.get(tab), '');
  assert.deepEqual((await world.status()).leases.map((lease) => lease.tab), [its]);
});

test('links are retried with growing pauses while the host is listed, and then it says what stands', async () => {
  const {world, host, tab} = await lent({hurry: 10});
  const second = await world.lend(host);
  host.admit = (socket) => socket.break(1006);
  host.socket.break(1006);
  await until(() => world.worker.sockets.length >= 5);
  delete host.admit;
  host.answers['lease.reconcile'] = {keep: [second]};
  await until(() => host.reconciled?.length === 2);
  await until(() => !world.browser.attached.has(tab));
  assert.deepEqual((await world.status()).leases.map((lease) => lease.tab), [second]);
  assert.equal(await code(host.send(second, 'Page.getFrameTree')), 'ok');
});

test('a mirrored head only moves on, and is told after each handshake', async () => {
  const {world, host} = await lent();
  const row = (seq, hash = `h${seq}`) => ({seq, hash, row: {kind: 'event'}});
  host.note('audit.rows', {file: 'a.jsonl', rows: [row(1), row(2)]});
  host.note('audit.rows', {file: 'a.jsonl', rows: [row(2, 'forged'), row(1)]});
  host.note('audit.rows', {file: 'b.jsonl', rows: [row(1)]});
  await until(() => Object.keys(world.browser.areas.local.heads ?? {}).length === 2);
  host.socket.break(1006);
  await until(() => host.told('audit.mirror').length === 2);
  assert.deepEqual(host.told('audit.mirror')[1], {heads: [{file: 'a.jsonl', seq: 2, hash: 'h2'}, {file: 'b.jsonl', seq: 1, hash: 'h1'}]});
  assert.equal(world.browser.areas.session.rows.length, 3);
});

test('a host is shown the heads of its rows soon, once for many, and at once after its last row', async () => {
  const {world, host} = await lent();
  const row = (seq, kind = 'event') => ({seq, hash: `h${seq}`, row: {kind}});
  const told = () => host.told('audit.mirror').slice(1).map(({heads}) => heads);
  for (const seq of [1, 2, 3]) host.note('audit.rows', {file: 'a.jsonl', rows: [row(seq)]});
  await until(() => told().length > 0);
  assert.deepEqual(told(), [[{file: 'a.jsonl', seq: 3, hash: 'h3'}]]);
  host.note('audit.rows', {file: 'b.jsonl', rows: [row(1)]});
  host.note('audit.rows', {file: 'a.jsonl', rows: [row(4, 'close')]});
  await quiet();
  assert.deepEqual(told()[1], [{file: 'a.jsonl', seq: 4, hash: 'h4'}, {file: 'b.jsonl', seq: 1, hash: 'h1'}]);
  await quiet(1000);
  assert.equal(told().length, 2, 'what was shown is not shown again');
  assert.equal(world.browser.areas.session.rows.length, 5);
});

test('a host is shown the heads before its lease.end is answered, and before the link closes', async () => {
  const {world, host, tab} = await lent({hurry: 10});
  const second = await world.lend(host);
  const row = (seq) => ({seq, hash: `h${seq}`, row: {kind: 'event'}});
  const last = () => host.told('audit.mirror').at(-1).heads[0]?.seq;
  host.note('audit.rows', {file: 'a.jsonl', rows: [row(1)]});
  await host.call('lease.end', {tab, close: false});
  assert.equal(last(), 1);
  await world.ask('lease.stop', {tab: second});
  host.note('audit.rows', {file: 'a.jsonl', rows: [row(2)]});
  await until(() => host.closes.includes(1000));
  assert.equal(last(), 2);
});

test('pairing keeps a key that nobody can read, and says what went wrong', async () => {
  const world = await World.make({paired: false});
  assert.equal((await world.status()).pairing, 'none');
  assert.equal((await share(world, world.host())).error.code, 'not_paired');
  const {native} = world.browser;
  world.browser.native = () => ({error: {code: 'pairing_closed', message: 'no window is open'}});
  assert.equal((await world.ask('pair.start')).error.code, 'pairing_closed');
  for (const [said, want] of [['Specified native messaging host not found.', 'native_missing'], ['Access to the specified native messaging host is forbidden.', 'native_forbidden'], ['Native host has exited.', 'unavailable']]) {
    world.browser.native = () => new Error(said);
    assert.equal((await world.ask('pair.start')).error.code, want);
  }
  world.browser.native = native;
  assert.deepEqual((await world.ask('pair.start')).value, {profile: world.profile});
  const key = world.browser.databases.keys.get(world.profile);
  assert.equal(key.extractable, false);
  await assert.rejects(crypto.subtle.exportKey('raw', key));
  assert.ok(!JSON.stringify(world.browser.areas).includes(world.key.toString('base64url')));
  await world.lend(world.hosts[0]);
  await world.ask('pair.forget');
  assert.equal(world.browser.databases.keys.size, 0);
  assert.equal(world.browser.attached.size, 0);
  assert.equal((await world.status()).pairing, 'none');
});

test('a profile that was revoked counts as not paired', async () => {
  const world = await World.make();
  world.browser.native = () => ({hosts: [], extension: '0.2.0', profiles: []});
  const status = await world.status();
  assert.deepEqual([status.pairing, status.newer], ['none', '0.2.0']);
});

test('links close by themselves when nothing needs them', async () => {
  const {world, host, tab} = await lent({hurry: 10});
  await world.ask('lease.stop', {tab});
  await until(() => host.closes.includes(1000));
  await quiet();
  assert.equal(world.worker.sockets.length, 1);
});

test('a manual code counts as paired at once, and is proved to a host that runs', async () => {
  const {manualCode} = await import('./fake/host.js');
  const world = await World.make({paired: false, hurry: 10});
  const host = world.host();
  assert.equal((await world.ask('pair.manual', {code: 'AAAA'})).error.code, 'pairing_code');
  assert.equal((await world.ask('pair.manual', {code: manualCode(world.profile, world.key)})).value.profile, world.profile);
  world.browser.native = () => ({hosts: [host.listing], extension: '0.1.0', profiles: []});
  assert.equal((await world.status()).pairing, 'paired');
  await until(() => host.calls.some(({method}) => method === 'lease.reconcile'));
  await until(() => host.closes.includes(1000));
});

test('a link that breaks before the host has said what stands leaves the tab to the next one', async () => {
  const {world, host, tab} = await lent({hurry: 10});
  const held = [];
  host.answers['lease.reconcile'] = ({tabs}) => {
    if (held.push(tabs.map((one) => one.tab)) > 1) return {keep: [tab]};
    host.socket.break(1006);
    return new Promise(() => {});
  };
  host.socket.break(1006);
  await until(() => held.length === 2);
  assert.deepEqual(held, [[tab], [tab]]);
});
