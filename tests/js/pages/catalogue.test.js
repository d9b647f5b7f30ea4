// The pages and the catalogue belong together: no word without a key, no key without a page, no markup from text.
import assert from 'node:assert/strict';
import {readFileSync, readdirSync} from 'node:fs';
import {test} from 'node:test';
import {KNOWN_PROBLEMS} from '../../../extension/pages/view.js';

const extension = new URL('../../../extension/', import.meta.url);
const read = (/** @type {string} */ path) => readFileSync(new URL(path, extension), 'utf8');
const files = (/** @type {string} */ folder, /** @type {string} */ ending) => readdirSync(new URL(folder, extension)).filter((name) => name.endsWith(ending)).map((name) => folder + name);

/** @type {Record<string, {message: string, description?: string}>} */
const catalogue = JSON.parse(read('_locales/en/messages.json'));
const html = files('pages/', '.html');
const scripts = [...files('pages/', '.js'), ...files('./', '.js')];

/** Keys a script puts together, with every ending they can have. @type {Record<string, string[]>} */
const BUILT = {
  summary: ['one', 'many'],
  lease: ['starting', 'shared', 'driving', 'private', 'asking', 'paused', 'frozen'],
  lease_access: ['read', 'act', 'submit'],
  chosen: ['read', 'act', 'submit'],
  choice: ['once', 'ten_minutes', 'while_shared', 'no', 'ten_minutes_means', 'while_shared_means'],
  method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
  prompt_heading: ['navigate', 'submit', 'read', 'upload', 'download', 'publish', 'script', 'popup'],
  native: ['missing_heading', 'missing_advice', 'forbidden_heading', 'forbidden_advice'],
  problem: KNOWN_PROBLEMS,
};

const inHTML = new Set(html.flatMap((file) => [...read(file).matchAll(/data-i18n(?:-\w+)?="([^"]*)"/g)].map((match) => String(match[1]))));
/** Keys that a script names as they are. */
const named = scripts.flatMap((file) => [...read(file).matchAll(/'((?:unsharable|agent|prompt|approve|share|lease|options|tabs|chosen|until)_[a-z_]+[a-z])'/g)].map((match) => String(match[1])));
const built = Object.entries(BUILT).flatMap(([key, endings]) => endings.map((ending) => `${key}_${ending}`));

test('every key that a page or the worker names has a message', () => {
  for (const key of [...inHTML, ...built, ...named]) assert.ok(catalogue[key], `messages.json has no ${key}`);
});

test('every message is used', () => {
  const literals = scripts.map(read).join('\n');
  for (const key of Object.keys(catalogue)) {
    assert.ok(inHTML.has(key) || built.includes(key) || literals.includes(`'${key}'`), `nothing uses ${key}`);
  }
});

test('a message says what its values are, and only then', () => {
  for (const [key, {message, description = ''}] of Object.entries(catalogue)) {
    for (const [value] of message.matchAll(/\$\d/g)) assert.ok(description.includes(value), `${key}: ${value} is not described`);
    assert.equal(message, message.trim(), key);
    assert.notEqual(message, '', key);
  }
});

test('no page has words of its own', () => {
  for (const file of html) {
    const words = read(file).replace(/<!--.*?-->|<title>Tab Valet<\/title>|<code[^>]*>tabvalet [^<]*<\/code>|<[^>]*>/gs, '').replace(/\s+/g, '');
    assert.equal(words, '', file);
  }
});

test('no page makes markup from text or runs what is not its own', () => {
  for (const file of [...files('pages/', '.js')]) {
    assert.doesNotMatch(read(file), /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function/, file);
  }
  for (const file of html) assert.doesNotMatch(read(file), /\son\w+=|style=|https?:\/\/(?!["'])|<script(?! type="module" src="\w+\.js">)/, file);
});

test('every control a page names is there', () => {
  for (const file of html) {
    const page = read(file);
    const script = read(file.replace('.html', '.js'));
    for (const [, id] of script.matchAll(/byId\('([\w-]+)'\)/g)) assert.ok(page.includes(`id="${id}"`), `${file} has no #${id}`);
    for (const [, act] of script.matchAll(/(?:on\(|button\(\w+, )'([\w-]+)'/g)) assert.ok(page.includes(`data-act="${act}"`), `${file} has no button ${act}`);
    for (const [, id] of script.matchAll(/rows\([^,]+(?:\([^)]*\))?, '([\w-]+)'/g)) assert.ok(page.includes(`<template id="${id}"`), `${file} has no template ${id}`);
  }
});
