import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownState } from './shown-state.ts';

test('a closed circuit does not hide failing calls, and a few calls prove nothing', () => {
  assert.equal(shownState('healthy', { calls: 100, failedCalls: 24 }), 'degraded');
  assert.equal(shownState('healthy', { calls: 100, failedCalls: 51 }), 'failing');
  assert.equal(shownState('healthy', { calls: 100, failedCalls: 5 }), 'healthy');
  assert.equal(shownState('healthy', { calls: 9, failedCalls: 9 }), 'healthy');
});

test('a called target is not unknown, an uncalled one is untested, and circuit states are shown', () => {
  assert.equal(shownState('unknown', { calls: 804, failedCalls: 0 }), 'healthy');
  assert.equal(shownState('unknown', { calls: 0, failedCalls: 0 }), 'untested');
  assert.equal(shownState('resting', { calls: 100, failedCalls: 0 }), 'resting');
});
