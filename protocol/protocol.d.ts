/**
 * The shapes that cross the link, as messages.go and native.go declare them; a test compares the two. A member without `?`
 * is always there, null stands for nothing, an unknown member is refused. Names and meaning: PROTOCOL.md.
 */

// Frames.

/** base64url without padding. */
export type Bytes = string;
export type TabID = number;

export interface WireError {
  code: string;
  message: string;
  data?: Record<string, unknown>;
}

export interface CallMessage {
  jsonrpc: "2.0";
  id: number;
  method: string;
  params: object;
}
export interface NoteMessage {
  jsonrpc: "2.0";
  method: string;
  params: object;
}
export interface ResultMessage {
  jsonrpc: "2.0";
  id: number;
  result: object;
}
export interface ErrorMessage {
  jsonrpc: "2.0";
  id: number;
  error: WireError;
}
export type Message = CallMessage | NoteMessage | ResultMessage | ErrorMessage;

export interface Chunk {
  id: number;
  seq: number;
  last: boolean;
  data: string;
}

export interface Empty {}

// Handshake.

export interface HelloParams {
  versions: number[];
  profile: string;
  nonce: Bytes;
  extension: string;
}
export interface HelloResult {
  version: number;
  nonce: Bytes;
  instance: string;
  proof: Bytes;
}
export interface ProveParams {
  proof: Bytes;
}
export interface ReadyResult {
  host: HostInfo;
  heartbeat_ms: number;
}
export interface HostInfo {
  name: string;
  executable: string;
  parent: string;
  pid: number;
  version: string;
  extension: string;
}

// Approval and leases.

export interface ReconcileParams {
  tabs: LeasedTab[];
}
export interface ReconcileResult {
  keep: TabID[];
}
export interface LeasedTab {
  tab: TabID;
  lease: string;
  url: string;
  title: string;
  opened: boolean;
  driving: boolean;
  private: boolean;
  sessions: ChildSession[];
}
export interface ChildSession {
  session: string;
  frame: string;
  url: string;
}
export interface ApprovalGetParams {
  token?: string;
}
export type Access = "read" | "act" | "submit";
export interface Approval {
  id: string;
  host: HostInfo;
  reason: string;
  url: string;
  access: Access;
  expires_ms: number;
  sealed: boolean;
  loosened: string[];
}
export interface ApprovalRef {
  id: string;
}
export interface TabRefused {
  id: string;
  reason: string;
}
export interface LeaseOfferParams {
  id: string;
  tab: LeasedTab;
  access: Access;
  exact: boolean;
  until: number;
  sealed: boolean;
}
export interface LeaseOfferResult {
  lease: string;
}
export type EndReason =
  | "stopped"
  | "dragged_out"
  | "closed"
  | "canceled"
  | "refused"
  | "own_page"
  | "expired"
  | "host"
  | "link_lost"
  | "forgotten"
  | "tab_replaced"
  | "reconciled";
export interface LeaseEnded {
  tab: TabID;
  reason: EndReason;
  detail?: string;
}
export interface Takeover {
  tab: TabID;
  private: boolean;
  implicit: boolean;
}
export interface TabRef {
  tab: TabID;
}
export interface AgentPausedParams {
  paused: boolean;
}
export interface TabOpenParams {
  url: string;
  lease: string;
  beside: TabID;
}
export interface LeaseEndParams {
  tab: TabID;
  close: boolean;
}
export interface LeaseEndResult {
  detached: boolean;
}
export interface LeaseUpdate {
  tab: TabID;
  frozen: boolean;
  grants: string[];
}

// CDP.

export interface Event {
  tab: TabID;
  session?: string;
  method: string;
  params: object;
  driven?: boolean;
  front?: boolean;
}
export interface SendParams {
  tab: TabID;
  session?: string;
  method: string;
  params: object;
  act?: boolean;
}
export type VerdictAction = "continue" | "refuse" | "fail" | "arrive";
export interface Verdict {
  tab: TabID;
  session?: string;
  request: string;
  action: VerdictAction;
}

// Prompts.

export type PromptKind = "navigate" | "submit" | "read" | "upload" | "download" | "publish" | "script" | "popup";
export type PromptChoice = "once" | "ten_minutes" | "while_shared" | "no";
export interface Prompt {
  id: string;
  tab: TabID;
  kind: PromptKind;
  site: string;
  destination: string;
  method: string;
  control: string;
  fields: string[];
  announced: boolean;
  choices: PromptChoice[];
  expires_ms: number;
}
export interface PromptRef {
  id: string;
}
export interface PromptAnswerParams {
  id: string;
  choice: PromptChoice;
}

// The record.

export interface Row {
  seq: number;
  hash: string;
  row: object;
}
export interface Rows {
  file: string;
  rows: Row[];
}
export interface Head {
  file: string;
  seq: number;
  hash: string;
}
export interface Mirror {
  heads: Head[];
}

// Native messages.

export type NativeType = "pair" | "list";
export interface NativeRequest {
  type: NativeType;
  label?: string;
  renew?: string;
}
export interface NativePaired {
  profile: string;
  key: Bytes;
  epoch: number;
}
export type HostState = "waiting" | "connected";
export interface NativeHost {
  instance: string;
  name: string;
  pid: number;
  port: number;
  started: string;
  state: HostState;
}
export interface NativeHosts {
  hosts: NativeHost[];
  extension: string;
  profiles: string[];
}
export interface NativeRefused {
  error: WireError;
}

// The CDP tables, as testdata/vectors/cdp.json and events.json hold them.

export type CDPKind = "read" | "act" | "cleanup";
export interface ParamRule {
  type: "string" | "number" | "boolean" | "object" | "array";
  required?: boolean;
  values?: string[];
  max?: number;
  url?: boolean;
}
export interface CDPMethod {
  method: string;
  kind: CDPKind;
  params: Record<string, ParamRule>;
  any_of?: string[];
  cleanup?: Record<string, (string | boolean)[]>;
}
export interface EventRule {
  method: string;
  keep: string[];
  where?: Record<string, string[]>;
}
