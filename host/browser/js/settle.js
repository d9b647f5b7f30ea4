// Time: frames, DOM changes, trusted input. Nothing here waits for a frame without a timer beside it, because a
// background tab may draw none.

const frameFallback = 34;

/** @param {number} ms @returns {Promise<void>} */
const sleep = (ms) => new Promise((done) => setTimeout(done, ms));

/** One animation frame, or 34 ms. @returns {Promise<void>} */
const nextFrame = () => new Promise((done) => {
  const timer = setTimeout(done, frameFallback);
  requestAnimationFrame(() => {
    clearTimeout(timer);
    done();
  });
});

/** A task after those that wait now; unlike a timer it is slowed down nowhere. @returns {Promise<void>} */
const nextTask = () => new Promise((done) => {
  const {port1, port2} = new MessageChannel();
  port1.onmessage = () => {
    port1.close();
    done();
  };
  port2.postMessage(0);
});

/** Counts changes of the DOM in every tree the engine reaches; on while someone holds it. */
const mutations = {
  count: 0,
  holders: 0,
  /** @type {MutationObserver | null} */
  observer: null,
  /** @type {Set<() => void>} */
  waiters: new Set(),
  hold() {
    if (this.holders++ > 0) return;
    this.observer = new MutationObserver((records) => this.took(records));
    for (const root of allRoots()) this.watch(root);
  },
  /** @param {Node} root */
  watch(root) {
    this.observer?.observe(root, {subtree: true, childList: true, attributes: true, characterData: true});
  },
  release() {
    if (--this.holders > 0) return;
    this.holders = 0;
    this.observer?.disconnect();
    this.observer = null;
  },
  /** @param {MutationRecord[]} records */
  took(records) {
    this.count += records.length;
    for (const wake of this.waiters) wake();
    this.waiters.clear();
  },
  /** The count now, what is still queued included. */
  now() {
    const records = this.observer?.takeRecords() ?? [];
    if (records.length > 0) this.took(records);
    return this.count;
  },
  /** Resolves at the next change, or after some time. @param {number} ms @returns {Promise<void>} */
  next(ms) {
    return new Promise((done) => {
      const timer = setTimeout(() => {
        this.waiters.delete(wake);
        done();
      }, ms);
      const wake = () => {
        clearTimeout(timer);
        done();
      };
      this.waiters.add(wake);
    });
  },
};

/** What people and the agent did here; events a page can forge are not taken. */
const trusted = {
  seq: 0,
  /** @type {import('./engine').TrustedInput[]} */
  events: [],
  /** @type {Record<string, number>} */
  counts: {},
  lastScroll: -Infinity,
  /** @type {Set<() => void>} */
  waiters: new Set(),
  /** @type {Set<() => void>} */
  releases: new Set(),
  start() {
    /** @type {AddEventListenerOptions} */
    const early = {capture: true, passive: true};
    for (const type of /** @type {const} */ (['pointerdown', 'keydown', 'wheel', 'touchstart'])) {
      addEventListener(type, (event) => {
        if (event.isTrusted) this.heard(type, event);
      }, early);
    }
    addEventListener('pointerup', ({isTrusted}) => {
      if (!isTrusted) return;
      this.counts.pointerup = (this.counts.pointerup ?? 0) + 1;
      for (const wake of this.releases) wake();
      this.releases.clear();
    }, early);
    addEventListener('scroll', () => {
      this.lastScroll = performance.now();
    }, early);
  },
  /** @param {import('./engine').TrustedInput['type']} type @param {Event} event */
  heard(type, event) {
    this.counts[type] = (this.counts[type] ?? 0) + 1;
    const at = event instanceof MouseEvent ? event : null;
    this.events.push({
      seq: ++this.seq,
      type,
      x: at?.clientX ?? 0,
      y: at?.clientY ?? 0,
      key: event instanceof KeyboardEvent && event.key.length > 1 && event.key !== 'Unidentified' ? event.key : '',
      time: Date.now(),
    });
    if (this.events.length > 100) this.events.shift();
    for (const wake of this.waiters) wake();
    this.waiters.clear();
  },
};

/** @param {{after: number, timeout_ms: number}} args */
async function inputAfter({after, timeout_ms}) {
  if (trusted.seq <= after && timeout_ms > 0) {
    await Promise.race([sleep(Math.min(timeout_ms, 60_000)), new Promise((/** @type {(v: void) => void} */ done) => trusted.waiters.add(done))]);
  }
  return {events: trusted.events.filter(({seq}) => seq > after), seq: trusted.seq};
}

/** @param {number} count pointers let go since begin @param {number} end @returns {Promise<boolean>} */
async function heardReleases(count, end) {
  while ((trusted.counts.pointerup ?? 0) - (baseline.counts.pointerup ?? 0) < count) {
    const left = end - performance.now();
    if (left <= 0) return false;
    await Promise.race([sleep(left), new Promise((/** @type {(v: void) => void} */ done) => trusted.releases.add(done))]);
  }
  await nextTask(); // the click follows in the same one
  return true;
}

/** @param {Parameters<import('./engine').Engine['quiet']>[0]} args */
async function quiet({limit_ms, released = 0, max}) {
  const end = performance.now() + Math.min(limit_ms, 60_000);
  mutations.hold();
  try {
    const heard = released === 0 || await heardReleases(released, end);
    for (let before = mutations.now();;) {
      await nextFrame();
      const now = mutations.now();
      const still = now === before;
      if (still || performance.now() >= end) {
        return {
          quiet: still, heard, mutations: now - baseline.mutations, trusted: countsSince(baseline.counts), ...(max !== undefined && {delta: delta({max})}),
        };
      }
      before = now;
    }
  } finally {
    mutations.release();
  }
}

/** @param {Record<string, number>} before */
function countsSince(before) {
  /** @type {Record<string, number>} */
  const counts = {};
  for (const [type, count] of Object.entries(trusted.counts)) if (count > (before[type] ?? 0)) counts[type] = count - (before[type] ?? 0);
  return counts;
}
