/** Connections to PostgreSQL that break at a bad moment. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { createPostgresPool } from '../../src/store/postgres/postgres-pool.ts';
import { startChaosProxy } from '../chaos/support/disturbances/chaos-proxy.ts';
import { startPostgres, whyNoOwnPostgres } from '../support/servers/postgres.ts';
import { patientMs } from '../support/time/patience.ts';

test('a connection that breaks within a transaction fails its next statement, and the pool recovers', {
  skip: whyNoOwnPostgres,
}, async (t) => {
  const server = await startPostgres(t, { isOwn: true });
  const pool = createPostgresPool(server.url(), 'The store', { most: 2, connectMs: 5_000, statementMs: 5_000 });
  t.after(() => pool.end());
  const client = await pool.connect();
  await client.query('begin', []);
  await server.kill();
  await wait(100);
  await assert.rejects(client.query('select 1', []), { name: 'StoreError' });
  client.release();
  await server.start();
  const again = await pool.connect();
  assert.equal((await again.query('select 1 as one', [])).rows.length, 1);
  again.release();
});

test('when all pooled connections hang, only the first statement fails by timeout, and later ones succeed', {
  skip: whyNoOwnPostgres,
}, async (t: TestContext) => {
  const server = await startPostgres(t, { isOwn: true });
  const url = new URL(server.url());
  const proxy = await startChaosProxy(t, Number(url.port));
  url.port = String(proxy.port);
  const statementMs = patientMs(300);
  const pool = createPostgresPool(url.href, 'The store', { most: 4, connectMs: 10_000, statementMs });
  t.after(() => pool.end());
  const clients = await Promise.all(Array.from({ length: 4 }, () => pool.connect()));
  for (const client of clients) client.release();
  proxy.behave({ toServer: { ends: 'stall' }, toClient: { ends: 'stall' } }, { open: true });
  proxy.behave({});
  const first = await pool.connect();
  await assert.rejects(first.query('select 1', []), { name: 'StoreError' });
  // A transaction that failed is rolled back on the same connection.
  const rollback = first.query('rollback', []).then(
    () => 'done',
    () => 'failed',
  );
  assert.equal(await Promise.race([rollback, wait(statementMs / 2, 'waits')]), 'failed');
  first.release();
  for (let n = 0; n < 4; n += 1) {
    const next = await pool.connect();
    assert.equal((await next.query('select 1 as one', [])).rows.length, 1);
    next.release();
  }
});
