// What decides can be pressed only by a hand, and only when the page has stood still in sight for 700 ms.
import assert from 'node:assert/strict';
import {afterEach, beforeEach, mock, test} from 'node:test';
import {arm, press} from '../../../extension/pages/ui.js';

/** A document that can be hidden. */
class Page extends EventTarget {
  visibilityState = 'visible';
  body = {dataset: {}};
  /** @param {'visible' | 'hidden'} state */
  turn(state) {
    this.visibilityState = state;
    this.dispatchEvent(new Event('visibilitychange'));
  }
}

/** @type {Page} */
let page;

beforeEach(() => {
  page = new Page();
  Object.assign(globalThis, {document: page, window: globalThis});
  mock.timers.enable({apis: ['setTimeout']});
});
afterEach(() => mock.timers.reset());

const button = () => /** @type {any} */ ({
  disabled: false, ariaBusy: null,
  addEventListener(/** @type {string} */ _, /** @type {Function} */ listener) { this.click = listener; },
});

test('a button arms 700 ms after it came in sight', () => {
  const share = button();
  arm(() => [share]);
  assert.equal(share.disabled, true);
  mock.timers.tick(699);
  assert.equal(share.disabled, true);
  mock.timers.tick(1);
  assert.equal(share.disabled, false);
});

test('out of sight nothing arms, and the 700 ms start anew on return', () => {
  const share = button();
  page.visibilityState = 'hidden';
  arm(() => [share]);
  mock.timers.tick(5000);
  assert.equal(share.disabled, true);
  page.turn('visible');
  mock.timers.tick(600);
  page.turn('hidden');
  mock.timers.tick(5000);
  assert.equal(share.disabled, true);
  page.turn('visible');
  mock.timers.tick(700);
  assert.equal(share.disabled, false);
  page.turn('hidden');
  assert.equal(share.disabled, true);
});

test('what moved arms anew; what is not ready stays disabled', () => {
  const share = button();
  let ready = true;
  const guard = arm(() => [share], () => ready);
  mock.timers.tick(700);
  guard.again();
  assert.equal(share.disabled, true);
  mock.timers.tick(700);
  assert.equal(share.disabled, false);
  ready = false;
  guard.update();
  assert.equal(share.disabled, true);
});

test('only a real click counts, and only one at a time', async () => {
  const share = button();
  let done = () => {};
  const acts = mock.fn(() => new Promise((/** @type {(value?: any) => void} */ resolve) => { done = resolve; }));
  press(share, acts);
  share.click({isTrusted: false});
  assert.equal(acts.mock.callCount(), 0);
  const first = share.click({isTrusted: true});
  share.click({isTrusted: true});
  assert.equal(acts.mock.callCount(), 1);
  done();
  await first;
  share.click({isTrusted: true});
  assert.equal(acts.mock.callCount(), 2);
});
