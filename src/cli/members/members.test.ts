import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setUpCommand, userFault } from '../../../test/support/gateways/command.ts';
import { digestOf } from '../../lib/secrets/key-secret.ts';
import { members } from './members.ts';

const made = { email: 'ada@example.com', name: 'Ada \u202e', role: 'owner', passwordHash: 'CANARY' } as const;

async function open(t: Parameters<typeof setUpCommand>[0], more = {}) {
  const command = await setUpCommand(t, members, more);
  await command.withStore((store) => store.members.create(made, 'tester'));
  return command;
}

const linkIn = (lines: readonly string[]): string => lines.find((line) => line.startsWith('  http'))?.trim() ?? '';

test('members list shows members without secrets', async (t) => {
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

test('members reset gives an owner who cannot sign in a password reset link', async (t) => {
  const { run, json, withStore } = await open(t);
  const { code, lines } = await run('reset', 'ADA@example.com');
  assert.equal(code, 0);
  const token = /^http:\/\/127\.0\.0\.1:4001\/join#token=([\w-]{43})$/.exec(linkIn(lines))?.[1] ?? '';
  const person = { email: '', name: '', passwordHash: 'new' };
  const next = (await json('reset', 'ada@example.com')).link.split('=')[1];
  await withStore(async ({ invitations, audit }) => {
    // The newest one is valid.
    assert.equal(await invitations.accept(digestOf(token), person), 'absent');
    assert.notEqual(await invitations.accept(digestOf(next), person), 'absent');
    const entries = (await audit.page({ limit: 9 })).map(
      ({ actor, action, subject }) => `${actor}: ${action} ${subject}`,
    );
    assert.ok(entries.includes('command line: member.reset ada@example.com'), entries.join('\n'));
  });
  await assert.rejects(
    run('reset', 'eve@example.com'),
    userFault(/there is no member eve@example\.com; "postern members list"/),
  );
});

test("the link of members invite begins with the console's public address", async (t) => {
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

test('members warns that a console link needs the real port if console.port is 0', async (t) => {
  const { run } = await open(t, { console: { port: 0 } });
  const invite = ['invite', '--email', 'bo@example.com', '--role', 'admin'];
  for (const args of [['reset', 'ada@example.com'], invite, [...invite, '--json']]) {
    const { lines, errors } = await run(...args);
    assert.match(lines.join(' '), /http:\/\/127\.0\.0\.1:0\//);
    assert.match(errors.join('\n'), /^postern: console\.port is 0: put the port of the console/);
  }
  const { errors } = await (await open(t)).run(...invite);
  assert.deepEqual(errors, []);
});

test('members invite refuses a missing or invalid email address or role, and an existing member', async (t) => {
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

test('members reset reports the tokens and passkeys that it ends, except those kept by --keep', async (t) => {
  const { run, withStore } = await open(t);
  const add = () =>
    withStore(async ({ members: all, tokens }) => {
      const memberId = (await all.findByEmail('ada@example.com'))?.id ?? '';
      const digest = digestOf(String(Math.random()));
      await tokens.create({ digest, hint: 'psa_', memberId, name: 'ci', role: 'viewer' }, 'tester');
    });
  const alive = () =>
    withStore(async ({ tokens }) => (await tokens.list()).filter((one) => one.revokedAtMs === undefined).length);
  await add();
  const kept = await run('reset', 'ada@example.com', '--keep', 'tokens, passkeys');
  assert.match(kept.lines[0] ?? '', /sets another password, once/);
  assert.equal(await alive(), 1);
  const ended = await run('reset', 'ada@example.com', '--keep', 'passkeys');
  assert.match(ended.lines[0] ?? '', /sets another password; its tokens have ended, once/);
  assert.equal(await alive(), 0);
  await assert.rejects(
    run('reset', 'ada@example.com', '--keep', 'roles'),
    userFault(/--keep: write tokens, or passkeys, or tokens,passkeys/),
  );
});

test('members changes roles, disables, enables and removes members, and refuses all that for the last owner', async (t) => {
  const { run, json, withStore } = await open(t);
  await withStore((store) => store.members.create({ ...made, email: 'bo@example.com', role: 'viewer' }, 'tester'));
  await run('role', 'Bo@example.com', '--role', 'editor');
  await run('disable', 'bo@example.com');
  const bo = async () => (await json('list')).find(({ email }: { email: string }) => email === 'bo@example.com');
  assert.deepEqual([(await bo()).role, (await bo()).disabled], ['editor', true]);
  await run('enable', 'bo@example.com');
  assert.equal((await bo()).disabled, false);
  await run('remove', 'bo@example.com');
  assert.equal(await bo(), undefined);
  for (const action of [['role', '--role', 'viewer'], ['disable'], ['remove']] as const) {
    const [name, ...options] = action;
    await assert.rejects(run(name, 'ada@example.com', ...options), userFault(/is the only owner who can sign in/));
  }
  await assert.rejects(run('role', 'ada@example.com', '--role', 'king'), userFault(/--role viewer\|editor/));
  await assert.rejects(run('remove', 'eve@example.com'), userFault(/there is no member eve@example\.com/));
});

test('members creates an API token with at most the role of its member, and shows it once', async (t) => {
  const { run, json, withStore } = await open(t);
  await withStore((store) => store.members.create({ ...made, email: 'bo@example.com', role: 'editor' }, 'tester'));
  const { secret, role } = await json(
    'token',
    'bo@example.com',
    '--name',
    'ci',
    '--role',
    'viewer',
    '--expires',
    '30d',
  );
  assert.equal(role, 'viewer');
  await withStore(async ({ tokens, audit }) => {
    const found = await tokens.find(digestOf(secret));
    assert.deepEqual([found?.token.name, found?.member.email], ['ci', 'bo@example.com']);
    assert.ok((found?.token.expiresAtMs ?? 0) > Date.now());
    const text = JSON.stringify(await audit.page({ limit: 9 }));
    assert.match(text, /token\.create/);
    assert.equal(text.includes(secret), false);
  });
  const { lines } = await run('token', 'bo@example.com', '--name', 'ci', '--role', 'editor');
  assert.match(lines.join('\n'), /until it is revoked; shown only now:\n\n {2}psa_[\w-]+/);
  await assert.rejects(
    run('token', 'bo@example.com', '--name', 'ci', '--role', 'owner'),
    userFault(/bo@example\.com is editor/),
  );
  await assert.rejects(run('token', 'bo@example.com', '--role', 'viewer'), userFault(/--name "nightly report"/));
});
