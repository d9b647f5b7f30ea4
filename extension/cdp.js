/**
 * What a host may send to Chrome: the allow-list of PROTOCOL.md, the same as in Go (testdata/vectors/cdp.json holds both to
 * it). A parameter that is not listed is refused.
 */
import {Fault, unsharableFor} from './errors.js';
import {isObject} from './protocol.js';

/** @typedef {import('../protocol/protocol.js').ParamRule} ParamRule */
/** @typedef {Omit<import('../protocol/protocol.js').CDPMethod, 'method'>} Row */

/** @type {(type: ParamRule['type'], more?: Omit<ParamRule, 'type'>) => ParamRule} */
const rule = (type, more = {}) => ({type, ...more});

/**
 * Parameters by name, written as a type with `!` when required: `{url: 'string!'}`.
 *
 * @param {Record<string, string | ParamRule>} names
 * @returns {Row['params']}
 */
const params = (names) => Object.fromEntries(Object.entries(names).map(([name, is]) => {
  if (typeof is !== 'string') return [name, is];
  const type = /** @type {ParamRule['type']} */ (is.replace('!', ''));
  return [name, is.endsWith('!') ? rule(type, {required: true}) : rule(type)];
}));

/** @param {string} names separated by spaces @param {string} type */
const all = (names, type) => Object.fromEntries(names.split(' ').map((name) => [name, type]));

/** @type {(names?: Record<string, string | ParamRule>, more?: Partial<Row>) => Row} */
const read = (names = {}, more = {}) => ({kind: 'read', params: params(names), ...more});
/** @type {(names?: Record<string, string | ParamRule>, more?: Partial<Row>) => Row} */
const act = (names = {}, more = {}) => ({kind: 'act', params: params(names), ...more});
/** @type {() => Row} */
const cleanup = () => ({kind: 'cleanup', params: {}});

const node = {nodeId: 'number', backendNodeId: 'number', objectId: 'string'};
const world = rule('string', {required: true, values: ['tabvalet']});
const tiny = rule('number', {required: true, max: 64});

/** @type {Record<string, Row>} */
export const METHODS = {
  'DOM.describeNode': read({...node, depth: 'number', pierce: 'boolean'}),
  'DOM.disable': read(),
  'DOM.discardSearchResults': read({searchId: 'string!'}),
  'DOM.enable': read({includeWhitespace: 'string'}),
  'DOM.getBoxModel': read(node),
  'DOM.getContentQuads': read(node),
  'DOM.getFrameOwner': read({frameId: 'string!'}),
  'DOM.getSearchResults': read({searchId: 'string!', fromIndex: 'number!', toIndex: 'number!'}),
  'DOM.performSearch': read({query: 'string!', includeUserAgentShadowDOM: 'boolean'}),
  'DOM.resolveNode': read({nodeId: 'number', backendNodeId: 'number', objectGroup: 'string', executionContextId: 'number'}),
  'Network.getResponseBody': read({requestId: 'string!'}),
  'Page.addScriptToEvaluateOnNewDocument': read({source: 'string!', worldName: world, runImmediately: 'boolean'}),
  'Page.captureScreenshot': read({
    format: 'string', quality: 'number', clip: 'object', ...all('fromSurface captureBeyondViewport optimizeForSpeed', 'boolean'),
  }),
  'Page.createIsolatedWorld': read({frameId: 'string!', worldName: world}),
  'Page.getFrameTree': read(),
  'Page.getLayoutMetrics': read(),
  'Page.getNavigationHistory': read(),
  'Page.printToPDF': read({
    ...all('landscape displayHeaderFooter printBackground preferCSSPageSize generateTaggedPDF generateDocumentOutline', 'boolean'),
    ...all('scale paperWidth paperHeight marginTop marginBottom marginLeft marginRight', 'number'),
    ...all('pageRanges headerTemplate footerTemplate', 'string'), transferMode: rule('string', {values: ['ReturnAsBase64']}),
  }),
  'Page.removeScriptToEvaluateOnNewDocument': read({identifier: 'string!'}),
  'Page.startScreencast': read({format: 'string', quality: 'number', maxWidth: tiny, maxHeight: tiny, everyNthFrame: 'number'}),
  'Runtime.callFunctionOn': read({
    functionDeclaration: 'string!', objectId: 'string!', arguments: 'array', objectGroup: 'string',
    ...all('silent returnByValue awaitPromise throwOnSideEffect', 'boolean'), serializationOptions: 'object',
  }),
  'Runtime.disable': read(),
  'Runtime.enable': read(),
  'Runtime.evaluate': read({
    expression: 'string!', contextId: 'number', uniqueContextId: 'string', objectGroup: 'string', timeout: 'number',
    ...all('silent returnByValue awaitPromise throwOnSideEffect disableBreaks', 'boolean'), serializationOptions: 'object',
  }, {any_of: ['contextId', 'uniqueContextId']}),
  'Runtime.releaseObject': read({objectId: 'string!'}),
  'Runtime.releaseObjectGroup': read({objectGroup: 'string!'}),

  'Input.dispatchDragEvent': act({type: 'string!', x: 'number!', y: 'number!', data: 'object!', modifiers: 'number'}),
  'Input.dispatchKeyEvent': act({
    type: 'string!', ...all('modifiers timestamp windowsVirtualKeyCode nativeVirtualKeyCode location', 'number'),
    ...all('text unmodifiedText keyIdentifier code key', 'string'), ...all('autoRepeat isKeypad isSystemKey', 'boolean'),
    commands: rule('array', {values: ['selectAll']}),
  }, {cleanup: {type: ['keyUp']}}),
  'Input.dispatchMouseEvent': act({
    type: 'string!', x: 'number!', y: 'number!', button: 'string', pointerType: 'string',
    ...all('modifiers timestamp buttons clickCount force tangentialPressure tiltX tiltY twist deltaX deltaY', 'number'),
  }, {cleanup: {type: ['mouseReleased']}}),
  'Input.dispatchTouchEvent': act({type: 'string!', touchPoints: 'array!', modifiers: 'number', timestamp: 'number'},
    {cleanup: {type: ['touchEnd', 'touchCancel']}}),
  'Input.imeSetComposition': act({
    text: 'string!', selectionStart: 'number!', selectionEnd: 'number!', replacementStart: 'number', replacementEnd: 'number',
  }),
  'Input.insertText': act({text: 'string!'}),
  'Input.setInterceptDrags': act({enabled: 'boolean!'}, {cleanup: {enabled: [false]}}),
  'Page.handleJavaScriptDialog': act({accept: 'boolean!', promptText: 'string'}),
  'Page.navigate': act({url: rule('string', {required: true, url: true}), transitionType: 'string'}),
  'Page.navigateToHistoryEntry': act({entryId: 'number!'}),
  'Page.reload': act({ignoreCache: 'boolean', loaderId: 'string'}),
  'Page.setInterceptFileChooserDialog': act({enabled: 'boolean!', cancel: 'boolean'}, {cleanup: {enabled: [false]}}),

  'Page.stopLoading': cleanup(),
  'Page.stopScreencast': cleanup(),
};

/**
 * Holds a command against the list and gives the kind it counts as, or throws method_not_allowed.
 *
 * @param {string} method
 * @param {unknown} given its parameters
 * @param {boolean} asAct the flag of cdp.send
 * @returns {Row['kind']}
 */
export function checkCDP(method, given, asAct) {
  const row = Object.hasOwn(METHODS, method) ? METHODS[method] : undefined;
  if (!row) throw refused(`${method.slice(0, 60)} is not on the list`);
  if (!isObject(given)) throw refused(`the parameters of ${method} are not an object`);
  for (const [name, value] of Object.entries(given)) {
    const limits = Object.hasOwn(row.params, name) ? row.params[name] : undefined;
    if (!limits) throw refused(`${method} may not have ${name.slice(0, 60)}`);
    if (!allows(limits, value)) throw refused(`${method} may not have that ${name}`);
  }
  for (const [name, {required}] of Object.entries(row.params)) {
    if (required && !Object.hasOwn(given, name)) throw refused(`${method} must have ${name}`);
  }
  if (row.any_of && !row.any_of.some((name) => Object.hasOwn(given, name))) throw refused(`${method} must have one of ${row.any_of.join(', ')}`);
  for (const [name, values] of Object.entries(row.cleanup ?? {})) {
    if (values.includes(/** @type {string | boolean} */ (given[name]))) return 'cleanup';
  }
  return row.kind === 'read' && asAct ? 'act' : row.kind;
}

/** @param {ParamRule} limits @param {unknown} value */
function allows({type, values, max, url}, value) {
  switch (type) {
    case 'string': return typeof value === 'string' && (!values || values.includes(value)) && (!url || isTarget(value));
    case 'number': return typeof value === 'number' && (max === undefined || value <= max);
    case 'boolean': return typeof value === 'boolean';
    case 'object': return isObject(value);
    default: return Array.isArray(value) && (!values || value.every((item) => values.includes(item)));
  }
}

/**
 * Whether a tab may be sent to that address at all: http, https or about:blank, and nothing that looks like a host's own
 * pages, on whatever name (it may stand for 127.0.0.1).
 *
 * @param {string} address
 */
export function isTarget(address) {
  if (address === 'about:blank') return true;
  if (/[\0- \\\x7f]/.test(address) || !/^https?:\/\/[^/]/i.test(address)) return false;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  return url !== undefined && url.username === '' && url.password === '' && !isHostPath(url);
}

/** A host's own page or link, at any port and in any spelling of the path. @param {URL} url */
export function isHostPath({port, pathname}) {
  let path = pathname;
  try {
    path = decodeURIComponent(pathname);
  } catch { /* then as it stands */ }
  return port !== '' && /\/approve\/|\/tabvalet\/1/i.test(path);
}

/**
 * Throws when a tab is at another host than the owner saw or asked for: that is not what they meant to share. "www." makes no
 * difference.
 *
 * @param {string} meant
 * @param {string} is
 */
export function mustBeAt(meant, is) {
  const [host, other] = [meant, is].map((address) => (URL.canParse(address) ? new URL(address).hostname : ''));
  if (host?.replace(/^www\./, '') !== other?.replace(/^www\./, '')) throw unsharableFor('unsharable_elsewhere', [String(other)]);
}

/** @param {string} message */
const refused = (message) => new Fault('method_not_allowed', message);
