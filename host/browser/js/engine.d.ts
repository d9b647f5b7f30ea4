/**
 * The contract between the page engine (JavaScript, isolated world "tabvalet") and host/browser (Go).
 *
 * Go calls `tabvalet.call(method, argsJSON)` and gets JSON text: an Answer. Everything here is plain data. The engine
 * never throws to Go; it never keeps state that a new document could inherit. Coordinates are CSS pixels of the
 * frame's own viewport.
 */

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
  /** One of protocol.Codes: not_found, ambiguous, stale_ref, hidden, disabled, covered, moving, not_editable, outside, bad_argument, timeout. */
  code: string;
  message: string;
  /** e.g. {by: 'dialog "Cookies"', candidates: [{ref, role, name}], waited_ms} */
  data?: Record<string, unknown>;
}

/** Called once per document before anything else. Refs read `e12` when prefix is "", else `f2e12` with prefix "f2". */
export interface Init { prefix: string }

export interface SnapshotArgs {
  target?: string; // only this subtree
  depth?: number;
  interactive?: boolean; // only what can be acted on
  boxes?: boolean;
}

/**
 * A whole tree, serialised once; Go pages it. A line is `- button "Save" [ref=e12] [disabled]` without indentation.
 * A child frame is one line with `frame` set to its key (see bindFrame); Go puts the frame's own lines under it.
 */
export interface SnapshotLine {
  d: number; // depth
  t: string; // text of the line
  r?: string; // ref
  v?: 1; // on screen now
  h?: 1; // landmark or heading: kept in an outline
  f?: string; // frame key
}
export interface Snapshot {
  lines: SnapshotLine[];
  hidden_text: number; // pieces of hidden text that look like an instruction
  scroll: {x: number; y: number; width: number; height: number; view_width: number; view_height: number};
  active?: string; // ref of the focused element
}

export interface ReadArgs { target?: string; links?: boolean }
export interface Reading { text: string; links: {text: string; url: string}[]; hidden_text: number }

export interface Found { ref: string; role: string; name: string; describe: string }

export interface CheckArgs {
  target: string; // e12, aria-ref=e12, CSS, text=…, role=button[name="Save"], label=…
  nth?: number;
  for: 'click' | 'type' | 'press' | 'hover' | 'select' | 'none';
  button?: 'left' | 'right' | 'middle';
  key?: string; // for press: Enter in a form field would submit
  submit?: boolean; // for type: Enter afterwards
  timeout_ms?: number; // how long late controls are waited for; the engine waits by events and frames (34 ms timer fallback)
  quick?: boolean; // recheck: do not wait, do not scroll
}
export interface Checked extends Found {
  point?: {x: number; y: number}; // where to click, hit-tested inside this frame
  rect: {x: number; y: number; width: number; height: number};
  animating: boolean;
  editable: '' | 'input' | 'textarea' | 'contenteditable' | 'select' | 'checkbox' | 'radio' | 'file' | 'date' | 'range' | 'color';
  input_type: string;
  secret: boolean; // password, one-time code, card
  keys_needed: boolean; // masks, comboboxes: type key by key
  value_length: number;
  would: Would;
}
/** What the act would set off, as far as the page tells. */
export interface Would {
  kind: 'none' | 'follow' | 'submit' | 'download';
  method: string; // GET, POST, …
  url: string; // absolute
  fields: string[]; // names only
  new_tab: boolean;
  form: string; // accessible name, name or id of the form
}

export interface FillArgs { ref: string; text: string; append?: boolean } // prototype setter + one input event; change on commit
export interface FillResult { matches: boolean; length: number; value?: string } // read back; value only when not secret and ≤ 200 characters

/** Methods by name. */
export interface Engine {
  init(a: Init): Record<string, never>;
  snapshot(a: SnapshotArgs): Snapshot;
  read(a: ReadArgs): Reading;
  find(a: {text?: string; regex?: string; role?: string; name?: string; limit?: number}): {matches: Found[]; total: number};
  resolve(a: {target: string; nth?: number}): Found;
  check(a: CheckArgs): Promise<Checked>;
  /** Does this point of this frame hit the element (or its label or a descendant)? For rechecks. */
  hits(a: {ref: string; x: number; y: number}): {hit: boolean; by: string};
  focus(a: {ref: string; select?: 'all' | 'end'}): {focused: boolean};
  fill(a: FillArgs): FillResult;
  readback(a: {ref: string}): FillResult & {checked?: boolean; selected?: string[]};
  select(a: {ref: string; values?: string[]; labels?: string[]; indexes?: number[]}): {selected: string[]};
  scroll(a: {target?: string; to?: 'top' | 'bottom'; by_y?: number}): {moved: number; at_bottom: boolean; at_top: boolean};
  /** Starts a delta: remembers the lines now and starts counting mutations and trusted events. */
  begin(a: Record<string, never>): Record<string, never>;
  /** Resolves after one frame (34 ms timer fallback) without a DOM change, at most limit_ms. */
  quiet(a: {limit_ms: number}): Promise<{quiet: boolean; mutations: number; trusted: Record<string, number>}>;
  /** Lines that came (+) and went (−) since begin, at most max characters. */
  delta(a: {max: number}): {text: string; more: number};
  /** Waits for text to appear or go, or a target's state; running out is an answer. */
  wait(a: {text?: string; text_gone?: string; target?: string; state?: 'visible' | 'hidden' | 'attached' | 'detached' | 'enabled'; timeout_ms: number}): Promise<{met: boolean; last_seen: string}>;
  /** Starts location.assign in the document, so that a same-origin navigation goes out as the page's own. */
  go(a: {url: string}): Record<string, never>;
  /** Neutralises beforeunload handlers' dialogs for the next navigation of the agent. */
  calm(a: Record<string, never>): Record<string, never>;
  /** Binds child frames: elements come as extra object arguments, keys are CDP frame ids. */
  bindFrame(a: {key: string}): Record<string, never>; // the iframe element is this.frameElement argument 3 of the call
  /** Maps a point of a child frame's viewport into this frame's viewport, through transforms; hit tells whether the frame element receives it. */
  mapPoint(a: {key: string; x: number; y: number}): {x: number; y: number; hit: boolean; by: string};
  /** Scrolls a child frame's element (and rect inside it) into view. */
  reveal(a: {key: string; x: number; y: number}): Record<string, never>;
}
