import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { describeBudgetAccountStore } from '../../test/support/stores/budget-conformance.ts';
import type { Clock } from '../lib/clock.ts';
import { openStore } from './open-store.ts';

async function makeDirectory(t: TestContext): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-budgets-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  return directory;
}

async function openIn(t: TestContext, cwd: string, clock: Clock) {
  const store = await openStore('sqlite:postern.db', { cwd, clock, inThread: true });
  t.after(() => store.close());
  return store;
}

describeBudgetAccountStore('a store in memory', async (t, clock) => {
  const store = await openStore('sqlite::memory:', { cwd: '/nowhere', clock });
  t.after(() => store.close());
  return store;
});

describeBudgetAccountStore(
  'a store in a SQLite file',
  async (t, clock) => openIn(t, await makeDirectory(t), clock),
  async (t, clock) => {
    const directory = await makeDirectory(t);
    return [await openIn(t, directory, clock), await openIn(t, directory, clock)];
  },
);
