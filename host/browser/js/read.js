// The text a person reads, in reading order.

const breakingDisplays = /^(block|flex|grid|table|list-item|flow-root|table-row|table-caption)/;

/** @implements {Visitor<undefined>} */
class Reader {
  /** @param {boolean} links */
  constructor(links) {
    /** @type {string[]} */
    this.parts = [];
    this.wantLinks = links;
    /** @type {{text: string, url: string}[]} */
    this.links = [];
    /** @type {{part: number, key: string}[]} */
    this.frames = [];
    this.hidden = 0;
    this.pending = ''; // what stands between the last word and the next: "", " ", "\t", "\n" or "\n\n"
    this.begun = false;
    this.bullet = false; // the last word was a bullet: the item begins beside it
  }

  /** @param {string} gap */
  #gap(gap) {
    if (!this.bullet && rank(gap) > rank(this.pending)) this.pending = gap;
  }

  /** @param {string} text */
  #say(text) {
    if (this.begun) this.parts.push(this.bullet ? ' ' : this.pending);
    this.parts.push(text);
    this.pending = '';
    this.begun = true;
    this.bullet = false;
  }

  /** @param {View} view */
  below(view) {
    eachShown(view, this, undefined);
  }

  /** @param {Node} node */
  unseen(node) {
    this.hidden += hiddenInstructions(node);
  }

  /** @param {Text} node @param {View} view */
  text(node, view) {
    const text = textOf(node);
    const keeps = view.style.whiteSpaceCollapse !== 'collapse';
    if (!/\S/.test(text)) {
      this.#gap(keeps && text.includes('\n') ? '\n' : ' ');
      return;
    }
    if (!showsText(node, view)) {
      if (looksLikeInstruction(text)) this.hidden++;
      return;
    }
    if (!keeps) {
      if (/^\s/.test(text)) this.#gap(' ');
      const words = clean(text);
      if (words) this.#say(words);
      if (/\s$/.test(text)) this.#gap(' ');
      return;
    }
    for (const [i, line] of text.split('\n').entries()) {
      if (i > 0) this.#gap('\n');
      const words = line.trimEnd().replaceAll('\t', '  ').replace(invisiblesAll, '');
      if (words) this.#say(words);
      else if (i > 0 && this.begun) this.pending = '\n\n';
    }
  }

  /** @param {Element} e @param {View} view */
  element(e, view) {
    const tag = tagOf(e);
    switch (tag) {
      case 'br': this.#gap('\n'); return;
      case 'hr': this.#gap('\n\n'); return;
      case 'iframe': case 'frame': {
        if (!view.seen) return;
        this.#gap('\n');
        this.#say(`[frame ${quote(cut(nameOf(e).text || 'without a title', 80))}]`);
        this.frames.push({part: this.parts.length - 1, key: frameKeys.get(e) ?? ''});
        this.#gap('\n');
        return;
      }
      case 'img': {
        const alt = clean(attr(e, 'alt') ?? '');
        if (alt && view.seen) this.#say(`[image: ${cut(alt, 200)}]`);
        return;
      }
      case 'select': {
        if (view.seen) this.#say(`[${[.../** @type {HTMLSelectElement} */ (e).selectedOptions].map((o) => clean(optionText(o))).join(', ')}]`);
        return;
      }
      case 'input': case 'textarea': {
        if (!view.seen) return;
        const role = roleOf(e);
        const value = isSecret(e) ? (/** @type {HTMLInputElement} */ (e).value ? 'filled, not shown' : '') : fieldText(e, role);
        if (value !== null) this.#say(`[${value}]`);
        else if (isInput(e) && /^(checkbox|radio)$/.test(e.type)) this.#say(e.checked ? '[x]' : '[ ]');
        else if (isInput(e)) this.#say(`[${nameOf(e, role).text}]`);
        this.#gap(' ');
        return;
      }
      case 'svg': case 'canvas': case 'video': case 'audio': case 'object': case 'embed': return;
      default:
    }
    const {display} = view;
    const gap = display === 'table-cell' ? '\t' : /^(p|h[1-6]|ul|ol|table|blockquote|pre|figure|section|article|fieldset|form|dl)$/.test(tag) && breakingDisplays.test(display) ? '\n\n' : breakingDisplays.test(display) ? '\n'
      : display.startsWith('inline-') ? ' ' : '';
    if (gap) this.#gap(gap);
    if (tag === 'li' && display === 'list-item' && view.seen && view.style.listStyleType !== 'none') {
      this.#say('-');
      this.bullet = true;
    }
    const from = this.parts.length;
    this.below(view);
    if (gap) this.#gap(gap);
    if (this.wantLinks && tag === 'a' && hasAttr(e, 'href') && view.seen) {
      const text = clean(this.parts.slice(from).join('')) || nameOf(e, 'link').text;
      const url = /** @type {HTMLAnchorElement} */ (e).href;
      if (text && this.links.length < 2000) this.links.push({text: cut(text, 200), url: cut(clean(String(url)), 2000)});
    }
  }

  /** @param {number} max @returns {import('./engine').Reading} */
  result(max) {
    const text = this.parts.join('');
    /** @type {{at: number, key: string}[]} */
    const frames = [];
    for (let i = 0, at = 0, next = 0; next < this.frames.length; at += (this.parts[i] ?? '').length, i++) {
      const frame = /** @type {{part: number, key: string}} */ (this.frames[next]);
      if (frame.part === i) {
        frames.push({at, key: frame.key});
        next++;
      }
    }
    return {text: text.slice(0, max), total: text.length, links: this.links, frames: frames.filter(({at}) => at < max), hidden_text: this.hidden};
  }
}

/** @param {string} gap */
const rank = (gap) => ['', ' ', '\t', '\n', '\n\n'].indexOf(gap);

/** @param {import('./engine').ReadArgs} args @returns {import('./engine').Reading} */
function readText(args) {
  const root = args.target ? locate(args.target) : bodyNow() ?? rootNow();
  const reader = new Reader(args.links ?? false);
  const view = root && viewAlone(root);
  if (view) reader.below(view);
  return reader.result(args.max_chars ?? 2_000_000);
}
