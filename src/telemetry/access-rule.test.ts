import assert from 'node:assert/strict';
import { test } from 'node:test';
import { standardLog } from '../../test/support/gateways/log-settings.ts';
import { Exchange } from '../core/exchange.ts';
import type { LogSettings, Snapshot } from '../core/snapshot.ts';
import { isLogged } from './access-line.ts';

const ends: Readonly<Record<string, Partial<Exchange>>> = {
  fine: { status: 200 },
  slow: { status: 200 },
  refused: { status: 429, errorCode: 'rate_limit_exceeded' },
  cut: { status: 200, cut: true },
};

/** With a random number of one half. */
function logged(access: Partial<LogSettings['access']>): string[] {
  const settings = { ...standardLog, access: { errors: true, share: 0, slowMs: undefined, ...access } };
  return Object.entries(ends).flatMap(([name, end]) => {
    const exchange = Object.assign(new Exchange('id', undefined, {} as unknown as Snapshot, 0, 1_000), end);
    return isLogged(exchange, settings, name === 'slow' ? 3_000 : 1_010, () => 0.5) ? [name] : [];
  });
}

test('outcome, duration and sampling share decide which requests are logged', () => {
  assert.deepEqual(logged({ share: 1 }), ['fine', 'slow', 'refused', 'cut']);
  assert.deepEqual(logged({}), ['refused', 'cut']);
  assert.deepEqual(logged({ slowMs: 2_000 }), ['slow', 'refused', 'cut']);
  assert.deepEqual(logged({ share: 0.4 }), ['refused', 'cut']);
  assert.deepEqual(logged({ share: 0.6 }), ['fine', 'slow', 'refused', 'cut']);
  assert.deepEqual(logged({ errors: false }), []);
});
