/**
 * The approval page: who asks, which tab, how much, for how long. Nothing is shared but by a click on Share, and exactly
 * what the page shows at that moment.
 *
 * States: loading → ready; refused (ready, with why the last press came to nothing); busy; done; error (there is nothing
 * to decide any more); silent.
 *
 * @import {Access, Approval} from '../../protocol/protocol.js'
 * @import {TabChoice} from './view.js'
 */
import {exactMatters, firstAccess, originOf, problemSaid, siteOf, tabChoices} from './view.js';
import {Refused, arm, ask, button, byId, complain, find, leave, page, press, put, rows, say, state, text, when} from './ui.js';

const form = /** @type {HTMLFormElement} */ (byId('form'));
const filter = /** @type {HTMLInputElement} */ (byId('filter'));
const address = find(form, '[name=url]', HTMLInputElement);
const share = button(form, 'share');
const refuse = button(form, 'refuse');
const tabList = byId('tab-list');

/** @type {{approval: Approval, instance: string, sealing?: boolean} | undefined} */
let found;
/** @type {TabChoice[]} */
let tabs = [];
/** Tabs Chrome has refused while this page stood. @type {Map<number, string>} */
const refused = new Map();

const deciding = () => ['ready', 'refused'].includes(document.body.dataset.state ?? '');
const guard = arm(() => [share, refuse], deciding);

/** The choice as it stands in the form. */
function chosen() {
  const data = new FormData(form);
  const isNew = data.get('tab') === 'new';
  const tab = tabs.find((t) => String(t.tab) === data.get('tab'));
  const url = isNew ? address.value.trim() : tab?.url ?? '';
  return {
    isNew,
    tab: tab?.tab ?? null,
    url,
    what: isNew ? text(['chosen_new_tab']) : tab?.title || siteOf(url),
    complete: isNew ? /^https?:$/.test(URL.canParse(url) ? new URL(url).protocol : '') : Boolean(tab),
    access: /** @type {Access} */ (data.get('access')),
    exact: data.has('exact'),
    until: Number(data.get('until')),
    sealed: Boolean(found?.approval.sealed) || data.has('sealed'),
  };
}

/** @param {NonNullable<typeof found>} now @param {boolean} first */
function showApproval({approval: {host, reason, url, access, sealed, loosened}, sealing}, first) {
  say(byId('heading'), ['approve_heading', host.name]);
  put(byId('claimed'), host.name);
  for (const [id, path] of /** @type {const} */ ([['program', host.executable], ['parent', host.parent]])) {
    say(byId(id), path ? ['value', path] : ['agent_unknown']);
    byId(id).classList.toggle('code', path !== '');
  }
  say(byId('reason-caption'), reason ? ['reason_caption', host.name] : ['reason_none', host.name]);
  byId('reason').hidden = !reason;
  put(find(byId('reason'), 'bdi', HTMLElement), reason);
  say(byId('access-asked'), [access === 'read' ? 'access_asked_read' : 'access_asked_act', host.name]);
  if (first) {
    address.value = url;
    find(form, '[name=tab][value=new]', HTMLInputElement).checked = url !== '';
    find(form, `[name=access][value=${firstAccess(access)}]`, HTMLInputElement).checked = true;
  }
  byId('sealing').hidden = !sealing && !sealed;
  byId('sealed-required').hidden = !sealed;
  const seal = find(form, '[name=sealed]', HTMLInputElement);
  seal.disabled = sealed;
  if (sealed) seal.checked = true;
  byId('loosened').hidden = loosened.length === 0;
  rows(byId('loosened-list'), 'loosening', loosened, (words) => words, (row, words) => {
    put(find(row, 'bdi', HTMLElement), words);
  });
}

function showTabs() {
  const before = tabList.childElementCount;
  const list = tabChoices(tabs, {filter: filter.value, asked: found?.approval.url, chosen: chosen().tab});
  rows(tabList, 'tab', list, ({tab}) => tab, (row, {tab, title, url, refused: why}) => {
    const radio = find(row, 'input', HTMLInputElement);
    const reason = refused.get(tab) ?? why;
    radio.value = String(tab);
    radio.dataset.url = url;
    radio.disabled = Boolean(reason);
    if (reason) radio.checked = false;
    put(find(row, '.title', HTMLElement), title || siteOf(url));
    put(find(row, '.site', HTMLElement), siteOf(url));
    const note = find(row, '.why', HTMLElement);
    note.hidden = !reason;
    if (reason) say(note, ['tab_refused', reason]);
  });
  byId('no-tabs').hidden = list.length > 0;
  if (list.length === 0) say(byId('no-tabs'), filter.value ? ['tabs_no_match', filter.value] : ['tabs_none']);
  if (tabList.childElementCount !== before) guard.again();
  showChoice();
}

/** Says in one sentence what Share would do now. */
function showChoice() {
  const {isNew, url, what, complete, access, exact, until} = chosen();
  byId('exact-choice').hidden = !complete;
  share.ariaDisabled = String(!complete);
  if (!complete) return say(byId('chosen'), [isNew ? 'chosen_no_address' : 'chosen_none']);
  say(byId('exact-label'), ['access_exact', originOf(url)]);
  const where = !exactMatters(url) ? siteOf(url) : exact ? originOf(url) : text(['whole_site', siteOf(url)]);
  say(byId('chosen'), [`chosen_${access}`, what, found?.approval.host.name ?? '', where, text([until ? 'chosen_hour' : 'chosen_stop'])]);
}

let expiry = 0;

/** Asks again who wants what; false when nobody does any more. */
async function refresh() {
  const instance = new URLSearchParams(location.search).get('instance');
  const first = !found;
  try {
    found = await ask('approval.find', instance ? {instance} : {});
    tabs = await ask('approval.tabs');
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    const over = /^approval_|^(unavailable|shutting_down)$/.test(error.code);
    say(byId('gone-heading'), [over ? 'approve_gone_heading' : 'approve_trouble_heading']);
    say(byId('gone'), problemSaid(error));
    byId('gone-next').hidden = !over;
    byId('gone-again').hidden = over;
    state(error.code === 'silent' ? 'silent' : 'error');
    return false;
  }
  const left = found.approval.expires_ms;
  clearTimeout(expiry);
  expiry = window.setTimeout(refreshSoon, left + 500);
  say(byId('expires'), ['approve_expires', when(Date.now() + left)]);
  showApproval(found, first);
  if (first) state('ready');
  showTabs();
  guard.update();
  return true;
}

/** Does it soon, once for many reasons, in sight, and not while a decision is on its way. @param {() => Promise<unknown>} work */
function soon(work) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = window.setTimeout(() => {
      if (document.visibilityState === 'visible' && deciding()) work();
    }, 300);
  };
}
const refreshSoon = soon(refresh);
const refreshTabsSoon = soon(async () => {
  tabs = await ask('approval.tabs');
  showTabs();
});

/**
 * Sends a decision and leaves. When it comes to nothing, the page stays and says why, unless there is nothing to decide
 * any more.
 *
 * @param {'approval.share' | 'approval.refuse'} type
 * @param {Record<string, unknown>} values
 * @param {string} done what to say when it is
 */
async function decide(type, values, done) {
  if (!found) return;
  const {approval, instance} = found;
  complain(byId('problem'), null);
  state('busy');
  form.inert = true;
  guard.update();
  try {
    await ask(type, {instance, id: approval.id, ...values});
    say(byId('done'), [done, approval.host.name]);
    state('done');
    await leave();
  } catch (error) {
    form.inert = false;
    if (error instanceof Refused && error.code === 'attach_refused' && typeof values.tab === 'number') refused.set(values.tab, error.message);
    if (!await refresh()) return;
    complain(byId('problem'), error);
    state('refused');
    guard.again();
  }
}

function doShare() {
  const {isNew, tab, url, complete, access, exact, until, sealed} = chosen();
  if (!complete) return (isNew ? address : find(form, '[name=tab]:not(:disabled)', HTMLInputElement)).focus();
  say(byId('chosen'), ['sharing']);
  return decide('approval.share', {tab, url, access, exact, until, sealed}, 'approve_done');
}

page('approve_title', async () => {
  press(share, doShare);
  press(refuse, () => decide('approval.refuse', {}, 'approve_refused'));
  form.addEventListener('submit', (event) => event.preventDefault()); // Enter in a field shares nothing
  form.addEventListener('change', showChoice);
  filter.addEventListener('input', showTabs);
  address.addEventListener('input', () => {
    find(form, '[name=tab][value=new]', HTMLInputElement).checked = true;
    showChoice();
  });
  if (!await refresh()) return;
  document.addEventListener('visibilitychange', refreshSoon);
  chrome.storage.session.onChanged.addListener(({view, leases}) => {
    if (view || leases) refreshSoon();
  });
  chrome.tabs.onCreated.addListener(refreshTabsSoon);
  chrome.tabs.onUpdated.addListener(refreshTabsSoon);
  chrome.tabs.onRemoved.addListener(refreshTabsSoon);
});
