/** Python and Go clients at every family; `npm run test:foreign` installs them first. Not among the full tests: to install them takes some minutes. */

import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { trials } from '../matrix/fixtures.ts';
import { installForeign } from '../matrix/install.ts';
import { foreignPrograms } from '../matrix/known-clients.ts';
import { sumUp, tryFamily } from '../matrix/matrix.ts';

await installForeign();
const programs = await foreignPrograms();
after(() => Promise.all(programs.map((program) => program.close())));
const clients = programs.flatMap((program) => program.clients);

for (const trial of trials) {
  test(`foreign clients at ${trial.name}: every call gives what the service computed`, async (t) => {
    const found = await tryFamily(t, trial, clients);
    t.diagnostic(sumUp(found));
    for (const { task, client, outcome } of found) {
      await t.test(`${task} by ${client}: ${outcome.kind}`, () => {
        if (outcome.kind === 'wrong') assert.fail(outcome.fact);
      });
    }
  });
}
