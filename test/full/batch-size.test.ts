/** The largest batch there is. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { assertError } from '../support/clients/error-answer.ts';
import { chatLine, startBatchSetup } from '../support/gateways/batch-setup.ts';

test('a file of 50,000 lines is accepted and billed exactly, and one line more is refused', {
  timeout: 300_000,
}, async (t) => {
  const setup = await startBatchSetup(t);
  const { rig, up, service, send, order } = setup;
  const line = (no: number): string =>
    `${chatLine(`line-${no}`, { messages: [{ role: 'user', content: 'x'.repeat(300) }] })}\n`;
  const lines = Array.from({ length: 50_000 }, (_, no) => line(no)).join('');
  const answer = await send('one', lines);
  assert.equal(answer.status, 200, answer.body.toString());
  assert.ok(up.requests[0]?.body.includes(lines.replaceAll('"model":"m"', '"model":"gpt-real"')));
  assert.equal((await order('one', JSON.parse(answer.body.toString()).id)).status, 200);
  service.finish();
  const billed = async () =>
    (await rig.store.ledger.page({}, { limit: 100 })).rows.find(({ costNanos }) => costNanos !== 0);
  let row = await billed();
  for (; row === undefined; row = await billed()) await wait(10);
  assert.deepEqual([row.promptTokens, row.completionTokens, row.costNanos], [500_000, 150_000, 50_000 * 73_000]);
  assertError(await send('one', lines + line(50_000)), 'body_too_large', { param: 'file' });
  assert.equal(rig.app.batches(), 0);
});
