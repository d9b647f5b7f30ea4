/** The worker stays small enough to read in one sitting. */
import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import test from 'node:test';

const folder = path.resolve(import.meta.dirname, '../../extension');
const modules = fs.readdirSync(folder).filter((name) => name.endsWith('.js'));

test('the worker and all it imports have fewer than 2,000 lines of code, no module more than 320', () => {
  let total = 0;
  for (const name of modules) {
    const text = fs.readFileSync(path.join(folder, name), 'utf8');
    assert.ok(text.split('\n').length <= 320, `${name} is long`);
    total += text.replace(/\/\*[\s\S]*?\*\//g, '').split('\n').filter((line) => line.trim() && !line.trim().startsWith('//')).length;
  }
  assert.ok(total < 2000, `${total} lines`);
});

test('the worker needs nothing but itself', () => {
  for (const name of modules) {
    const text = fs.readFileSync(path.join(folder, name), 'utf8').replace(/\/\*[\s\S]*?\*\//g, '');
    for (const [, from = ''] of text.matchAll(/^(?:import|export|\}) .*from '(.*)'/gm)) assert.match(from, /^\.\/[\w/]+\.js$/, name);
    assert.doesNotMatch(text, /\beval\(|\bimport\('|new Function|innerHTML|importScripts/, name);
  }
});
