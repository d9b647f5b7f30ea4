// The dispatcher: the one thing of the engine that Go can reach.

/** @type {import('./engine').Engine} */
const methods = {
  init({prefix}) {
    refPrefix = prefix;
    return {};
  },
  ping: () => ({}),
  snapshot: takeSnapshot,
  window: snapshotWindow,
  read: readText,
  find: findLines,
  readForm,
  resolve: ({target, nth}) => found(locate(target, nth)),
  check: checkAndBegin,
  hits,
  focus: focusElement,
  fill: fillAndTell,
  commit,
  readback,
  select: choose,
  scroll: scrollArea,
  drag: dragState,
  begin,
  quiet,
  delta,
  wait: waitFor,
  input: inputAfter,
  go({url}) {
    // To the same address with a fragment, assign would only scroll; what is asked for is a load.
    if (url === urlOf(document) && url.includes('#')) location.reload();
    else location.assign(url);
    return {};
  },
  calm() {
    // The page's own listeners stand behind this one, which was there before any script of the page.
    calmUntil = performance.now() + 10_000;
    return {};
  },
  bindFrame: (args) => bindFrame(args, given[0]),
  mapPoint,
  reveal,
  adopt() {
    let adopted = 0;
    for (const root of given) {
      if (!(root instanceof ShadowRoot) || closedRoots.has(root.host)) continue;
      if (!openRoot(root.host)) closedRoots.set(root.host, root);
      secrets.watch(root);
      mutations.watch(root);
      adopted++;
    }
    return {adopted};
  },
  count() {
    let nodes = 0;
    for (const root of allRoots()) {
      const walker = document.createTreeWalker(root, NodeFilter.SHOW_ELEMENT | NodeFilter.SHOW_TEXT | NodeFilter.SHOW_COMMENT);
      for (let node = walker.nextNode(); node; node = walker.nextNode()) if (kindOf(node) === 1 || textOf(node).includes('<')) nodes++;
    }
    return {nodes};
  },
};

let calmUntil = 0;
/** The objects of the call that is being dispatched. @type {Node[]} */
let given = [];
const nonce = [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, '0')).join('');

/** @type {(d: Document) => string} */
const titleOf = getter(Document.prototype, 'title');
/** @type {(d: Document) => DocumentReadyState} */
const readyOf = getter(Document.prototype, 'readyState');

/** @returns {import('./engine').Doc} */
const docNow = () => ({nonce, origin: self.origin, url: urlOf(document), title: cut(clean(titleOf(document)), 300), ready: readyOf(document)});

/** @param {unknown} error */
const refusal = (error) => {
  const known = error instanceof Refusal;
  const text = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  return JSON.stringify({doc: docNow(), error: {code: known ? error.code : 'internal', message: known ? error.message : text, ...(known && error.data && {data: error.data})}});
};
/** @param {unknown} value */
const answer = (value) => JSON.stringify({doc: docNow(), value});

/** @type {import('./engine').Global} */
const engine = {
  call(method, args, ...objects) {
    try {
      const run = Object.hasOwn(methods, method) ? methods[/** @type {keyof typeof methods} */ (method)] : undefined;
      if (!run) throw new Refusal('bad_argument', `the engine has no method ${method}`);
      given = objects;
      const value = /** @type {(args: unknown) => unknown} */ (run)(args ? JSON.parse(args) : {});
      return value instanceof Promise ? value.then(answer, refusal) : answer(value);
    } catch (error) {
      return refusal(error);
    } finally {
      given = [];
    }
  },
  element(ref) {
    try {
      return elementOfRef(ref);
    } catch {
      return null;
    }
  },
  hosts(all) {
    /** @type {Element[]} */
    const out = [];
    for (const root of allRoots()) {
      for (const e of queryAll(root, '*')) {
        if (shadowOf(e) || !(tagOf(e).includes('-') || hostTags.has(tagOf(e)))) continue;
        if (all || tagOf(e).includes('-') || (!firstOf(e) || (textOf(e).trim() === '' && queryAll(e, '*').length === 0))) out.push(e);
      }
    }
    return out;
  },
};
/** Elements that attachShadow takes, beside custom ones. */
const hostTags = new Set(['article', 'aside', 'blockquote', 'body', 'div', 'footer', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'header', 'main', 'nav', 'p', 'section', 'span']);

// The own property only: `<p id=tabvalet>` answers for a global that is not there.
if (!Object.hasOwn(globalThis, 'tabvalet')) {
  Object.defineProperty(globalThis, 'tabvalet', {value: Object.freeze(engine)});
  trusted.start();
  secrets.watch(document);
  addEventListener('beforeunload', (event) => {
    if (performance.now() < calmUntil) event.stopImmediatePropagation();
  }, {capture: true});
}
