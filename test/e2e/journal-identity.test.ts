/** Journals that a killed gateway left, and whether the next one may import them: by the store that they are for. */

import assert from 'node:assert/strict';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { createDirectory } from '../support/gateways/configuration.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { rowId } from '../support/ledger/ledger-rows.ts';
import { writeJournal } from '../support/ledger/orphan-journal.ts';
import { until } from '../support/time/until.ts';

const ids = [1, 2, 3].map((number) => rowId(Date.now(), number));

async function start(t: TestContext, directory: string, store: string): Promise<GatewayProcess> {
  const config = { store, upstreams: [{ id: 'local', family: 'local' }] };
  const gateway = await startGatewayProcess({ config, directory, readyTimeoutMs: 60_000 });
  t.after(() => gateway.stop());
  return gateway;
}

async function idsIn({ directory, configFile }: GatewayProcess): Promise<string[]> {
  const { stdout } = await runPostern(['ledger', 'tail', '--json', '--config', configFile], { cwd: directory });
  return stdout
    .trim()
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line).id)
    .toSorted();
}

/** By path, with what stands in them. */
async function filesOf(directory: string): Promise<ReadonlyMap<string, string>> {
  const names = (await readdir(directory)).toSorted();
  return new Map(
    await Promise.all(names.map(async (name) => [name, await readFile(join(directory, name), 'latin1')] as const)),
  );
}

const foreignIn = (gateway: GatewayProcess): unknown[] =>
  gateway.log().flatMap(({ msg, journal }) => (msg === 'journal of another store skipped' ? [journal] : []));

describe('journals of a killed gateway', { concurrency: 2 }, () => {
  test('a journal of another store is reported, kept, and imported on request only', async (t) => {
    const directory = await createDirectory(t);
    const journal = join(directory, 'journal', '1000');
    await writeJournal(join(directory, 'journal'), ids, 'another store');
    const before = await filesOf(journal);
    const gateway = await start(t, directory, 'sqlite:postern.db');
    await until(() => foreignIn(gateway).length > 0);
    assert.deepEqual(foreignIn(gateway), [journal]);
    assert.deepEqual(await filesOf(journal), before);
    assert.deepEqual(await idsIn(gateway), []);

    const file = ['--config', gateway.configFile];
    const adopted = await runPostern(['ledger', 'adopt', 'journal/1000', ...file], { cwd: directory });
    assert.equal(
      adopted.stdout,
      `3 rows of "${journal}" are new in the ledger; the journal belongs to this store now.\n`,
    );
    assert.deepEqual(await idsIn(gateway), ids);
    const running = await runPostern(['ledger', 'adopt', 'journal/1001', ...file], { cwd: directory });
    assert.match(running.stderr, /is the journal of a process that runs/);
    const none = await runPostern(['ledger', 'adopt', 'nowhere', ...file], { cwd: directory });
    assert.match(none.stderr, /nowhere" is no journal/);
  });

  test('a journal left by 0.1.0 in data/journal is imported once, into the first store only', async (t) => {
    const directory = await createDirectory(t);
    const former = join(directory, 'data', 'journal');
    await writeJournal(former, ids);
    await rm(join(former, '1000', 'store'));
    const first = await start(t, directory, 'sqlite:first/postern.db');
    await until(async () => (await idsIn(first)).length >= ids.length, { everyMs: 50 });
    assert.deepEqual(foreignIn(first), []);
    assert.ok((await readdir(join(directory, 'first', 'journal', '1000'))).includes('store'));
    await first.stop();

    // A journal of an unknown store.
    await writeJournal(former, ids, 'the store');
    await rm(join(former, '1001', 'store'));
    const second = await start(t, directory, 'sqlite:second/postern.db');
    await until(() => foreignIn(second).length >= 2);
    assert.deepEqual(foreignIn(second), [join(former, '1000'), join(former, '1001')]);
    assert.deepEqual(await idsIn(second), []);
  });
});
