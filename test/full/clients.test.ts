/**
 * Every client for Node of docs/reference/compatibility.md at every family, and the page's statements about them. `npm run test:full` installs them
 * first.
 */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { type Cell, onlyOf, render } from '../matrix/document.ts';
import { trials } from '../matrix/fixtures.ts';
import { areInstalled } from '../matrix/install.ts';
import { officialClients, otherClients } from '../matrix/known-clients.ts';
import { listenAnywhere, sumUp, tryFamily } from '../matrix/matrix.ts';
import { proveDeadEnds } from '../matrix/run.ts';

const repository = new URL('../../', import.meta.url);

assert.ok(await areInstalled(), 'test/clients is not installed from its lock: run this with npm run test:full');
const clients = [...(await officialClients()), ...(await otherClients())];
const cells: Cell[] = [];

for (const trial of trials) {
  test(`clients at ${trial.name}: every call gives what the service computed`, async (t) => {
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

for (const client of clients) {
  const { length } = client.deadEnds ?? [];
  if (length === 0) continue;
  test(`calls of ${client.package} to unsupported endpoints are refused as documented`, async (t) => {
    await proveDeadEnds(client, await listenAnywhere(t));
  });
}

test('docs/reference/compatibility.md has the results of this run', () => {
  const page = readFileSync(new URL('docs/reference/compatibility.md', repository), 'utf8');
  assert.equal(onlyOf(page, ['Node']), render(trials, clients, cells), 'it says another thing: npm run compatibility');
});

test("the clients' files type-check against their packages", async () => {
  const tsc = fileURLToPath(new URL('node_modules/.bin/tsc', repository));
  await promisify(execFile)(tsc, ['-p', 'test/clients'], { cwd: fileURLToPath(repository) }).catch(
    ({ stdout, message }: { stdout?: string; message: string }) => assert.fail(stdout || message),
  );
});
