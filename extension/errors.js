/**
 * Errors as they cross the link and reach the pages, and the last 32 of them, which outlive the worker.
 */
import {save, session} from './state.js';

const KEPT = 32;

/** An error with a code of PROTOCOL.md, for whoever can act on it. */
export class Fault extends Error {
  /**
   * @param {string} code
   * @param {string} message
   * @param {Record<string, unknown>} [data]
   */
  constructor(code, message, data) {
    super(message);
    this.code = code;
    this.data = data;
  }
}

/**
 * The error as an object of the wire. What is no Fault is a defect of ours.
 *
 * @param {unknown} error
 * @returns {{code: string, message: string, data?: Record<string, unknown>}}
 */
export function wire(error) {
  if (!(error instanceof Fault)) return {code: 'internal', message: text(error)};
  const {code, message, data} = error;
  return data ? {code, message, data} : {code, message};
}

/** @param {unknown} error */
export const text = (error) => (error instanceof Error ? error.message : String(error));

/**
 * Puts an error into the ring that the options page shows. Never give it page text or a secret.
 *
 * @param {unknown} error
 */
export function report(error) {
  const {code, message} = wire(error);
  session.errors = [...session.errors, {time: Date.now(), code, message: message.slice(0, 300)}].slice(-KEPT);
  save('errors');
}

/** A tab cannot be lent, for a reason of the message catalogue. @param {string} key @param {string[]} [values] */
export const unsharableFor = (key, values) => new Fault('attach_refused', chrome.i18n.getMessage(key, values));

/**
 * Lets a promise end by itself; what goes wrong is reported.
 *
 * @param {Promise<unknown>} work
 */
export const unattended = (work) => void work.catch(report);

/** For what may fail without harm: the tab or the group is gone. @param {Promise<unknown> | undefined} work */
export const quietly = (work) => work?.then(() => undefined, () => undefined);
