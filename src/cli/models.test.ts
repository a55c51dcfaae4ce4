import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUpCommand } from '../../test/support/gateways/command.ts';
import type { TargetState } from '../core/target-state.ts';
import { models } from './models.ts';

const healthy: TargetState = {
  upstream: 'one',
  model: 'bge-m3',
  state: 'healthy',
  restsForMs: 0,
  why: undefined,
  inFlight: 0,
  waiting: 0,
  latencyMs: 0,
  restingCredentials: [],
};

test("models marks a target that the upstream's own model list does not contain, beside the target's health", async (t) => {
  const { run, withStore } = await setUpCommand(t, models);
  const health = async () => {
    const { lines } = await run();
    return lines.find((line) => line.startsWith('bge-m3'))?.split(/ {2,}/)[5];
  };
  await withStore((store) => store.health.report('node-1', [{ ...healthy, isListed: false }]));
  assert.equal(await health(), "healthy; not in the upstream's list");
  const { lines } = await run('--json');
  const [model] = JSON.parse(lines.join('\n'));
  assert.deepEqual([model.targets[0].health[0].state, model.targets[0].health[0].isListed], ['healthy', false]);
  await withStore((store) => store.health.report('node-1', [healthy]));
  assert.equal(await health(), 'healthy');
});
