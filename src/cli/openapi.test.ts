import assert from 'node:assert/strict';
import { test } from 'node:test';
import { openapi } from './openapi.ts';

async function print(values: Readonly<Record<string, boolean>>) {
  const lines: string[] = [];
  const context = { values, stdout: (line: string) => lines.push(line) };
  assert.equal(await openapi.run(context as unknown as Parameters<typeof openapi.run>[0]), 0);
  return JSON.parse(lines.join('\n'));
}

test('the gateway is described, and the admin API where that is asked for', async () => {
  const gateway = await print({});
  const admin = await print({ admin: true });
  assert.deepEqual([gateway.openapi, admin.openapi], ['3.1.0', '3.1.0']);
  assert.ok('/v1/rerank' in gateway.paths && !('/api/ledger' in gateway.paths));
  assert.ok('/api/ledger/{id}' in admin.paths && !('/v1/rerank' in admin.paths));
});
