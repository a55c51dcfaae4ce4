import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { test } from 'node:test';
import { isMadeHere, offersOf, standardOptions } from '../core/family.ts';
import { limitsFor } from '../core/translation.ts';
import { families } from './index.ts';

test("the list of families contains every family file under the file's name", async () => {
  const entries = await readdir(import.meta.dirname, { withFileTypes: true });
  const files = entries.filter(
    (entry) => entry.isFile() && entry.name.endsWith('.ts') && !entry.name.endsWith('.test.ts'),
  );
  const names = files.map(({ name }) => name.slice(0, -'.ts'.length)).filter((name) => name !== 'index');
  assert.deepEqual(families.map(({ id }) => id).sort(), names.sort());
});

test('every family is either answered locally without credentials, or defines how to send a credential', () => {
  for (const family of families) {
    const { id, baseUrl, auth, signer } = family;
    const offers = offersOf(family, standardOptions(family));
    if (isMadeHere(offers)) {
      for (const offer of Object.values(offers).flatMap((byOperation) => Object.values(byOperation))) {
        assert.equal(typeof offer.make, 'function', `${id} ${offer.path}`);
      }
      assert.deepEqual([baseUrl, auth, signer], [undefined, undefined, undefined], id);
      continue;
    }
    assert.ok(auth !== undefined || signer !== undefined, id);
    const address = baseUrl?.replaceAll(/\{\w+\}/g, 'x');
    if (address !== undefined) assert.ok(URL.canParse(address) && !address.endsWith('/'), id);
  }
});

test('a call has at most as many items as the facts of its family say', () => {
  const found: string[] = [];
  for (const family of families) {
    const options = standardOptions(family);
    for (const [operation, { facts = '', translation }] of Object.entries(offersOf(family, options).openai ?? {})) {
      const [, most] = /^([\d,]+) (?:inputs|texts|documents) a call/.exec(facts) ?? [];
      if (most === undefined) continue;
      const { items } = limitsFor(translation?.limits, 'a-model', options);
      assert.equal(items, Number(most.replaceAll(',', '')), `${family.id} ${operation}`);
      found.push(family.id);
    }
  }
  assert.ok(found.includes('azure'));
});
