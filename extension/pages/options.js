/**
 * The options page: the pairing of this profile and how to forget it, and the last errors for who helps the owner.
 *
 * @import {Status} from './view.js'
 */
import {ask, button, byId, complain, find, page, press, put, rows, say, state, watch, when} from './ui.js';
import {popupState} from './view.js';

const sure = /** @type {HTMLDialogElement} */ (byId('sure'));

/** @param {Status} status */
function show(status) {
  const {paired, pairing, errors, version} = status;
  state(popupState(status));
  say(byId('pairing'), pairing === 'none' || !paired ? ['options_unpaired'] : pairing === 'renew_needed' ? ['options_renew', paired.label] : ['options_paired', paired.label]);
  byId('profile').hidden = !paired;
  if (paired) say(byId('profile'), ['options_profile', paired.profile]);
  button(document, 'forget').hidden = !paired;
  byId('no-errors').hidden = errors.length > 0;
  byId('error-table').hidden = errors.length === 0;
  rows(byId('error-list'), 'error', errors.map((error, i) => ({...error, i})).reverse(), ({time, code, i}) => `${time} ${code} ${i}`, (row, {time, code, message}) => {
    put(find(row, '.time', HTMLElement), when(time));
    put(find(row, '.code', HTMLElement), code);
    put(find(row, 'bdi', HTMLElement), message);
  });
  say(byId('version'), ['options_version', version]);
}

page('settings_title', async () => {
  press(button(document, 'forget'), () => sure.showModal());
  press(button(document, 'forget-yes'), async () => {
    sure.close();
    complain(byId('problem'), null);
    try {
      await ask('pair.forget');
      byId('pairing').focus();
    } catch (error) {
      complain(byId('problem'), error);
    }
  });
  await watch(show);
});
