// Waiting for text and states. Running out is an answer.

/** @param {Parameters<import('./engine').Engine['wait']>[0]} args */
async function waitFor({text, text_gone, target, state = 'visible', timeout_ms}) {
  const end = performance.now() + Math.min(timeout_ms, 600_000);
  const shows = text === undefined ? null : textTest(text);
  const gone = text_gone === undefined ? null : textTest(text_gone);
  let last = '';
  const met = () => {
    if (shows || gone) {
      const all = readText({}).text.replace(/\s+/g, ' ');
      if (shows && !shows(all)) {
        last = 'the text is not there';
        return false;
      }
      if (gone && gone(all)) {
        last = 'the text is still there';
        return false;
      }
    }
    if (target === undefined) return true;
    const now = stateOf(target);
    last = now;
    switch (state) {
      case 'attached': return now !== 'detached';
      case 'detached': return now === 'detached';
      case 'hidden': return now === 'detached' || now === 'hidden';
      case 'enabled': return now === 'visible';
      default: return now === 'visible' || now === 'disabled';
    }
  };
  mutations.hold();
  try {
    for (;;) {
      if (met()) return {met: true, last_seen: last};
      const left = end - performance.now();
      if (left <= 0) return {met: false, last_seen: last};
      // Styles and sizes change without a change in the DOM: look again now and then.
      await mutations.next(Math.min(left, 250));
      await nextFrame();
    }
  } finally {
    mutations.release();
  }
}

/** @param {string} target @returns {'detached' | 'hidden' | 'disabled' | 'visible'} */
function stateOf(target) {
  /** @type {Element} */
  let e;
  try {
    e = locate(target, 1);
  } catch (error) {
    if (error instanceof Refusal && (error.code === 'not_found' || error.code === 'stale_ref')) return 'detached';
    throw error;
  }
  return !isSeen(e) ? 'hidden' : isDisabled(e) ? 'disabled' : 'visible';
}
