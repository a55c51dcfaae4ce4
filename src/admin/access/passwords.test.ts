import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createPasswords, standardCost } from './passwords.ts';

const cheap = { cost: 16, blockSize: 1, parallelization: 1 };

test('a password matches its own hash and no other', async () => {
  const passwords = createPasswords(cheap);
  const line = await passwords.hash('lantern moss gate');
  assert.match(line, /^scrypt\$16\$1\$1\$[\w-]{22}\$[\w-]{43}$/);
  assert.equal(await passwords.verify('lantern moss gate', line), true);
  for (const other of ['lantern moss gatE', 'lantern moss gate ', '']) {
    assert.equal(await passwords.verify(other, line), false, other);
  }
});

test('the same password hashes differently each time, and is accepted in any Unicode normal form', async () => {
  const passwords = createPasswords(cheap);
  assert.notEqual(await passwords.hash('lantern moss gate'), await passwords.hash('lantern moss gate'));
  assert.equal(await passwords.verify('gru\u0308ner garten', await passwords.hash('gr\u00fcner garten')), true);
});

test('the cost is stored in the password hash, so that older hashes still verify', async () => {
  const line = await createPasswords(cheap).hash('lantern moss gate');
  assert.equal(await createPasswords({ ...cheap, cost: 32 }).verify('lantern moss gate', line), true);
});

test('a password hash costs at least 128 MiB and N = 2^17', async () => {
  assert.ok(128 * standardCost.cost * standardCost.blockSize >= 128 * 1024 * 1024);
  assert.ok(standardCost.cost >= 2 ** 17);
  const passwords = createPasswords();
  const line = await passwords.hash('lantern moss gate');
  assert.match(line, /^scrypt\$131072\$8\$1\$/);
  assert.equal(await passwords.verify('lantern moss gate', line), true);
});

test('a malformed password hash matches nothing and cannot demand excessive memory', async () => {
  const passwords = createPasswords(cheap);
  const [, , , , salt, hash] = (await passwords.hash('x')).split('$');
  const lines = ['', 'x', 'scrypt$16$1$1$$', `scrypt$16$1$1$${salt}$short`, `scrypt$99999999$999$1$${salt}$${hash}`];
  for (const line of lines) assert.equal(await passwords.verify('x', line), false, line);
});

test('password checks of unknown members wait in the queue too, and those beyond 16 are refused', async () => {
  const passwords = createPasswords(cheap);
  const results = await Promise.allSettled(Array.from({ length: 20 }, () => passwords.verify('x', undefined)));
  assert.deepEqual(
    results.map((result) => (result.status === 'fulfilled' ? result.value : result.reason.code)),
    [...Array(16).fill(false), ...Array(4).fill('too_many_attempts')],
  );
  assert.equal(await passwords.verify('x', undefined), false);
});
