import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { createFakeClock } from '../../../test/support/time/fake-clock.ts';
import { openStore } from '../../store/open-store.ts';
import { createThrottle } from './throttle.ts';

async function open(t: TestContext) {
  const clock = createFakeClock();
  const store = await openStore('sqlite::memory:', { cwd: '/nowhere', clock });
  t.after(() => store.close());
  const throttle = createThrottle({ attempts: store.attempts, clock });
  /** Seconds to wait; 0 where an attempt is allowed. */
  const tryAs = async (account: string | undefined, address: string, node = throttle): Promise<number> => {
    try {
      await node.begin(account, address);
      return 0;
    } catch (error) {
      assert.equal(Reflect.get(Object(error), 'code'), 'too_many_attempts');
      return Number(Reflect.get(Object(error), 'headers')['retry-after']);
    }
  };
  return { clock, store, throttle, tryAs };
}

/** A different one each time. */
const address = (number: number): string => `10.0.${number >> 8}.${number & 255}`;

test('the sign-in delay of an account doubles after each failure, up to a minute, from any address', async (t) => {
  const { clock, tryAs } = await open(t);
  let from = 0;
  for (let turn = 0; turn < 5; turn += 1) assert.equal(await tryAs('ada', address(from++)), 0);
  for (const seconds of [1, 2, 4, 8, 16, 32, 60, 60]) {
    assert.equal(await tryAs('ada', address(from++)), seconds);
    clock.advance(seconds * 1_000);
    assert.equal(await tryAs('ada', address(from++)), 0);
  }
  assert.equal(await tryAs('bo', address(from++)), 0);
});

test("a successful sign-in resets the account's delay, and failures are counted across nodes", async (t) => {
  const { clock, store, throttle, tryAs } = await open(t);
  const other = createThrottle({ attempts: store.attempts, clock });
  for (let turn = 0; turn < 5; turn += 1) await tryAs('ada', address(turn), turn % 2 === 0 ? throttle : other);
  assert.equal(await tryAs('ada', address(9), other), 1);
  clock.advance(1_000);
  assert.equal(await tryAs('ada', address(9)), 0);
  await throttle.succeeded('ada', address(9));
  for (let turn = 0; turn < 5; turn += 1) assert.equal(await tryAs('ada', address(20 + turn)), 0);
});

test('sign-ins from an address are delayed after twenty failures on any accounts, until fifteen quiet minutes', async (t) => {
  const { clock, throttle, tryAs } = await open(t);
  for (let turn = 0; turn < 20; turn += 1) assert.equal(await tryAs(`member ${turn}`, '2001:db8::1'), 0);
  assert.equal(await tryAs('another', '2001:db8::ffff'), 1);
  assert.equal(await tryAs('another', '2001:db8:0:1::1'), 0);
  clock.advance(1_000);
  assert.equal(await tryAs(undefined, '2001:db8::1'), 0);
  // A successful sign-in does not clear failures at other accounts.
  await throttle.succeeded('own', '2001:db8::1');
  assert.equal(await tryAs(undefined, '2001:db8::1'), 2);
  // It removes only its own: the next failure waits as long as the one before it.
  clock.advance(2_000);
  assert.equal(await tryAs(undefined, '2001:db8::1'), 0);
  assert.equal(await tryAs(undefined, '2001:db8::1'), 2);
  clock.advance(15 * 60_000);
  for (let turn = 0; turn < 19; turn += 1) assert.equal(await tryAs(undefined, '2001:db8::1'), 0);
});
