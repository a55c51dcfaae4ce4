/**
 * Every client for Python and Go of docs/reference/compatibility.md at every family, and the page's statements about them. `npm run test:full`
 * installs them first.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, test } from 'node:test';
import { type Cell, onlyOf, render } from '../matrix/document.ts';
import { trials } from '../matrix/fixtures.ts';
import { installedForeign } from '../matrix/install.ts';
import { foreignPrograms } from '../matrix/known-clients.ts';
import { listenAnywhere, sumUp, tryFamily } from '../matrix/matrix.ts';
import { testKey } from '../support/gateways/rig.ts';

const installed = await installedForeign();
const programs = await foreignPrograms(installed);
after(() => Promise.all(programs.map((program) => program.close())));
const clients = programs.flatMap((program) => program.clients);
const cells: Cell[] = [];
const unknownToOllama = new Set(['local/bm25', 'local/wordlist']);
const builtIn = ['local/hash-embed', 'local/bm25', 'local/wordlist', 'local/echo'];

for (const language of ['python', 'go'] as const) {
  const isThere = installed.includes(language);
  test(
    `the clients in ${language} are installed`,
    {
      skip: !isThere && process.env.CI !== 'true' && 'what they need is not here; CI has it',
    },
    () => assert.ok(isThere, 'test/clients is not installed from its locks: run this with npm run test:full'),
  );
}

for (const { package: name, lists } of clients) {
  if (lists === undefined) continue;
  test(`${name} lists the models`, async (t) => {
    const { url, secure } = await listenAnywhere(t);
    const listed = await lists({ url, secure, key: testKey, model: 'm' });
    // Ollama's clients have no calls for the others.
    const ownCalls = name.startsWith('ollama/api') ? builtIn.filter((one) => !unknownToOllama.has(one)) : builtIn;
    assert.deepEqual(listed, ['m', ...ownCalls]);
  });
}

for (const trial of clients.length === 0 ? [] : trials) {
  test(`foreign clients at ${trial.name}: every call gives what the service computed`, async (t) => {
    const found = await tryFamily(t, trial, clients);
    cells.push(...found);
    t.diagnostic(sumUp(found));
    for (const { task, client, outcome } of found) {
      await t.test(`${task} by ${client}: ${outcome.kind}`, () => {
        if (outcome.kind === 'wrong') assert.fail(outcome.fact);
      });
    }
  });
}

test("docs/reference/compatibility.md has this run's results for the clients in Python and Go", () => {
  const page = readFileSync(new URL('../../docs/reference/compatibility.md', import.meta.url), 'utf8');
  const languages = [...new Set(clients.map(({ language }) => language))];
  assert.equal(onlyOf(page, languages), render(trials, clients, cells), 'it says another thing: npm run compatibility');
});
