import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { commandConfiguration, setUpCommand, userFault } from '../../../test/support/gateways/command.ts';
import { noCaps } from '../../core/caps.ts';
import { hasValidChecksum } from '../../lib/secrets/key-secret.ts';
import { openStore } from '../../store/open-store.ts';
import { keys } from './keys.ts';

const setUp = (t: TestContext, more: Readonly<Record<string, unknown>> = {}) => setUpCommand(t, keys, more);

test("create prints a new key's secret, and says that it is not shown again", async (t) => {
  const { run, find } = await setUp(t);
  const { code, lines } = await run('create', '--name', 'search team');
  assert.equal(code, 0);
  const secret = lines.map((line) => line.trim()).find(hasValidChecksum) ?? '';
  assert.match(lines[0] ?? '', /^Key key_\w{16} is created\. Its secret is shown only now/);
  const key = await find(secret);
  assert.deepEqual(key?.models, ['*']);
  assert.equal(key?.operations, undefined);
  const listed = await run('list');
  assert.equal(listed.lines.join('\n').includes(secret.slice(8)), false);
});

test('keys create takes configuration settings with --set, such as another store', async (t) => {
  const { run, cwd } = await setUp(t);
  assert.equal((await run('create', '--set', 'store=sqlite:other.db')).code, 0);
  assert.deepEqual(
    (await readdir(cwd)).filter((name) => name.endsWith('.db')),
    ['other.db'],
  );
});

test('create takes models, operations, addresses and an expiry date', async (t) => {
  const { run, find } = await setUp(t);
  const { lines } = await run(
    ...['create', '--json', '--name', 'a', '--models', 'bge-m3, gpt-*', '--operations', 'rerank,embeddings,rerank'],
    ...['--addresses', '10.0.0.0/8,::1', '--expires', '2127-01-01'],
  );
  const made = JSON.parse(lines.join('\n'));
  const expiresAtMs = Date.UTC(2127, 0, 1);
  assert.deepEqual(await find(made.secret), {
    id: made.id,
    managedBy: 'store',
    models: ['bge-m3', 'gpt-*'],
    operations: ['rerank', 'embeddings'],
    addresses: ['10.0.0.0/8', '::1'],
    project: undefined,
    caps: noCaps,
    metadata: {},
    captureMs: undefined,
    lane: undefined,
    shape: undefined,
    expiresAtMs,
    revokedAtMs: undefined,
  });
  assert.equal(made.expires_at, '2127-01-01T00:00:00Z');
  assert.equal(made.state, 'active');
});

test('--expires takes a duration, a date, or a date with a time', async (t) => {
  const { run, find } = await setUp(t);
  const expiryOf = async (text: string) => {
    const made = JSON.parse((await run('create', '--json', '--expires', text)).lines.join('\n'));
    return (await find(made.secret))?.expiresAtMs ?? 0;
  };
  const beforeMs = Date.now();
  const inThirtyDaysMs = await expiryOf('30d');
  assert.ok(inThirtyDaysMs >= beforeMs + 30 * 86_400_000 && inThirtyDaysMs <= Date.now() + 30 * 86_400_000);
  assert.equal(await expiryOf('2128-02-29'), Date.UTC(2128, 1, 29));
  assert.equal(await expiryOf('2127-01-01T12:00:00+02:00'), Date.UTC(2127, 0, 1, 10));
});

test('create refuses invalid options, suggests the most similar option, and creates no key', async (t) => {
  const { cwd, run } = await setUp(t);
  const rows: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [
      ['--operations', 'embedings'],
      /^--operations: wanted: one of completions, .*; came: "embedings"; did you mean embeddings\?$/,
    ],
    [['--operations', 'xyz'], /wanted: one of completions, edits, .*; came: "xyz"$/],
    [['--operations', 'edits,'.repeat(3).concat('Rerank')], /did you mean rerank\?/],
    [['--operations', ','], /^--operations is empty/],
    [['--models', ''], /^--models is empty/],
    [['--models', '*a*'], /^--models: holds more than one \*; a pattern has one$/],
    [
      ['--addresses', '10.0.0.0/33'],
      /^--addresses: wanted: an IP address or a CIDR range, .*; came: "10\.0\.0\.0\/33"$/,
    ],
    [['--addresses', "' OR 1=1 --"], /wanted: an IP address or a CIDR range/],
    [['--expires', '30days'], /^--expires: wanted: a time from now such as 30d; came: "30days"; did you mean 30d\?$/],
    [['--expires', '30 Hours'], /did you mean 30h\?$/],
    [['--expires', '2027-02-30'], /wanted: a date such as 2027-01-31/],
    [['--expires', '2027-1-1'], /wanted: a date such as 2027-01-31/],
    [['--expires', '99999999d'], /wanted: a date such as 2027-01-31/],
    [['--expires', 'soon'], /^--expires: wanted: a date such as 2027-01-31, or a time with its zone .*; came: "soon"$/],
    [['--expires', ''], /wanted: a date such as 2027-01-31/],
    [['--expires', '0d'], /^--expires: is not in the future$/],
    [['--expires', '2001-01-01'], /is not in the future$/],
    [['--name', 'a\u001b[2J'], /^--name: wanted: text of 1 to 100 visible characters/],
    [['--name', 'n'.repeat(101)], /of 1 to 100 visible characters; came: other text, of 101 characters$/],
    [['surplus'], /^write it as "postern keys create /],
  ];
  for (const [args, message] of rows) {
    await assert.rejects(run('create', ...args), userFault(message), args.join(' '));
  }
  assert.equal((await readdir(cwd)).includes('store'), false);
});

test('create warns of a model that does not exist and of an alias', async (t) => {
  const { run } = await setUp(t);
  const { code, errors } = await run('create', '--models', 'bge-m4,bge,bge-*,bge-m3');
  assert.equal(code, 0);
  assert.deepEqual(errors, [
    'postern: there is no model "bge-m4" as yet; did you mean bge-m3?',
    'postern: "bge" is an alias, and keys are judged by the model\'s ID: write bge-m3',
  ]);
});

test('create and update warn of a name used by another key, unless that is revoked', async (t) => {
  const { run } = await setUp(t);
  const make = async () => run('create', '--json', '--name', 'search');
  const first = JSON.parse((await make()).lines.join('\n'));
  const second = await make();
  assert.deepEqual(
    [second.code, second.errors],
    [0, [`postern: the key ${first.id} has this name too; give one of them another name`]],
  );
  const { id } = JSON.parse(second.lines.join('\n'));
  assert.equal((await run('update', id, '--name', 'other')).errors.length, 0);
  assert.equal((await run('update', id, '--name', 'search')).errors.length, 1);
  await run('revoke', first.id);
  assert.equal((await run('update', id, '--name', 'search')).errors.length, 0);
});

test('list shows every key in aligned columns with its state', async (t) => {
  const { cwd, run } = await setUp(t);
  const clock = { nowMs: () => Date.UTC(2001, 0, 1), monotonicMs: () => 0 };
  const store = await openStore(commandConfiguration.store, { cwd, clock });
  const key = { hint: 'pst_abcd…', models: ['*'] };
  await store.keys.create({ ...key, name: 'old', digest: '1'.repeat(64), expiresAtMs: Date.UTC(2001, 0, 2) });
  await store.keys.create({ ...key, name: '\u001b[31mred', digest: '3'.repeat(64), models: ['a', 'b*'] });
  const { id } = await store.keys.create({ ...key, name: '', digest: '4'.repeat(64) });
  await store.keys.revoke(id);
  await store.close();

  const { code, lines } = await run('list');
  assert.equal(code, 0);
  const [head = '', ...rows] = lines;
  assert.match(head, /^ID +NAME +HINT +PROJECT +MODELS +LIMITS +BUDGETS +CREATED +EXPIRES +STATE$/);
  const cells = rows.map((row) => row.split(/ {2,}/).slice(1));
  assert.deepEqual(
    cells.toSorted(([a = ''], [b = '']) => a.localeCompare(b)),
    [
      ['-', 'pst_abcd…', '-', '*', '-', '-', '2001-01-01T00:00:00Z', '-', 'revoked'],
      ['\\u001b[31mred', 'pst_abcd…', '-', 'a, b*', '-', '-', '2001-01-01T00:00:00Z', '-', 'active'],
      ['old', 'pst_abcd…', '-', '*', '-', '-', '2001-01-01T00:00:00Z', '2001-01-02T00:00:00Z', 'expired'],
    ],
  );
  for (const row of rows) assert.equal(row.indexOf('pst_'), head.indexOf('HINT'));
});

test('list names the keys of the configuration file, and tells how to create a key if the store has none', async (t) => {
  const secret = 'a-secret-that-the-file-declares';
  const { run, withStore } = await setUp(t, { keys: [{ id: 'dev', secret }] });
  await withStore(async () => undefined);
  const { lines } = await run('list');
  assert.deepEqual(lines, [
    'The store holds no key; "postern keys create" makes one.',
    'The configuration file declares 1 more: dev',
  ]);
  assert.deepEqual(JSON.parse((await run('list', '--json')).lines.join('\n')), []);
});

test('list --json prints all fields except secrets', async (t) => {
  const { run } = await setUp(t);
  const made = JSON.parse((await run('create', '--json', '--name', 'a')).lines.join('\n'));
  const { secret, ...rest } = made;
  assert.ok(hasValidChecksum(secret));
  assert.deepEqual(JSON.parse((await run('list', '--json')).lines.join('\n')), [rest]);
  assert.deepEqual(Object.keys(rest), [
    'id',
    'name',
    'hint',
    'project',
    'models',
    'operations',
    'addresses',
    'limits',
    'budgets',
    'metadata',
    'capture',
    'lane',
    'shape',
    'created_at',
    'expires_at',
    'revoked_at',
    'old_secret_until',
    'state',
  ]);
});

test('revoke ends a key, and a second revoke changes nothing', async (t) => {
  const { run, find } = await setUp(t);
  const { id, secret } = JSON.parse((await run('create', '--json')).lines.join('\n'));
  assert.equal((await run('revoke', id)).code, 0);
  const revokedAtMs = (await find(secret))?.revokedAtMs;
  assert.notEqual(revokedAtMs, undefined);
  assert.equal((await run('revoke', id)).code, 0);
  assert.equal((await find(secret))?.revokedAtMs, revokedAtMs);
  const { lines } = await run('update', id, '--name', 'n');
  assert.deepEqual(lines, [`Key ${id} is changed; it stays revoked.`]);
});

test('revoke refuses an unknown ID and does not repeat it', async (t) => {
  const { run } = await setUp(t, { keys: [{ id: 'dev', secret: 'a-secret-that-the-file-declares' }] });
  const { secret } = JSON.parse((await run('create', '--json')).lines.join('\n'));
  for (const id of [secret, "' OR 1=1 --", '%', 'key_first']) {
    await assert.rejects(
      run('revoke', id),
      userFault(/^there is no key with this ID; "postern keys list" shows all keys$/),
    );
  }
  await assert.rejects(
    run('revoke', 'dev'),
    userFault(/^key dev is declared in the configuration file; remove it there$/),
  );
  await assert.rejects(run('revoke'), userFault(/^write it as "postern keys revoke ID"$/));
  assert.equal(JSON.parse((await run('list', '--json')).lines.join('\n'))[0].state, 'active');
});

test('an unknown action of keys is refused with the nearest action', async (t) => {
  const { run } = await setUp(t);
  await assert.rejects(run('creat'), userFault(/^there is no "keys creat"; did you mean create\?/));
  await assert.rejects(run('constructor'), userFault(/\(there are create, list, show, update, rotate, revoke\)$/));
  await assert.rejects(run(), userFault(/^keys needs an action: create, .*"postern keys --help"/));
  await assert.rejects(run('list', '--name', 'a'), userFault(/^"keys list" takes no --name/));
});

test('with a faulty configuration, list prints the faults and creates no store', async (t) => {
  const { cwd, run } = await setUp(t, { modles: [] });
  const { code, errors } = await run('list');
  assert.equal(code, 1);
  assert.match(errors.join('\n'), /modles/);
  assert.equal((await readdir(cwd)).includes('store'), false);
});

test('a store that cannot be opened is reported as a user error', async (t) => {
  const { run } = await setUp(t, { store: 'sqlite:postern.yaml' });
  await assert.rejects(run('list'), userFault(/is no SQLite database/));
});
