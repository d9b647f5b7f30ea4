/**
 * Which CDP events a host gets, and what of each: the list of PROTOCOL.md, the same as in Go (testdata/vectors/events.json
 * holds both to it). A busy page makes thousands of events a second; what is cut here costs the link nothing.
 */
export const TEXT = 8 << 10;
export const BODY = 64 << 10;
export const ARGS = 16;
export const WORD = 2 << 10;
export const HEADERS = ['content-type', 'origin', 'referer', 'sec-fetch-dest', 'sec-fetch-mode', 'sec-fetch-site', 'sec-fetch-user',
  'accept', 'age', 'allow', 'cache-control', 'content-disposition', 'content-encoding', 'content-language', 'content-length',
  'content-security-policy', 'date', 'etag', 'expires', 'last-modified', 'retry-after', 'server', 'vary', 'x-content-type-options',
  'x-requested-with'];

/** @type {(keep: string, where?: Record<string, string[]>) => {keep: string[], where?: Record<string, string[]>}} */
const event = (keep, where) => ({keep: keep.split(' ').filter(Boolean), ...(where && {where})});

export const EVENTS = /** @type {Record<string, ReturnType<typeof event>>} */ ({
  'Fetch.requestPaused': event('requestId frameId resourceType networkId redirectedRequestId request.url request.urlFragment request.method '
    + 'request.headers request.hasPostData request.postData responseStatusCode responseErrorReason'),
  'Input.dragIntercepted': event('data'),
  'Inspector.targetCrashed': event(''),
  'Network.loadingFailed': event('requestId timestamp type errorText canceled blockedReason'),
  'Network.loadingFinished': event('requestId timestamp encodedDataLength'),
  'Network.requestWillBeSent': event('requestId loaderId frameId timestamp wallTime type request.url request.method request.headers request.hasPostData '
    + 'redirectHasExtraInfo redirectResponse.status redirectResponse.url'),
  'Network.responseReceived': event('requestId loaderId frameId timestamp type response.url response.status response.mimeType '
    + 'response.headers'),
  'Page.domContentEventFired': event('timestamp'),
  'Page.downloadWillBegin': event('frameId guid url suggestedFilename'),
  'Page.fileChooserOpened': event('frameId mode backendNodeId'),
  'Page.frameAttached': event('frameId parentFrameId'),
  'Page.frameDetached': event('frameId reason'),
  'Page.frameNavigated': event('frame.id frame.parentId frame.loaderId frame.name frame.url frame.urlFragment frame.securityOrigin '
    + 'frame.mimeType frame.unreachableUrl type'),
  'Page.frameRequestedNavigation': event('frameId reason url disposition'),
  'Page.frameStartedLoading': event('frameId'),
  'Page.frameStartedNavigating': event('frameId url loaderId navigationType'),
  'Page.frameStoppedLoading': event('frameId'),
  'Page.javascriptDialogClosed': event('frameId result userInput'),
  'Page.javascriptDialogOpening': event('url frameId message type hasBrowserHandler defaultPrompt'),
  'Page.lifecycleEvent': event('frameId loaderId name timestamp', {name: ['DOMContentLoaded', 'load', 'networkIdle']}),
  'Page.loadEventFired': event('timestamp'),
  'Page.navigatedWithinDocument': event('frameId url navigationType'),
  'Runtime.consoleAPICalled': event('type executionContextId timestamp args stackTrace'),
  'Runtime.exceptionThrown': event('timestamp exceptionDetails.text exceptionDetails.url exceptionDetails.lineNumber '
    + 'exceptionDetails.executionContextId exceptionDetails.exception'),
  'Runtime.executionContextCreated': event('context.id context.origin context.auxData'),
  'Target.attachedToTarget': event('sessionId waitingForDebugger targetInfo.targetId targetInfo.type targetInfo.url targetInfo.openerId'),
  'Target.detachedFromTarget': event('sessionId targetId'),
});

/**
 * The event's parameters as a host gets them, or undefined when it does not.
 *
 * @param {string} method
 * @param {any} params
 * @returns {Record<string, any> | undefined}
 */
export function slim(method, params) {
  const rule = Object.hasOwn(EVENTS, method) ? EVENTS[method] : undefined;
  if (!rule) return undefined;
  for (const [name, values] of Object.entries(rule.where ?? {})) if (!values.includes(params?.[name])) return undefined;
  /** @type {Record<string, any>} */
  const kept = {};
  for (const path of rule.keep) {
    const [outer = '', inner] = path.split('.');
    const from = inner === undefined ? params : params?.[outer];
    const value = reduce(path, from?.[inner ?? outer]);
    if (value === undefined) continue;
    if (inner === undefined) kept[outer] = value;
    else (kept[outer] ??= {})[inner] = value;
  }
  return kept;
}

/** @param {string} path @param {any} value */
function reduce(path, value) {
  if (value === null) return undefined;
  if (path === 'request.postData') return value?.length > BODY ? undefined : value;
  if (path === 'request.headers' || path === 'response.headers') {
    return value && Object.fromEntries(Object.entries(value).map(([name, text]) => [name.toLowerCase(), cut(text)])
      .filter(([name]) => HEADERS.includes(name)));
  }
  if (path === 'args') return Array.isArray(value) ? value.slice(0, ARGS).map(spoken) : undefined;
  if (path === 'exceptionDetails.exception') return value && spoken(value);
  if (path === 'stackTrace') {
    const {url, lineNumber} = value?.callFrames?.[0] ?? {};
    return url === undefined ? undefined : {url: cut(url), lineNumber};
  }
  return cut(value);
}

/** A script's value, as far as words tell it. @param {any} value */
const spoken = (value) => Object.fromEntries(['type', 'subtype', 'value', 'unserializableValue', 'description']
  .map((name) => [name, value?.[name]]).filter(([, part]) => part !== undefined && part !== null && typeof part !== 'object')
  .map(([name, part]) => [name, cut(part, WORD)]));

/** @param {any} value @param {number} [most] */
const cut = (value, most = TEXT) => (typeof value === 'string' && value.length > most ? value.slice(0, most) : value);
