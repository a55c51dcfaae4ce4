/** The details of readiness. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { startRig } from '../support/gateways/rig.ts';

test('readiness reports rows that cannot be stored, and stays ready because the journal has them', async (t) => {
  let failure: string | undefined = 'The store "/srv/postern.db" cannot be written';
  const rig = await startRig(
    t,
    {},
    {},
    { ledgerState: () => ({ isJournalFailing: false, rowsBehind: 8_514, failure }) },
  );
  const failing = await rig.get('/readyz');
  assert.equal(failing.status, 200);
  // Anyone may read it, so it reveals nothing about the machine.
  assert.equal(failing.body.toString(), '{"status":"ready","ledger":{"import":"failing","rows_waiting":8514}}');
  failure = undefined;
  const well = await rig.get('/readyz');
  assert.equal(well.body.toString(), '{"status":"ready"}');
});

test('a journal that cannot be written makes the gateway not ready, but keeps it alive', async (t) => {
  let isFailing = true;
  const rig = await startRig(
    t,
    {},
    {},
    { ledgerState: () => ({ isJournalFailing: isFailing, rowsBehind: 0, failure: undefined }) },
  );
  const failing = await rig.get('/readyz');
  assert.equal(failing.status, 503);
  assert.equal(failing.body.toString(), '{"status":"not ready","ledger":{"journal":"failing"}}');
  assert.equal((await rig.get('/healthz')).status, 200);
  isFailing = false;
  const well = await rig.get('/readyz');
  assert.equal(well.status, 200);
  assert.equal(well.body.toString(), '{"status":"ready"}');
});
