import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { families } from '../families/index.ts';
import { routes } from '../routes/index.ts';
import { warmUp } from './warm-up.ts';

test('a warm-up whose time limit passes before its first request ends without a Node.js warning', async (t) => {
  const warnings: string[] = [];
  const onWarning = (warning: Error): void => void warnings.push(warning.message);
  process.on('warning', onWarning);
  t.after(() => process.off('warning', onWarning));
  const nothing = (): void => undefined;
  const log = { debug: nothing, info: nothing, warn: nothing, error: nothing };
  const over = warmUp({ families, routes, isDirect: true, log });
  for (const endMs = performance.now() + 1_000; performance.now() < endMs; );
  await over;
  await nextTurn();
  assert.deepEqual(warnings, []);
});
