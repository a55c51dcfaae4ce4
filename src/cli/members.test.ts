import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUpCommand, userFault } from '../../test/support/command.ts';
import { digestOf } from '../lib/key-secret.ts';
import { members } from './members.ts';

const made = { email: 'ada@example.com', name: 'Ada \u202e', role: 'owner', passwordHash: 'CANARY' } as const;

async function open(t: Parameters<typeof setUpCommand>[0], more = {}) {
  const command = await setUpCommand(t, members, more);
  await command.withStore((store) => store.members.create(made, 'tester'));
  return command;
}

const linkIn = (lines: readonly string[]): string => lines.find((line) => line.startsWith('  http'))?.trim() ?? '';

test('members are listed without anything that is secret', async (t) => {
  const { run, json } = await open(t);
  const { lines } = await run('list');
  assert.match(lines.join('\n'), /ada@example\.com +Ada \\u202e +owner +may sign in +never/);
  const [member] = await json('list');
  assert.deepEqual(
    [member.email, member.role, member.disabled, member.lastSeen],
    ['ada@example.com', 'owner', false, null],
  );
  assert.doesNotMatch(JSON.stringify([lines, member]), /CANARY/);
});

test('an owner who cannot sign in any more gets a link for another password', async (t) => {
  const { run, json, withStore } = await open(t);
  const { code, lines } = await run('reset', 'ADA@example.com');
  assert.equal(code, 0);
  const token = /^http:\/\/127\.0\.0\.1:4001\/join#token=([\w-]{43})$/.exec(linkIn(lines))?.[1] ?? '';
  const person = { email: '', name: '', passwordHash: 'new' };
  const next = (await json('reset', 'ada@example.com')).link.split('=')[1];
  await withStore(async ({ invitations, audit }) => {
    // The newest one holds.
    assert.equal(await invitations.accept(digestOf(token), person), 'absent');
    assert.notEqual(await invitations.accept(digestOf(next), person), 'absent');
    const told = (await audit.page({ limit: 9 })).map(({ actor, action, subject }) => `${actor}: ${action} ${subject}`);
    assert.ok(told.includes('command line: member.reset ada@example.com'), told.join('\n'));
  });
  await assert.rejects(
    run('reset', 'eve@example.com'),
    userFault(/there is no member eve@example\.com; "postern members list"/),
  );
});

test('an invitation begins where people reach the console', async (t) => {
  for (const [settings, base] of [
    [{ url: 'https://postern.example/' }, 'https://postern.example'],
    [{ host: '::1', port: 5001 }, 'http://[::1]:5001'],
    [{ host: '0.0.0.0', token: 'a-token-of-24-characters' }, 'http://localhost:4001'],
  ] as const) {
    const { run } = await open(t, { console: settings });
    const { lines } = await run('invite', '--email', 'bo@example.com', '--role', 'admin');
    assert.ok(linkIn(lines).startsWith(`${base}/join#token=`), linkIn(lines));
  }
});

test('what is missing for an invitation is said', async (t) => {
  const { run } = await open(t);
  await assert.rejects(run('invite', '--role', 'admin'), userFault(/--email name@example\.com/));
  await assert.rejects(run('invite', '--email', 'bo', '--role', 'admin'), userFault(/--email name@example\.com/));
  await assert.rejects(
    run('invite', '--email', 'b@x', '--role', 'king'),
    userFault(/--role viewer\|editor\|admin\|owner/),
  );
  await assert.rejects(
    run('invite', '--email', 'Ada@example.com', '--role', 'admin'),
    userFault(/ada@example\.com is a member already/),
  );
});
