/** The clients that most people use at every family: those columns of docs/reference/compatibility.md. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { marksIn } from '../matrix/document.ts';
import { trials } from '../matrix/fixtures.ts';
import { officialClients } from '../matrix/known-clients.ts';
import { listenAnywhere, tryFamily } from '../matrix/matrix.ts';
import { proveDeadEnds } from '../matrix/run.ts';

const clients = await officialClients();
const page = readFileSync(new URL('../../docs/reference/compatibility.md', import.meta.url), 'utf8');

for (const trial of trials) {
  test(`the official clients at ${trial.name} behave as docs/reference/compatibility.md says`, async (t) => {
    for (const { task, client, outcome } of await tryFamily(t, trial, clients)) {
      await t.test(`${task} by ${client}`, () => {
        if (outcome.kind === 'wrong') assert.fail(outcome.fact);
        const said = marksIn(page, task)(trial.name, client);
        assert.equal(said, outcome.kind, 'docs/reference/compatibility.md says another thing: npm run compatibility');
      });
    }
  });
}

test("official clients' calls to unsupported endpoints are refused as documented", async (t) => {
  const listener = await listenAnywhere(t);
  for (const client of clients) await proveDeadEnds(client, listener);
});
