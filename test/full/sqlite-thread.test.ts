/** A SQLite file in its thread does all that one in this process does. */

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type { Clock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { describeLedgerStore } from '../support/stores/ledger-conformance.ts';
import { describeStore } from '../support/stores/store-conformance.ts';

async function openInThread(t: TestContext, clock: Clock) {
  const cwd = await mkdtemp(join(tmpdir(), 'postern-thread-'));
  t.after(() => rm(cwd, { recursive: true, force: true, maxRetries: 20 }));
  const store = await openStore('sqlite:postern.db', { cwd, clock, inThread: true });
  t.after(() => store.close());
  return store;
}

describeStore('a store in a SQLite file, in its thread', openInThread);
describeLedgerStore('the ledger in a SQLite file in its thread', openInThread);
