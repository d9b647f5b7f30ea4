// The snapshot: what a person sees, as lines a model knows how to read.
//
// A line belongs to an element with a role. Text that stands in no such element belongs to the nearest block. Words that
// a line's name already says are not said again below it.

/**
 * @typedef {import('./engine').SnapshotLine & {e?: Element, role?: string, name?: string}} Line
 */

/** Roles that stand in running text: they have no line of their own. */
const textRoles = new Set(('generic none strong emphasis code mark subscript superscript insertion deletion time term definition rowgroup').split(' '));

/** Roles whose line shows the element's own words as its name; what is below is shown only when it can be worked with. */
const atomRoles = new Set(('button link heading tab option menuitem menuitemcheckbox menuitemradio checkbox radio switch treeitem tooltip').split(' '));

/** Roles whose text, when it is all they hold, stands in quotes. */
const cellRoles = new Set(['cell', 'gridcell', 'columnheader', 'rowheader']);

/** Roles that are shown although they hold nothing. */
const leafRoles = new Set(('img separator progressbar meter iframe textbox searchbox combobox listbox slider spinbutton scrollbar').split(' '));

/**
 * Where lines and text go: one for each line with something below, and one for each block of text.
 * @typedef {object} Level
 * @property {View} view       whose text it is
 * @property {number} depth    of the lines in it
 * @property {Line | null} line of the element itself; null for a block without a role
 * @property {string} name     what the line above already says
 * @property {string} text     running text not yet put into a line
 * @property {boolean} textOnScreen
 * @property {boolean} hiddenText  the text is aria-hidden
 * @property {boolean} addressed   a block: its ref was given to one of its texts
 * @property {boolean} silent  words are said already
 * @property {boolean} wordy   words stand also where only controls are asked for: the control has no other name
 */

/** @implements {Visitor<Level>} */
class Tree {
  /** @param {import('./engine').SnapshotArgs} args @param {boolean} near only what is on screen, and nothing of what is not looked at */
  constructor(args, near) {
    this.near = near;
    /** @type {Line[]} */
    this.lines = [];
    this.hidden = 0;
    /** @type {string[]} */
    this.unbound = [];
    this.depth = args.depth ?? Infinity;
    /** @type {boolean} */
    this.interactive = args.interactive === true;
    /** @type {boolean} */
    this.boxes = args.boxes === true;
    this.active = focused();
    /** @type {Set<Element>} controls whose label stands for them */
    this.shownByLabel = new Set();
  }

  /** @param {Element} root @param {View | null} view */
  build(root, view) {
    view ??= viewOf(root, null);
    if (!view) return;
    /** @type {Level} */
    const level = {view, depth: 0, line: null, name: '', text: '', textOnScreen: false, hiddenText: false, addressed: false, silent: false, wordy: false};
    if (root === rootNow()) this.#below(view, level);
    else this.element(root, view, level);
    this.#flush(level);
  }

  /** @param {View} view @param {Level} level */
  #below(view, level) {
    eachShown(view, this, level);
  }

  /** @param {Node} node */
  unseen(node) {
    this.hidden += hiddenInstructions(node);
  }

  /** @param {Text} node @param {View} view @param {Level} level */
  text(node, view, level) {
    const text = textOf(node);
    if (!/\S/.test(text)) {
      if (level.text) level.text += ' ';
      return;
    }
    if (!showsText(node, view)) {
      if (looksLikeInstruction(text)) this.hidden++;
      return;
    }
    if (level.silent || (this.interactive && !level.wordy)) return;
    const hidden = view.ariaHidden || view.inert;
    if (level.text && hidden !== level.hiddenText) this.#flush(level);
    level.text += view.style.whiteSpaceCollapse === 'preserve' ? text.replaceAll('\n', ' ') : text;
    level.textOnScreen ||= view.onScreen;
    level.hiddenText = hidden;
  }

  /** Puts the running text into a line. @param {Level} level */
  #flush(level) {
    if (!level.text) return;
    const text = clean(level.text);
    const {view, textOnScreen, hiddenText} = level;
    level.text = '';
    level.textOnScreen = false;
    if (!text || text === level.name || level.depth >= this.depth) return;
    const mark = hiddenText ? (view.inert ? ' [inert]' : ' [aria-hidden]') : '';
    /** @type {Line} */
    const line = {d: level.depth, t: '', role: 'text', name: text, e: view.e};
    if (!level.line && !level.addressed) {
      level.addressed = true;
      const role = roleOf(view.e);
      line.r = refOf(view.e, role);
      line.t = `- ${role === 'none' ? 'generic' : role} [ref=${line.r}]${mark}: ${escapeText(text)}`;
    } else line.t = `- text${mark}: ${escapeText(text)}`;
    if (textOnScreen) line.v = 1;
    this.lines.push(line);
  }

  /** @param {Element} e @param {View} view @param {Level} level */
  element(e, view, level) {
    if (this.near && view.box && view.lies && !shows(view.box, view.port)) return;
    const tag = tagOf(e);
    if (tag === 'br') {
      if (level.text) level.text += ' ';
      return;
    }
    if (tag === 'label' && this.#label(/** @type {HTMLLabelElement} */ (e), view, level)) return;
    const role = roleOf(e);
    if (tag === 'svg' && view.seen && queryAll(e, 'text, a, foreignObject, [role], [tabindex]').length > 0 && !nameOf(e, role).text) {
      this.#plain(view, level); // a drawing with words in it: a chart
      return;
    }
    const press = textRoles.has(role) ? pressable(e, view) : '';
    if (textRoles.has(role) && !press && !isEditingHost(e) && !mediaTags.has(tag) && !(role === 'rowgroup' && attr(e, 'aria-label'))) {
      this.#plain(view, level);
      return;
    }
    if (this.shownByLabel.has(e)) return;
    if (!view.seen && !(role === 'group' || role === 'list' || landmarkRoles.has(role))) {
      // Not to be seen itself, but something in it may be.
      this.#plain(view, level);
      return;
    }
    if (role === 'option' && !(e.closest('select') === null)) return;
    if (level.silent && !widgetRoles.has(role) && !press && !groupRoles.has(role) && !isEditingHost(e)) {
      this.#plain(view, level); // the name above says it
      return;
    }
    if (captionTags.has(tag) && level.name && clean(textOf(e)) === level.name && queryAll(e, '*').length === 0) return;
    this.#line(e, view, level, role, press);
  }

  /** An element without a line: its text runs on, or stands in a block of its own. @param {View} view @param {Level} level */
  #plain(view, level) {
    if (view.inline) {
      const apart = view.display.startsWith('inline-');
      if (apart && level.text) level.text += ' ';
      this.#below(view, level);
      if (apart && level.text) level.text += ' ';
      return;
    }
    this.#flush(level);
    /** @type {Level} */
    const block = {...level, view, line: null, addressed: false, name: level.line ? level.name : ''};
    this.#below(view, block);
    this.#flush(block);
  }

  /**
   * A label stands for its control: its words are the control's name, and where the control itself is not to be seen
   * (a picture is drawn in its place) the label is where it shows.
   * @param {HTMLLabelElement} e @param {View} view @param {Level} level @returns {boolean}
   */
  #label(e, view, level) {
    const {control} = e;
    if (!control || !(control instanceof HTMLInputElement || control instanceof HTMLSelectElement || control instanceof HTMLTextAreaElement)) return false;
    if (isInput(control) && control.type === 'hidden') return false;
    const silent = {...level, silent: !hasAttr(control, 'aria-label') && !hasAttr(control, 'aria-labelledby'), text: ''};
    if (!view.inline) this.#flush(level);
    if (!isSeen(control)) {
      if (!view.seen && !isSeen(e)) return false;
      if (!this.shownByLabel.has(control)) {
        this.shownByLabel.add(control);
        const role = roleOf(control);
        const name = nameOf(control, role).text;
        this.#flush(level);
        this.#push(control, view, level, role, name, '');
      }
    }
    this.#below(view, silent);
    this.#flush(silent);
    level.addressed = silent.addressed;
    return true;
  }

  /**
   * @param {Element} e @param {View} view @param {Level} level @param {string} role @param {string} name @param {string} press
   * @returns {Line | null}
   */
  #push(e, view, level, role, name, press) {
    if (level.depth >= this.depth) return null;
    if (this.interactive && !widgetRoles.has(role) && !press && role !== 'heading' && role !== 'iframe' && role !== 'dialog' && !landmarkRoles.has(role) && !isEditingHost(e)) return null;
    const ref = refOf(e, role, name || undefined);
    const word = role === 'generic' && mediaTags.has(tagOf(e)) ? tagOf(e) : role;
    const head = name ? `${word} ${quote(cut(name, nameMax))}` : word;
    /** @type {Line} */
    const line = {d: level.depth, t: `- ${head} [ref=${ref}]${this.#states(e, view, role)}${press}`, r: ref, e, role, name};
    if (view.onScreen) line.v = 1;
    if (role === 'heading' || role === 'dialog' || landmarkRoles.has(role)) line.h = 1;
    if (this.boxes) {
      const {x, y, width, height} = view.box ?? boxOf(view.e);
      line.t += ` [box=${[x, y, width, height].map(Math.round).join()}]`;
    }
    this.lines.push(line);
    return line;
  }

  /** @param {Element} e @param {View} view @param {Level} level @param {string} role @param {string} press */
  #line(e, view, level, role, press) {
    this.#flush(level);
    const {text: name, from} = lineName(e, role);
    const line = this.#push(e, view, level, role, name, press);
    if (!line && level.depth >= this.depth) return;
    const depth = line ? level.depth + 1 : level.depth;
    const filled = fieldText(e, role);
    if (filled !== null) {
      if (line) this.#field(e, line, filled, depth);
      return;
    }
    if (role === 'iframe') {
      if (line) this.#frame(e, line);
      return;
    }
    if (role === 'img' || role === 'separator' || mediaTags.has(tagOf(e))) {
      if (role === 'img' && line && !name && !press) this.lines.pop(); // a picture without words says nothing
      return;
    }
    const below = this.lines.length;
    if (line && role === 'link') this.#url(e, depth);
    /** @type {Level} */
    const inner = {
      view,
      depth,
      line: line ?? level.line,
      name,
      text: '',
      textOnScreen: false,
      hiddenText: false,
      addressed: line !== null,
      silent: level.silent || (from === 'contents' && atomRoles.has(role) && name.length <= nameMax),
      wordy: line !== null && !name && (press !== '' || widgetRoles.has(role)),
    };
    const first = this.lines.length;
    this.#below(view, inner);
    if (!line) {
      this.#flush(inner);
      return;
    }
    const said = this.lines.length === first && this.#alone(line, inner, role);
    if (!said) this.#flush(inner);
    if (this.lines.length > below) {
      if (!said) line.t += ':';
    } else if (depth >= this.depth && hasContents(e)) line.t += ' …';
    else if (!said && !name && droppable.has(role) && !press) this.lines.length = below - 1;
  }

  /** Puts text that is all an element holds into the element's line. @param {Line} line @param {Level} inner @param {string} role @returns {boolean} whether it stands there */
  #alone(line, inner, role) {
    const {view, name, hiddenText} = inner;
    const text = clean(inner.text);
    if (!text || text === name || (hiddenText && !view.ariaHidden && !view.inert)) return false;
    if (cellRoles.has(role) && !name && text.length <= nameMax) line.t = `- ${role} ${quote(text)}${line.t.slice(2 + role.length)}`;
    else line.t += `: ${escapeText(text)}`;
    line.name ||= text;
    return true;
  }

  /** @param {Element} e @param {Line} line */
  #frame(e, line) {
    const key = frameKeys.get(e);
    line.f = key ?? '';
    if (key === undefined) this.unbound.push(/** @type {string} */ (line.r));
  }

  /** @param {Element} e @param {number} depth */
  #url(e, depth) {
    if (depth >= this.depth) return;
    const url = shortUrl(e);
    if (url) this.lines.push({d: depth, t: `- /url: ${escapeText(url)}`});
  }

  /** @param {Element} e @param {Line} line @param {string} filled @param {number} depth */
  #field(e, line, filled, depth) {
    const more = depth < this.depth;
    const below = this.lines.length;
    if (e instanceof HTMLSelectElement) {
      if (more) this.lines.push({d: depth, t: `- /options: ${optionsText(e)}`});
    } else {
      const placeholder = attr(e, 'placeholder');
      if (placeholder && more && clean(placeholder) !== line.name && !filled) this.lines.push({d: depth, t: `- /placeholder: ${escapeText(cut(clean(placeholder), nameMax))}`});
    }
    if (filled) line.t += `: ${escapeText(cut(filled, valueMax))}`;
    else if (this.lines.length > below) line.t += ':';
  }

  /** @param {Element} e @param {View} view @param {string} role @returns {string} */
  #states(e, view, role) {
    let text = '';
    if (e === this.active) text += ' [active]';
    if (view.inert) text += ' [inert]';
    else if (view.ariaHidden) text += ' [aria-hidden]';
    if (role === 'heading') return `${text} [level=${headingLevel(e)}]`;
    const widget = widgetRoles.has(role);
    if (!widget && role !== 'row' && role !== 'gridcell' && role !== 'group') return text;
    if (view.disabled || matches(e, ':disabled')) text += ' [disabled]';
    if (checkedRoles.has(role)) {
      const checked = checkedOf(e, role);
      if (checked === 'true') text += ' [checked]';
      else if (checked === 'mixed') text += ' [checked=mixed]';
    }
    if (role === 'button') {
      const pressed = attr(e, 'aria-pressed');
      if (pressed === 'true') text += ' [pressed]';
      else if (pressed === 'mixed') text += ' [pressed=mixed]';
    }
    if (selectedRoles.has(role) && (e instanceof HTMLOptionElement ? e.selected : attr(e, 'aria-selected') === 'true')) text += ' [selected]';
    if (expandedRoles.has(role)) {
      const expanded = expandedOf(e, role);
      if (expanded) text += expanded === 'true' ? ' [expanded]' : ' [collapsed]';
    }
    if (isField(e) || role === 'textbox' || role === 'combobox') {
      const {required, readonly, invalid} = statesOf(e, role);
      if (required) text += ' [required]';
      if (readonly) text += ' [readonly]';
      if (invalid) text += ' [invalid]';
    }
    if (isInput(e) && typedInputs.has(e.type)) text += ` [type=${e.type}]`;
    if (isSecret(e)) text += /** @type {HTMLInputElement} */ (e).value ? ' [secret] [filled]' : ' [secret]';
    return text;
  }
}

/** Roles that keep their place inside something that is named by its contents. */
const groupRoles = new Set(['group', 'list', 'listbox', 'menu', 'tree', 'iframe', 'dialog']);

/** What can be looked at and pressed although it has no role. */
const mediaTags = new Set(['canvas', 'video', 'audio', 'object', 'embed']);

const captionTags = new Set(['caption', 'figcaption', 'legend']);

const nameMax = 200;
const valueMax = 300;

/** Roles not worth a line when there is nothing in them. */
const droppable = new Set(('paragraph list listitem group table row cell gridcell columnheader rowheader rowgroup article blockquote figure caption status img banner complementary '
  + 'contentinfo main navigation region form search document note log math').split(' '));

/** Inputs whose type says in what form they take a value. */
const typedInputs = new Set(['date', 'time', 'datetime-local', 'month', 'week', 'color', 'file', 'email', 'tel', 'url']);

/** @param {Element} e @returns {boolean} */
const isField = (e) => e instanceof HTMLInputElement || e instanceof HTMLTextAreaElement || e instanceof HTMLSelectElement;

/** Whether an element without a role asks to be pressed; the mark for its line. @param {Element} e @param {View} view */
function pressable(e, view) {
  if (view.seen && isPointer(view) && !(view.above && isPointer(view.above))) return ' [cursor=pointer]';
  if (hasAttr(e, 'onclick') || (hasAttr(e, 'tabindex') && Number(attr(e, 'tabindex')) >= 0 && tagOf(e) !== 'body')) return isPointer(view) ? ' [cursor=pointer]' : ' [clickable]';
  return '';
}

/** The name as a line shows it: not where it only repeats what stands below. @param {Element} e @param {string} role @returns {Name} */
function lineName(e, role) {
  if (cellRoles.has(role) || role === 'row' || neverNamed.has(role) || role === 'listitem') {
    const text = (role === 'generic' && !mediaTags.has(tagOf(e))) || role === 'paragraph' ? '' : clean(attr(e, 'aria-label') ?? '');
    return {text, from: text ? 'attribute' : ''};
  }
  return nameOf(e, role);
}

/** The text in a field, null when the element is none. Secrets never come out. @param {Element} e @param {string} role @returns {string | null} */
function fieldText(e, role) {
  if (e instanceof HTMLSelectElement) return [...e.selectedOptions].map((o) => clean(optionText(o))).join(', ');
  if (isInput(e)) {
    if (/^(checkbox|radio|submit|reset|button|image|hidden)$/.test(e.type)) return null;
    if (e.type === 'file') return [...e.files ?? []].map((f) => clean(f.name)).join(', ');
    return isSecret(e) ? '' : clean(e.value);
  }
  if (e instanceof HTMLTextAreaElement) return isSecret(e) ? '' : clean(e.value);
  if (e instanceof HTMLProgressElement || e instanceof HTMLMeterElement) return e instanceof HTMLProgressElement && e.position < 0 ? '' : `${e.value} of ${e.max}`;
  if (role === 'slider' || role === 'spinbutton' || role === 'progressbar' || role === 'meter' || role === 'scrollbar') return clean(attr(e, 'aria-valuetext') ?? attr(e, 'aria-valuenow') ?? '');
  return null;
}

/** The options of a select in one line. @param {HTMLSelectElement} e */
function optionsText(e) {
  const max = 20;
  let text = '';
  for (const [i, option] of [...e.options].entries()) {
    if (i === max || text.length > 400) {
      text += ` | … ${e.options.length - i} more`;
      break;
    }
    if (i > 0) text += ' | ';
    const above = nodeAbove(option);
    if (above instanceof HTMLOptGroupElement) text += `${escapeText(clean(above.label))}: `;
    text += escapeText(cut(clean(optionText(option)), 60)) + (option.disabled ? ' [disabled]' : '');
  }
  return text;
}

/** @param {Element} e the address of a link, short for this origin */
function shortUrl(e) {
  const written = attr(e, 'href');
  if (written === null) return '';
  if (/^\/[\w\-./?=&%#+:;,~]*$/.test(written) && !written.startsWith('//') && written.length < nameMax) return written;
  const url = e instanceof HTMLAnchorElement || e instanceof HTMLAreaElement ? e.href : written;
  if (url.startsWith('data:')) return cut(url, 40);
  const here = urlOf(document).split('#', 1)[0] ?? '';
  if (url.startsWith(here + '#')) return clean(cut(url.slice(here.length), nameMax));
  return clean(cut(url.startsWith(self.origin + '/') ? url.slice(self.origin.length) : url, nameMax));
}

/** @param {Element} e */
const hasContents = (e) => firstOf(shadowOf(e) ?? e) !== null;
