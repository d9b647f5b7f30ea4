/**
 * The contract between the page engine (JavaScript, isolated world "tabvalet") and host/browser (Go).
 *
 * The bundle ([js.Engine] in Go) defines one global `tabvalet` in its world, see Global. Go calls
 * `tabvalet.call(method, argsJSON, ...objects)` through the object id of `tabvalet` and gets JSON text: an Answer.
 * Everything inside is plain data. The engine never throws to Go and keeps nothing that a new document could inherit.
 * Coordinates are CSS pixels of the frame's own viewport. Text of the page stands in `t`, `name`, `describe`, `text`,
 * `title` and `url` only, cleaned of control characters and escaped so that it cannot look like a line or a ref.
 */

/** The one global. Reading it: `Runtime.evaluate("tabvalet")`; the bundle may be evaluated twice, the first one stays. */
export interface Global {
  /** Objects: nodes that Go resolved into this world (bindFrame, adopt). */
  call(method: string, args: string, ...objects: Node[]): string | Promise<string>;
  /** The element of a ref, or null: for DOM.setFileInputFiles, DOM.describeNode (which frame is that?), DOM.getContentQuads. */
  element(ref: string): Element | null;
  /** Elements that may hide a closed shadow root, for deep serialisation (returns an array object). */
  hosts(all: boolean): Element[];
}

/** Which document answered. Go compares nonce and origin with what it expects and drops answers of another document. */
export interface Doc {
  nonce: string; // random, made when the engine starts
  origin: string; // self.origin
  url: string;
  title: string;
  ready: DocumentReadyState;
}

export type Answer<T> = {doc: Doc; value: T} | {doc: Doc; error: EngineError};

export interface EngineError {
  /** One of protocol.Codes: not_found, ambiguous, stale_ref, hidden, disabled, covered, moving, not_editable, outside, bad_argument, timeout, internal. */
  code: string;
  message: string;
  /** e.g. {by: 'dialog "Cookies"', candidates: Found[], total, waited_ms, format} */
  data?: Record<string, unknown>;
}

/** Called once per document before anything else. Refs read `e12` when prefix is "", else `f2e12` with prefix "f2". */
export interface Init {
  prefix: string;
}

export interface SnapshotArgs {
  target?: string; // only this subtree
  depth?: number; // levels of lines; a line whose inside was left out ends with ` …`
  interactive?: boolean; // only what can be acted on, with the landmarks and headings it stands under
  boxes?: boolean; // [box=x,y,width,height] in viewport coordinates
  /**
   * Bound on the characters of all lines. Over it: what is on screen in full, of the rest the outline (h) with `o` lines
   * for what is left out. Default 400,000. window() gives what was left out, from the same capture.
   */
  max_chars?: number;
}

/**
 * A line is `- button "Save" [ref=e12] [disabled]` without indentation, with the leading "- ". A line with lines below it
 * ends with ":". A child frame is one line with `f` set; Go puts the frame's own lines under it at depth d+1.
 */
export interface SnapshotLine {
  d: number; // depth
  t: string; // text of the line
  r?: string; // ref
  v?: 1; // on screen now
  h?: 1; // landmark or heading: kept in an outline
  f?: string; // a frame: its key (see bindFrame), "" when not bound yet
  o?: number; // stands for this many lines left out; their first one has index i
  i?: number; // index in the capture: on o lines only
}
export interface Snapshot {
  lines: SnapshotLine[];
  capture: number; // names this serialisation for window(); the last four are kept
  total: number; // lines of the capture
  chars: number; // characters of the capture, indentation counted as 2 per level
  hidden_text: number; // pieces of hidden text that look like an instruction
  unbound: string[]; // refs of frame elements without a key: element(ref) + DOM.describeNode tell their frame
  scroll: {x: number; y: number; width: number; height: number; view_width: number; view_height: number};
  active?: string; // ref of the focused element
}
/** Lines of a capture from an index on, whole lines, at most max_chars; next is absent at the end. */
export interface WindowArgs {
  capture: number;
  from: number;
  max_chars: number;
}
export interface SnapshotWindow {
  lines: SnapshotLine[];
  next?: number;
  total: number;
}

/** The rendered text in reading order. Blocks are lines, cells are parted by tabs, list items begin with "- ". */
export interface ReadArgs {
  target?: string;
  links?: boolean;
  max_chars?: number; // default 2,000,000
}
export interface Reading {
  text: string;
  total: number; // characters there were
  links: {text: string; url: string}[];
  frames: {at: number; key: string}[]; // where in text a child frame stands (as a line of its own), and its key
  hidden_text: number;
}

/** Lines as of a snapshot, indented, by form; secrets have no value. */
export interface FormReading {
  lines: string[];
  fields: number;
  hidden_inputs: number;
  more: number; // fields left out
}

export interface Found {
  ref: string;
  role: string;
  name: string;
  describe: string; // `button "Save"`
}

export interface CheckArgs {
  target: string; // e12, aria-ref=e12, CSS, text=…, role=button[name="Save"], label=…; "" is the focused element
  nth?: number; // which of several matches, from 1; 0: there may be one only
  for: 'click' | 'type' | 'press' | 'hover' | 'select' | 'none';
  button?: 'left' | 'right' | 'middle';
  modifiers?: string[]; // Alt, Control, Meta, Shift: Control+click opens a new tab
  key?: string; // for press: Enter in a form field would submit
  submit?: boolean; // for type: Enter afterwards
  timeout_ms?: number; // how long late controls are waited for, default 3000; by events and frames (34 ms timer fallback)
  quick?: boolean; // recheck: do not wait, do not scroll
  begin?: boolean; // where the check is good and the page not large, begin() as well
}
export interface Checked extends Found {
  point?: {x: number; y: number}; // where to click, hit-tested inside this frame
  rect: {x: number; y: number; width: number; height: number};
  animating: boolean;
  editable: '' | 'input' | 'textarea' | 'contenteditable' | 'select' | 'checkbox' | 'radio' | 'file' | 'date' | 'range' | 'color';
  input_type: string;
  secret: boolean; // password, one-time code, card
  keys_needed: boolean; // masks, comboboxes: type key by key
  value_length: number; // of a secret: 1 when filled
  checked?: boolean; // of checkboxes, radios and switches
  frame?: string; // the target is a frame element: its key
  would: Would;
  begun?: boolean; // begin() was done
}
/** What the act would set off, as far as the page tells. */
export interface Would {
  kind: 'none' | 'follow' | 'submit' | 'download';
  method: string; // GET, POST, …; "" for none
  url: string; // absolute; the action without query for a GET form
  fields: string[]; // names only
  new_tab: boolean;
  target: string; // formtarget, target or base target as written: "", _top, _parent, _blank, a name
  form: string; // accessible name, name or id of the form
  invalid: string[]; // names of fields for which the browser would not send the form
}

/**
 * Prototype setter, one input event, one change event. Text-like inputs, textarea, date & co (standard form, else
 * bad_argument with data.format), range, color, number, contenteditable (by execCommand); select takes a label or value.
 * Checkboxes, radios and files are not_editable: click them.
 */
export interface FillArgs {
  ref: string;
  text: string;
  append?: boolean;
  max?: number; // bound of a delta, which is told where the text stands; without it there is none
}
/** Read back; value only when not secret and ≤ 200 characters. */
export interface FillResult {
  matches: boolean; // what was given to fill stands there (readback: text, when given)
  length: number;
  value?: string;
  delta?: Delta;
}

/** Lines that came (+) and went (−) since begin, whole lines; more counts those left out. */
export interface Delta {
  text: string;
  more: number;
}

/** What the owner or the agent did in this document, by trusted events only; times are Date.now(). */
export interface TrustedInput {
  seq: number; // grows with each
  type: 'pointerdown' | 'keydown' | 'wheel' | 'touchstart';
  x: number;
  y: number;
  key: string; // only for keys that type nothing ("Enter", "Escape", "Tab", arrows …), else ""
  time: number;
}

/** Methods by name. */
export interface Engine {
  init(a: Init): Record<string, never>;
  /** Only the doc of the answer. */
  ping(a: Record<string, never>): Record<string, never>;
  snapshot(a: SnapshotArgs): Snapshot;
  window(a: WindowArgs): SnapshotWindow;
  read(a: ReadArgs): Reading;
  /** Lines with refs; line is the snapshot's line of the element. */
  find(a: {text?: string; regex?: string; role?: string; name?: string; limit?: number}): {matches: (Found & {line: string})[]; total: number};
  readForm(a: {target?: string}): FormReading;
  resolve(a: {target: string; nth?: number}): Found;
  check(a: CheckArgs): Promise<Checked>;
  /** Does this point of this frame hit the element (or its label or a descendant)? For rechecks. */
  hits(a: {ref: string; x: number; y: number}): {hit: boolean; by: string};
  focus(a: {ref: string; select?: 'all' | 'end'}): {focused: boolean};
  fill(a: FillArgs): Promise<FillResult>;
  /** Ends an edit made by keys: the browser fires change and blur, as when a person goes on. */
  commit(a: {ref: string}): Record<string, never>;
  readback(a: {ref: string; text?: string}): FillResult & {checked?: boolean; selected?: string[]};
  select(a: {ref: string; values?: string[]; labels?: string[]; indexes?: number[]}): {selected: string[]};
  /** Scrolls the area around the target, or the page; with a target alone it is brought into view. */
  scroll(a: {target?: string; to?: 'top' | 'bottom'; by_y?: number}): {moved: number; at_bottom: boolean; at_top: boolean; area: string};
  /** watch starts anew. native: the browser took the drag over; effect is the dragend's: "none" when nothing took it. */
  drag(a: {watch?: boolean}): {native: boolean; ended: boolean; effect: string; dropped: boolean};
  /** Starts a delta: remembers the lines now (of a page over 50,000 elements those on screen) and starts counting mutations and trusted events. */
  begin(a: Record<string, never>): Record<string, never>;
  /**
   * Resolves after one frame (34 ms timer fallback) without a DOM change, at most limit_ms. Trusted counts are since begin.
   * With released, that many pointers must have been let go since begin first, so that it can be asked before the click
   * it is about; heard tells whether they were. With max it brings the delta.
   */
  quiet(a: {limit_ms: number; released?: number; max?: number}): Promise<{quiet: boolean; heard: boolean; mutations: number; trusted: Record<string, number>; delta?: Delta}>;
  /** At most max characters. May be asked more than once. */
  delta(a: {max: number}): Delta;
  /** Waits for text to appear or go, or a target's state; running out is an answer. */
  wait(a: {text?: string; text_gone?: string; target?: string; state?: 'visible' | 'hidden' | 'attached' | 'detached' | 'enabled'; timeout_ms: number}): Promise<{met: boolean; last_seen: string}>;
  /** Trusted input after seq; waits for some, at most timeout_ms. A long poll. */
  input(a: {after: number; timeout_ms: number}): Promise<{events: TrustedInput[]; seq: number}>;
  /** Starts location.assign in the document, so that a same-origin navigation goes out as the page's own. */
  go(a: {url: string}): Record<string, never>;
  /** Neutralises beforeunload handlers' dialogs for the next navigation of the agent. */
  calm(a: Record<string, never>): Record<string, never>;
  /** Binds a child frame: the iframe element is the call's first object, key its CDP frame id. */
  bindFrame(a: {key: string}): Record<string, never>;
  /** Maps a point of a child frame's viewport into this frame's viewport, through transforms; hit tells whether the frame element receives it. */
  mapPoint(a: {key: string; x: number; y: number}): {x: number; y: number; hit: boolean; by: string};
  /** Scrolls a child frame's element (and the point inside it) into view. */
  reveal(a: {key: string; x: number; y: number}): Record<string, never>;
  /** Closed shadow roots, the call's objects. Call again until hosts() finds no more. */
  adopt(a: Record<string, never>): {adopted: number};
  /** As DOM.performSearch("<") counts; the difference is what closed roots still hide. */
  count(a: Record<string, never>): {nodes: number};
}
