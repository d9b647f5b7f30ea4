// Targets: e12, aria-ref=e12, CSS, text=…, role=button[name="Save"], label=…, and `button "Save"` as a snapshot writes it.

/**
 * The one element a target means. What a person can see goes before what is hidden.
 * @param {string} target @param {number} [nth] counted from 1; 0: there may be one only
 * @returns {Element}
 */
function locate(target, nth) {
  target = target.trim();
  if (target === '') {
    const e = focused();
    if (!e) throw new Refusal('not_found', 'nothing has the focus');
    return e;
  }
  if (isRef(target)) return elementOfRef(target);
  const all = candidates(target);
  if (all.length === 0) throw new Refusal('not_found', `nothing matches ${cut(target, 200)}`);
  if (nth) {
    const seen = all.filter(isSeen);
    const e = (seen.length >= nth ? seen : all)[nth - 1];
    if (!e) throw new Refusal('not_found', `only ${all.length} elements match ${cut(target, 200)}`);
    return e;
  }
  if (all.length === 1) return /** @type {Element} */ (all[0]);
  const seen = all.length > 2000 ? all : all.filter(isSeen);
  if (seen.length === 1 || (seen.length === 0 && all.length === 1)) return /** @type {Element} */ (seen[0]);
  const shown = seen.length > 0 ? seen : all;
  throw new Refusal('ambiguous', `${shown.length} elements match ${cut(target, 200)}`, {candidates: shown.slice(0, 10).map(found), total: shown.length});
}

/** @param {Element} e @returns {import('./engine').Found} */
function found(e) {
  const role = roleOf(e);
  const name = nameOf(e, role).text;
  return {ref: refOf(e, role, name), role, name: cut(name, 500), describe: describe(role, name || cut(clean(firstWords(e)), 60))};
}

/** @param {string} target @returns {Element[]} in document order */
function candidates(target) {
  const engine = /^(text|role|label|css)\s*=\s*/.exec(target);
  if (engine) {
    const rest = target.slice(engine[0].length);
    switch (engine[1]) {
      case 'text': return byText(rest);
      case 'label': return byLabel(rest);
      case 'role': return byRole(rest);
      default: return byCss(rest);
    }
  }
  const line = /^-?\s*([a-z]+) ("(?:[^"\\]|\\.)*")(?: \[.*)?:?$/.exec(target);
  if (line && knownRoles.has(/** @type {string} */ (line[1]))) return byRole(`${line[1]}[name=${line[2]}]`);
  return byCss(target);
}

/** @param {string} selector @returns {Element[]} */
function byCss(selector) {
  try {
    document.createDocumentFragment().querySelector(selector);
  } catch {
    throw new Refusal('bad_argument', `${cut(selector, 200)} is no ref, no selector and no text=, role= or label= target`);
  }
  return allRoots().flatMap((root) => [...queryAll(root, selector)]);
}

/** Reads `"quoted"` as exact and plain text as a part, in any case. @param {string} text @returns {(value: string) => boolean} */
function textTest(text) {
  const exact = /^(["'])(.*)\1$/s.exec(text.trim());
  if (exact) {
    const wanted = clean(/** @type {string} */ (exact[2]).replace(/\\(["'\\])/g, '$1'));
    return (value) => clean(value) === wanted;
  }
  const wanted = clean(text).toLowerCase();
  if (!wanted) throw new Refusal('bad_argument', 'the text to look for is empty');
  return (value) => clean(value).toLowerCase().includes(wanted);
}

/** The innermost elements whose text matches. @param {string} text @returns {Element[]} */
function byText(text) {
  const test = textTest(text);
  /** @type {Element[]} */
  const out = [];
  /** @param {Element} e @returns {boolean} */
  const look = (e) => {
    if (unshownTags.has(tagOf(e))) return false;
    const root = shadowOf(e);
    if (isInput(e)) {
      if (!/^(submit|button|reset)$/.test(e.type) || !test(e.value)) return false;
      out.push(e);
      return true;
    }
    const exact = /^["']/.test(text.trim());
    // A text that does not hold the words cannot have them below; an exact one may, and so may a shadow root.
    const here = test(textOf(e));
    let below = false;
    if (here || exact || root || hasShadowBelow(e)) {
      eachChild(e, (child) => {
        if (isElement(child) && look(child)) below = true;
      });
    }
    if (below) return true;
    if (here && !root) out.push(e);
    return here && !root;
  };
  const top = rootNow();
  if (top) look(top);
  return out;
}

/** @param {Element} e whether a shadow root stands somewhere below */
const hasShadowBelow = (e) => [...queryAll(e, '*')].some((at) => shadowOf(at) !== null);

/** Controls by their name. @param {string} text @returns {Element[]} */
function byLabel(text) {
  /** @type {{e: Element, name: string}[]} */
  const fields = [];
  const top = rootNow();
  if (top) everyElement(top, (e) => {
    const role = roleOf(e);
    if (!isField(e) && !isEditingHost(e) && !(widgetRoles.has(role) && role !== 'button' && role !== 'link')) return;
    fields.push({e, name: nameOf(e, role).text});
  });
  return bestNamed(fields, text);
}

/** Those whose name is exactly the text, else those that hold it. @param {{e: Element, name: string}[]} named @param {string} text */
function bestNamed(named, text) {
  const bare = clean(text.trim().replace(/^(["'])(.*)\1$/s, '$2').replace(/\\(["'\\])/g, '$1'));
  if (!bare) return named.map(({e}) => e);
  const exact = named.filter(({name}) => name === bare);
  if (exact.length > 0) return exact.map(({e}) => e);
  const lower = bare.toLowerCase();
  const close = named.filter(({name}) => name.toLowerCase() === lower);
  return (close.length > 0 ? close : named.filter(({name}) => name.toLowerCase().includes(lower))).map(({e}) => e);
}

/** @param {string} text `button[name="Save"][disabled]` @returns {Element[]} */
function byRole(text) {
  const parts = /^([a-z]+)\s*((?:\[[^\]"']*(?:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')?[^\]]*\]\s*)*)$/i.exec(text.trim());
  if (!parts) throw new Refusal('bad_argument', `cannot read the role target ${cut(text, 200)}; write role=button[name="Save"]`);
  const role = /** @type {string} */ (parts[1]).toLowerCase();
  let name = '';
  /** @type {[string, string][]} */
  const states = [];
  for (const [, key = '', value] of /** @type {string} */ (parts[2]).matchAll(/\[\s*([a-z-]+)\s*(?:=\s*("(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'|[^\]]*))?\s*i?\s*\]/gi)) {
    if (key === 'name') name = value ?? '';
    else if (['checked', 'disabled', 'expanded', 'level', 'pressed', 'selected'].includes(key)) states.push([key, value ?? 'true']);
    else throw new Refusal('bad_argument', `role targets know name, checked, disabled, expanded, level, pressed and selected, not ${cut(key, 40)}`);
  }
  /** @type {Element[]} */
  const all = [];
  const top = rootNow();
  if (top) everyElement(top, (e) => {
    if (unshownTags.has(tagOf(e)) || roleOf(e) !== role) return;
    if (states.length > 0) {
      const has = statesOf(e, role);
      if (!states.every(([key, value]) => String(has[/** @type {keyof States} */ (key)]) === value)) return;
    }
    all.push(e);
  });
  return name ? bestNamed(all.map((e) => ({e, name: nameOf(e, role).text})), name) : all;
}

/** Elements by what a person sees of them, as lines. @param {Parameters<import('./engine').Engine['find']>[0]} args @returns {ReturnType<import('./engine').Engine['find']>} */
function findLines({text, regex, role, name, limit = 20}) {
  /** @type {((value: string) => boolean)[]} */
  const tests = [];
  if (text) tests.push(textTest(text));
  if (regex) {
    let pattern;
    try {
      pattern = new RegExp(regex, 'iu');
    } catch {
      throw new Refusal('bad_argument', 'that regular expression cannot be read');
    }
    tests.push((value) => pattern.test(value));
  }
  const nameTest = name ? textTest(name) : null;
  /** @type {ReturnType<import('./engine').Engine['find']>['matches']} */
  const hits = [];
  let total = 0;
  /** @type {Line[]} */
  const path = [];
  for (const line of buildTree({}).lines) {
    path[line.d] = line;
    path.length = line.d + 1;
    if (role && line.role !== role) continue;
    if (nameTest && !nameTest(line.name ?? '')) continue;
    if (!tests.every((test) => test(line.t.replace(/ \[ref=\w+\]/, '')))) continue;
    total++;
    if (hits.length >= limit) continue;
    const owner = path.findLast((at) => at.r);
    if (!owner?.r) continue;
    hits.push({ref: owner.r, role: owner.role ?? '', name: cut(owner.name ?? '', 500), describe: describe(owner.role ?? '', owner.name ?? ''), line: line.t});
  }
  return {matches: hits, total};
}
