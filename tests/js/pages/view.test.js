import assert from 'node:assert/strict';
import {test} from 'node:test';
import * as view from '../../../extension/pages/view.js';

const host = (/** @type {object} */ more) => ({instance: 'a', name: 'Claude Code', pid: 1, started: 1, state: 'connected', linked: true, ...more});
const lease = (/** @type {object} */ more) => ({
  tab: 7, title: 'Shop', url: 'https://shop.example/x', client: 'Claude Code', instance: 'a', driving: false, private: false, frozen: false, asking: false,
  starting: false, since: 0, until: null, access: 'act', sealed: false, opened: false, grants: [], ...more,
});
const status = (/** @type {object} */ more) => /** @type {any} */ ({pairing: 'paired', native: 'ok', hosts: [], leases: [], prompts: [], paused: [], current: null, ...more});
const prompt = (/** @type {object} */ more) => /** @type {any} */ ({
  id: 'p', tab: 7, kind: 'submit', site: 'https://shop.example', destination: 'https://shop.example', method: 'POST', control: 'button "Order"',
  fields: ['street'], announced: true, choices: ['once', 'ten_minutes', 'no'], expires_ms: 300_000, client: 'Claude Code', instance: 'a', asked: 1000, ...more,
});

test('the popup shows pairing before anything else', () => {
  for (const [pairing, want] of [['none', 'unpaired'], ['renew_needed', 'renew'], ['paired', 'ready']]) {
    assert.equal(view.popupState(status({pairing})), want);
  }
  assert.deepEqual(view.summary(status({pairing: 'none'})), ['summary_unpaired']);
  assert.deepEqual(view.summary(status({})), ['summary_none']);
  assert.deepEqual(view.summary(status({leases: [lease({})]})), ['summary_one']);
  assert.deepEqual(view.summary(status({leases: [lease({}), lease({tab: 8})]})), ['summary_many', 2]);
});

test('only a native host that is known to fail is a trouble', () => {
  assert.equal(view.nativeTrouble(status({native: 'ok'})), null);
  assert.equal(view.nativeTrouble(status({native: 'unknown'})), null);
  assert.equal(view.nativeTrouble(status({native: 'missing'})), 'missing');
  assert.equal(view.nativeTrouble(status({native: 'forbidden'})), 'forbidden');
});

test('agents: those that wait come first, then those with a tab', () => {
  const hosts = [host({instance: 'idle', name: 'I'}), host({}), host({instance: 'w', name: 'W', state: 'waiting', linked: false})];
  assert.deepEqual(view.agents(status({hosts, leases: [lease({})]})).map((agent) => agent.key), ['w', 'a', 'idle']);
});

test('an agent that vanished from the list keeps its tabs in sight', () => {
  const [agent] = view.agents(status({leases: [lease({})]}));
  assert.equal(agent?.name, 'Claude Code');
  assert.deepEqual(agent?.note, ['agent_reconnecting']);
  assert.equal(agent?.leases.length, 1);
});

test('agents of one name are told apart by their start', () => {
  const twins = view.agents(status({hosts: [host({started: 5}), host({instance: 'b', started: 6}), host({instance: 'c', name: 'Other', started: 7})]}));
  assert.deepEqual(twins.map(({key, started}) => [key, started]), [['a', 5], ['b', 6], ['c', null]]);
});

test('the note of an agent says why nothing happens', () => {
  const note = (/** @type {object} */ more, /** @type {object[]} */ leases = [], /** @type {string[]} */ paused = []) =>
    view.agents(status({hosts: [host(more)], leases, paused}))[0]?.note;
  assert.deepEqual(note({}), ['agent_idle']);
  assert.deepEqual(note({state: 'waiting'}), ['agent_waits']);
  assert.deepEqual(note({linked: false}), ['agent_elsewhere']);
  assert.deepEqual(note({linked: false}, [lease({})]), ['agent_reconnecting']);
  assert.deepEqual(note({}, [lease({})], ['a']), ['agent_paused']);
  assert.equal(note({}, [lease({})]), null);
});

test('the state of a lease: what needs the owner comes before what they chose', () => {
  const state = (/** @type {object} */ more, paused = false) => view.leaseState(/** @type {any} */ (lease(more)), paused);
  assert.equal(state({starting: true}, true), 'starting');
  assert.equal(state({frozen: true, driving: true, asking: true}, true), 'frozen');
  assert.equal(state({driving: true, private: true, asking: true}, true), 'private');
  assert.equal(state({driving: true, asking: true}, true), 'driving');
  assert.equal(state({private: true}), 'shared'); // private counts only while driving
  assert.equal(state({asking: true}, true), 'asking');
  assert.equal(state({}, true), 'paused');
  assert.equal(state({}), 'shared');
});

test('sending forms ends ten minutes after the sharing began', () => {
  const access = (/** @type {object} */ more, /** @type {number} */ now) => view.leaseAccess(/** @type {any} */ (lease(more)), now, (ms) => `at ${ms}`);
  assert.deepEqual(access({access: 'read'}, 0), ['lease_access_read']);
  assert.deepEqual(access({access: 'act'}, 0), ['lease_access_act']);
  assert.deepEqual(access({access: 'submit', since: 5}, 600_004), ['lease_access_submit', 'at 600005']);
  assert.deepEqual(access({access: 'submit', since: 5}, 600_005), ['lease_access_act']);
});

test('a tab can be shared only when it may be and an agent can be reached', () => {
  const current = {tab: 1, title: '', url: 'https://a.example/', sharable: true};
  const hosts = [host({}), host({instance: 'far', name: 'Far', linked: false}), host({instance: 'w', name: 'W', state: 'waiting', linked: false})];
  assert.deepEqual(view.shareWith(status({hosts, current})).map((agent) => agent.key), ['w', 'a']);
  assert.deepEqual(view.shareWith(status({hosts, current: {...current, sharable: 'Only web pages can be shared.'}})), []);
  assert.deepEqual(view.shareWith(status({hosts})), []);
});

const tabs = /** @type {any[]} */ ([
  {tab: 1, title: 'Mail', url: 'https://mail.example/', refused: null},
  {tab: 2, title: 'Extensions', url: 'chrome://extensions', refused: 'no'},
  {tab: 3, title: 'Shop', url: 'https://shop.example/', refused: null},
]);

test('tabs: the asked site first, refused ones last, the rest in Chrome’s order', () => {
  assert.deepEqual(view.tabChoices(tabs, {asked: 'https://shop.example/orders'}).map(({tab}) => tab), [3, 1, 2]);
  assert.deepEqual(view.tabChoices(tabs).map(({tab}) => tab), [1, 3, 2]);
  assert.deepEqual(view.tabChoices(tabs, {asked: 'not an address'}).map(({tab}) => tab), [1, 3, 2]);
});

test('the filter needs every word and never hides the chosen tab', () => {
  assert.deepEqual(view.tabChoices(tabs, {filter: ' SHOP example'}).map(({tab}) => tab), [3]);
  assert.deepEqual(view.tabChoices(tabs, {filter: 'shop mail'}), []);
  assert.deepEqual(view.tabChoices(tabs, {filter: 'shop', chosen: 1}).map(({tab}) => tab), [1, 3]);
});

test('sending is never chosen at first', () => {
  assert.equal(view.firstAccess('read'), 'read');
  assert.equal(view.firstAccess('act'), 'act');
  assert.equal(view.firstAccess('submit'), 'act');
});

test('a submission names site, control, method and fields', () => {
  const {heading, facts, note, choices, terms} = view.question(prompt({}));
  assert.deepEqual(heading, ['prompt_heading_submit', 'Claude Code', 'shop.example']);
  assert.deepEqual(facts.map(({label}) => label), ['prompt_site', 'prompt_control', 'prompt_method', 'prompt_fields']);
  assert.deepEqual(note, ['prompt_announced', 'Claude Code']);
  assert.deepEqual(choices, ['once', 'ten_minutes', 'no']);
  assert.deepEqual(terms, [['choice_ten_minutes_means', 'shop.example']]);
});

test('a destination elsewhere is shown', () => {
  const at = (/** @type {object} */ more) => view.question(prompt(more)).facts.find(({label}) => label === 'prompt_destination')?.value;
  assert.equal(at({}), undefined);
  assert.equal(at({site: 'shop.example'}), undefined);
  assert.equal(at({destination: 'https://pay.example'}), 'pay.example');
  assert.equal(at({destination: 'http://shop.example'}), 'http://shop.example');
  assert.equal(at({destination: 'https://shop.example:444'}), 'shop.example:444');
});

test('a navigation names where it leads', () => {
  const {heading, facts, note} = view.question(prompt({kind: 'navigate', destination: 'https://other.example', method: '', fields: [], announced: false}));
  assert.deepEqual(heading, ['prompt_heading_navigate', 'Claude Code', 'other.example']);
  assert.equal(facts[0]?.label, 'prompt_from');
  assert.deepEqual(note, ['prompt_surprise', 'Claude Code']);
});

test('an answer that this page does not know is not offered', () => {
  assert.deepEqual(view.question(prompt({choices: ['forever', 'no']})).choices, ['no']);
});

test('methods in plain words, whatever their case', () => {
  assert.deepEqual(view.methodSaid('post'), ['method_POST']);
  assert.deepEqual(view.methodSaid('PURGE'), ['method_other', 'PURGE']);
});

test('the time left never goes below zero', () => {
  assert.equal(view.timeLeft(prompt({}), 1000), 300_000);
  assert.equal(view.timeLeft(prompt({}), 1_000_000), 0);
  assert.equal(view.clock(300_000), '5:00');
  assert.equal(view.clock(64_200), '1:05');
  assert.equal(view.clock(0), '0:00');
});

test('a site is the host, with what is unusual about it', () => {
  for (const [url, want] of [
    ['https://shop.example/basket', 'shop.example'], ['https://shop.example:8443/', 'shop.example:8443'], ['http://shop.example/', 'http://shop.example'],
    ['http://127.0.0.1:8080/x', 'http://127.0.0.1:8080'], ['chrome://extensions/', 'chrome://extensions/'], ['shop.example', 'shop.example'], ['', ''],
  ]) assert.equal(view.siteOf(String(url)), want);
});

test('an exact address is narrower than its site only under a domain name', () => {
  for (const url of ['https://mail.example.com/', 'https://a.b.example/']) assert.equal(view.exactMatters(url), true, url);
  for (const url of ['http://mail.example.com/', 'https://127.0.0.1/', 'https://[::1]/', 'https://localhost/', 'https://a.localhost/', 'nonsense']) {
    assert.equal(view.exactMatters(url), false, url);
  }
});

test('the text of a stranger cannot hide or reorder', () => {
  assert.equal(view.plain('\u202Eedoc\u202C eduaC'), 'edoc eduaC');
  assert.equal(view.plain('a\u200Bb\uFEFFc'), 'abc');
  assert.equal(view.plain(' one\n\ttwo\u2028three '), 'one two three');
  assert.equal(view.plain('naïve – «ok» 漢字 עוזר'), 'naïve – «ok» 漢字 עוזר');
});

test('a problem has a sentence, or the words it came with', () => {
  const said = (/** @type {string} */ code, message = 'words') => view.problemSaid({code, message});
  assert.deepEqual(said('pairing_closed'), ['problem_pairing_closed']);
  assert.deepEqual(said('attach_refused'), ['problem_attach_refused', 'words']);
  assert.deepEqual(said('pairing_symlink'), ['problem_pairing_file', 'words']);
  assert.deepEqual(said('internal'), ['problem_other', 'words']);
  assert.deepEqual(said('internal', ''), ['problem_other', 'internal']);
});
