/** `npm run compatibility`: installs the clients, runs each against each family, and writes docs/reference/compatibility.md. */

import { writeFileSync } from 'node:fs';
import { type Cell, render } from '../test/matrix/document.ts';
import { trials } from '../test/matrix/fixtures.ts';
import { installClients, installedForeign, installForeign } from '../test/matrix/install.ts';
import { foreignPrograms, officialClients, otherClients } from '../test/matrix/known-clients.ts';
import { listenAnywhere, sumUp, tryFamily } from '../test/matrix/matrix.ts';
import { proveDeadEnds } from '../test/matrix/run.ts';

const page = 'docs/reference/compatibility.md';

await installClients();
await installForeign({ needsAll: true });
const programs = await foreignPrograms(await installedForeign());
const clients = [
  ...(await officialClients()),
  ...(await otherClients()),
  ...programs.flatMap((program) => program.clients),
];
const cells: Cell[] = [];

await using ends = new AsyncDisposableStack();
const scope = { after: (end: () => Promise<unknown>) => void ends.defer(async () => void (await end())) };

for (const program of programs) ends.defer(() => program.close());
const listener = await listenAnywhere(scope);
for (const client of clients) await proveDeadEnds(client, listener);

const width = Math.max(...trials.map(({ name }) => name.length));
for (const trial of trials) {
  const found = await tryFamily(scope, trial, clients);
  cells.push(...found);
  console.log(`${trial.name.padEnd(width)}  ${sumUp(found)}`);
}

writeFileSync(page, render(trials, clients, cells));
console.log(`${page} written`);

for (const { trial, task, client, outcome } of cells) {
  if (outcome.kind !== 'wrong') continue;
  console.error(`${trial}: ${task} by ${client}: ${outcome.fact}`);
  process.exitCode = 1;
}
