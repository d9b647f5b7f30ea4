// Forms as they are to be filled in: what each field is called, takes and holds, and what would send it.

const fieldRoles = new Set(['textbox', 'searchbox', 'combobox', 'checkbox', 'radio', 'switch', 'slider', 'spinbutton', 'listbox']);
const fieldsMax = 300;

/** @param {{target?: string}} args @returns {import('./engine').FormReading} */
function readForm({target}) {
  const aim = target ? locate(target) : null;
  const only = aim && (aim instanceof HTMLFormElement ? aim : isField(aim) ? formOf(aim) : null);
  const within = only || !aim ? rootNow() : aim;
  /** @type {Map<HTMLFormElement | null, Element[]>} */
  const groups = new Map();
  let hidden = 0;
  /** @param {Element} e */
  const visit = (e) => {
    const form = e instanceof HTMLFormElement ? e : formOf(e);
    if (only && form !== only) return;
    if (isInput(e) && e.type === 'hidden') hidden++;
    else if (e instanceof HTMLFormElement || isFillable(e)) {
      const group = groups.get(form) ?? [];
      groups.set(form, group);
      if (e !== form) group.push(e);
    }
  };
  if (within) {
    if (aim && within === aim) visit(aim);
    everyElement(within, visit);
  }
  /** @type {string[]} */
  const lines = [];
  let fields = 0;
  let more = 0;
  for (const [form, elements] of groups) {
    /** @type {Element[]} */
    const sends = form ? submittersOf(form) : within === aim && aim ? buttonsIn(aim) : [];
    if (elements.length === 0 && sends.length === 0) continue;
    lines.push(form ? formLine(form) : '- fields of no form:');
    for (const e of elements) {
      if (fields === fieldsMax) more++;
      else {
        fields++;
        lines.push(...fieldLines(e));
      }
    }
    for (const e of sends) lines.push(`  - ${form ? 'submit: ' : ''}${controlText(e, roleOf(e))}${usableMark(e)}`);
  }
  return {lines, fields, hidden_inputs: hidden, more};
}

/** @param {Element} e @returns {HTMLFormElement | null} */
const formOf = (e) => (isField(e) || e instanceof HTMLButtonElement ? /** @type {HTMLInputElement} */ (e).form : /** @type {HTMLFormElement | null} */ (nearest(e, (at) => at instanceof HTMLFormElement)));

/** @param {Element} e */
const isFillable = (e) => (isField(e) ? !(isInput(e) && /^(submit|reset|button|image|hidden)$/.test(e.type)) : isEditingHost(e) || (hasAttr(e, 'role') && fieldRoles.has(roleOf(e)) && queryAll(e, 'input, textarea, select').length === 0));

/** @param {Element} within */
const buttonsIn = (within) => [...queryAll(within, 'button, input[type=submit i], input[type=image i], input[type=button i], [role=button]')].slice(0, 20);

/** @param {HTMLFormElement} form */
function formLine(form) {
  const would = wouldSubmit(form, submittersOf(form)[0] ?? null);
  const to = would.url ? `: ${would.method} ${cut(would.url.startsWith(self.origin + '/') ? would.url.slice(self.origin.length) : would.url, nameMax)}` : ':';
  return `- ${controlText(form, 'form', clean(attr(form, 'name') ?? '') || idOf(form))}${to}`;
}

/** @param {Element} e @param {string} role @param {string} [instead] */
function controlText(e, role, instead = '') {
  const name = nameOf(e, role).text || clean(instead);
  return `${role}${name ? ` ${quote(cut(name, nameMax))}` : ''} [ref=${refOf(e, role)}]`;
}

/** @param {Element} e */
function fieldLines(e) {
  const role = roleOf(e);
  const {required, invalid} = statesOf(e, role);
  const secret = isSecret(e);
  let line = `  - ${controlText(e, role === 'generic' || role === 'none' ? 'textbox' : role, attr(e, 'placeholder') ?? '')}`;
  const name = clean(attr(e, 'name') ?? '');
  if (name) line += ` name=${/^[\w.[\]-]+$/.test(name) ? name : quote(cut(name, 80))}`;
  if (isInput(e) && !/^(text|checkbox|radio)$/.test(e.type)) line += ` type=${e.type}`;
  if (e instanceof HTMLTextAreaElement) line += ' type=textarea';
  if (isEditingHost(e)) line += ' type=contenteditable';
  if (required) line += ' [required]';
  if (invalid) line += ' [invalid]';
  const checked = checkedRoles.has(role) ? checkedOf(e, role) : '';
  if (checked && checked !== 'false') line += checked === 'true' ? ' [checked]' : ` [checked=${checked}]`;
  if (secret) line += valueOf(e) ? ' [secret] [filled]' : ' [secret]';
  line += usableMark(e);
  const value = secret ? '' : isEditingHost(e) ? clean(editedText(/** @type {HTMLElement} */ (e))) : fieldText(e, role) ?? '';
  if (value) line += `: ${escapeText(cut(value, valueMax))}`;
  const limits = isInput(e) || e instanceof HTMLTextAreaElement ? ['min', 'max', 'step', 'maxlength', 'pattern', 'accept'].filter((key) => attr(e, key)).map((key) => `${key}=${cut(clean(attr(e, key) ?? ''), 80)}`) : [];
  const lines = [line];
  if (limits.length > 0) lines.push(`    - takes: ${limits.join(', ')}`);
  if (e instanceof HTMLSelectElement) lines.push(`    - options: ${optionsText(e)}`);
  if (isInput(e) && e.list) lines.push(`    - suggestions: ${[...e.list.options].slice(0, 20).map((o) => escapeText(cut(clean(o.value), 60))).join(' | ')}`);
  return lines;
}

/** Why a person could not use a control now, as a mark. @param {Element} e */
function usableMark(e) {
  const why = isDisabled(e) ? 'disabled' : isReadonly(e) ? 'read-only' : isInert(e) ? 'inert' : isSeen(e) || labelsOf(e).some(isSeen) ? '' : 'hidden';
  return why && ` [not usable: ${why}]`;
}
