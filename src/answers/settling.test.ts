import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Reservation } from '../core/accounting/spending.ts';
import { GatewayError } from '../core/errors.ts';
import { Exchange } from '../core/exchange.ts';
import type { KeyRecord } from '../core/key.ts';
import type { Answer } from '../core/outcome.ts';
import type { Snapshot } from '../core/snapshot.ts';
import type { UsageObserver } from '../plan/usage/usage.ts';
import { Settling } from './settling.ts';

const observer = {
  finish: () => null,
  decodedLength: () => undefined,
  written: () => undefined,
  pictures: () => undefined,
} as unknown as UsageObserver;

function setUp() {
  const exchange = new Exchange('id', undefined, {} as Snapshot, 0, 0);
  exchange.key = { id: 'dev' } as KeyRecord;
  const done: string[] = [];
  const settling = new Settling(exchange, {
    bill: () => void done.push('billed'),
    background: { takeOver: () => void done.push('goes on') },
    ledger: { settle: async () => void done.push('written down') } as never,
  });
  const reservation = { headers: [], settle: () => void done.push('settled') } as unknown as Reservation;
  exchange.begun = { over: () => void done.push('begun no more') };
  return { exchange, settling, reservation, done };
}

test('a request is billed, settled and recorded once, even if it is answered or fails again', async () => {
  const { settling, reservation, exchange, done } = setUp();
  settling.reserved(reservation);
  await settling.answered({} as Answer, observer);
  await settling.answered({} as Answer, observer);
  await settling.failed(new GatewayError('internal_error'));
  assert.deepEqual(done, ['begun no more', 'billed', 'settled', 'written down', 'begun no more']);
  assert.equal(exchange.errorCode, undefined);
});

test('a failed request is settled once, with its first error', async () => {
  const { settling, reservation, exchange, done } = setUp();
  settling.reserved(reservation);
  await settling.failed(new GatewayError('upstream_timeout'));
  await settling.failed(new GatewayError('internal_error'));
  assert.deepEqual(
    done.filter((one) => one !== 'begun no more'),
    ['billed', 'settled', 'written down'],
  );
  assert.equal(exchange.errorCode, 'upstream_timeout');
});

test('a background response is not billed yet, and polling takes over the reservation', async () => {
  const { exchange, settling, reservation, done } = setUp();
  settling.reserved(reservation);
  exchange.goesOn = true;
  await settling.answered({} as Answer, observer);
  assert.deepEqual(done.slice(1), ['goes on', 'written down']);
  assert.deepEqual([exchange.bill, exchange.usage], [null, null]);
});
