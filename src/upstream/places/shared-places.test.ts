import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { PlaceArbiter, PlaceClaim, PlaceGrant } from '../../core/places.ts';
import { Places } from './places.ts';
import { SharedPlaces } from './shared-places.ts';

const limits = { concurrency: 4, queueTimeoutMs: 60_000 };
const silent = () => ({ entered: () => undefined, timedOut: () => undefined });

/** Whoever shares the places out answers as the test says, and keeps what it was asked. */
function setUp(t: TestContext, answer: (claim: PlaceClaim) => PlaceGrant, queue = 0) {
  t.mock.timers.enable({ apis: ['setInterval'] });
  const asked: PlaceClaim[] = [];
  const state = { isThere: true };
  const arbiter: PlaceArbiter = {
    get isThere() {
      return state.isThere;
    },
    nodes: 2,
    claim(claims: readonly PlaceClaim[]): Promise<readonly PlaceGrant[]> {
      asked.push(...claims);
      return new Promise((resolve) => resolve(claims.map(answer)));
    },
  };
  const shared = new SharedPlaces(arbiter);
  t.after(() => shared.close());
  const places = new Places({ ...limits, queue }, undefined, () => shared.ask('a'));
  shared.add('a', places);
  return { state, places, asked };
}

test('whoever has to wait for a place asks for it in the same turn, once for all who do', async (t) => {
  const { places, asked } = setUp(t, ({ wants }) => ({ held: wants, keep: 4 }));
  places.enter(silent());
  places.enter(silent());
  await turn();
  await turn();
  assert.deepEqual(asked, [{ upstream: 'a', most: 4, held: 0, wants: 2 }]);
  assert.deepEqual([places.held, places.inFlight, places.waiting], [2, 2, 0]);
});

test('it asks again, however often it was asked before', async (t) => {
  const { places, asked } = setUp(t, ({ wants }) => ({ held: wants, keep: 4 }));
  for (let wanted = 1; wanted <= 3; wanted += 1) {
    places.enter(silent());
    await turn();
    await turn();
    assert.deepEqual([asked.length, places.inFlight], [wanted, wanted]);
  }
});

test('where nobody can be asked each has its share, and who would need more is not kept waiting for it', async (t) => {
  const { state, places } = setUp(t, () => ({ held: 4, keep: 4 }));
  places.hold(0, false);
  state.isThere = false;
  const told: string[] = [];
  for (const name of ['one', 'two', 'three']) {
    places.enter({ entered: () => told.push(`${name} entered`), timedOut: () => told.push(`${name} too late`) });
  }
  await turn();
  await turn();
  assert.deepEqual(told, ['one entered', 'two entered', 'three too late']);
  assert.deepEqual([places.held, places.hasRoom], [2, false]);
});

test('where asking fails each has its share, and asks again', async (t) => {
  let failures = 0;
  const fail = (): never => {
    failures += 1;
    throw new Error('no answer');
  };
  const { places } = setUp(t, fail, 1);
  const enter = async (): Promise<void> => {
    places.enter(silent());
    await turn();
    await turn();
  };
  await enter();
  await enter();
  assert.deepEqual([failures, places.held, places.inFlight], [1, 2, 2]);
  await enter();
  assert.deepEqual([failures, places.held, places.inFlight, places.waiting], [2, 2, 2, 1]);
});
