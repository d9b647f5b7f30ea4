// A page outlives the worker: what was surely not heard is asked again, a decision that may have been heard is not.
import assert from 'node:assert/strict';
import {beforeEach, mock, test} from 'node:test';
import {Refused, ask} from '../../../extension/pages/ui.js';

const NOBODY = new Error('Could not establish connection. Receiving end does not exist.');
const DIED = new Error('The message port closed before a response was received.');

/** @type {unknown[]} */
let sent;

/** A worker that behaves in turn as told; an error is thrown. @param {unknown[]} turns */
function worker(...turns) {
  sent = [];
  /** @type {any} */ (globalThis).chrome = {runtime: {sendMessage: async (/** @type {unknown} */ message) => {
    sent.push(message);
    const turn = turns.length > 1 ? turns.shift() : turns[0];
    if (turn instanceof Error) throw turn;
    return turn;
  }}};
}

beforeEach(() => mock.timers.reset());

/** Lets time pass until the work is settled, for a minute at most. @param {() => Promise<unknown>} start */
async function passing(start) {
  mock.timers.enable({apis: ['setTimeout', 'Date']});
  const work = start();
  let open = true;
  work.finally(() => { open = false; }).catch(() => {});
  for (let i = 0; open && i < 600; i++) {
    for (let turns = 0; turns < 10; turns++) await Promise.resolve();
    mock.timers.tick(100);
  }
  return work;
}

test('an answer is its value', async () => {
  worker({ok: true, value: 7});
  assert.equal(await ask('status.get'), 7);
  assert.deepEqual(sent, [{type: 'status.get'}]);
});

test('a no carries code, words and hint', async () => {
  worker({ok: false, error: {code: 'pairing_closed', message: 'closed', hint: 'open it'}});
  await assert.rejects(ask('pair.start'), (error) => error instanceof Refused && error.code === 'pairing_closed' && error.hint === 'open it');
  assert.equal(sent.length, 1);
});

test('a worker that is just waking is asked again, a decision too', async () => {
  worker(NOBODY, NOBODY, {ok: true, value: {tab: 7}});
  assert.deepEqual(await passing(() => ask('approval.share', {tab: 7})), {tab: 7});
  assert.deepEqual(sent[2], {type: 'approval.share', tab: 7});
});

test('a question is asked again when the worker died over it', async () => {
  worker(DIED, undefined, {ok: true, value: []});
  assert.deepEqual(await passing(() => ask('approval.tabs')), []);
});

test('a decision that may have been heard is never sent twice', async () => {
  for (const turn of [DIED, undefined, {}]) {
    worker(turn);
    await assert.rejects(ask('prompt.answer', {id: 'p'}), {code: 'transport_lost'});
    assert.equal(sent.length, 1);
  }
});

test('a worker that stays silent is given up after 20 s', async () => {
  worker(NOBODY);
  await assert.rejects(passing(() => ask('status.get')), {code: 'silent'});
  assert.ok(sent.length > 15 && sent.length < 60, `asked ${sent.length} times`);
});
