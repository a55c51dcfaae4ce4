import assert from 'node:assert/strict';
import { readdir } from 'node:fs/promises';
import { type TestContext, test } from 'node:test';
import { setUpCommand, userFault } from '../../../test/support/gateways/command.ts';
import type { Caps } from '../../core/caps.ts';
import { keys } from './keys.ts';

const secret = 'a-secret-that-the-file-declares';
const more = { projects: [{ id: 'search' }, { id: 'chat' }], keys: [{ id: 'dev', secret }] };
const setUp = (t: TestContext) => setUpCommand(t, keys, more);

const dollars = (amount: number): number => amount * 1_000_000_000;

const everything = [
  ...['--project', 'search', '--limit', 'requests_per_minute=60', '--limit', 'concurrency=4'],
  ...['--budget', 'month=50:100%,80%', '--budget', 'total=1000.000000001'],
  ...['--metadata', 'team=a = b', '--metadata', 'cost.center=7', '--capture', '7d'],
];

const everythingCaps: Caps = {
  rates: [{ measure: 'requests', window: 'minute', most: 60 }],
  concurrency: 4,
  budgets: [
    { period: 'month', nanos: dollars(50), alerts: [80, 100] },
    { period: 'total', nanos: dollars(1000) + 1, alerts: [80, 100] },
  ],
};

test('create takes a project, limits, budgets, notes and a capture time, and shows them', async (t) => {
  const { find, json } = await setUp(t);
  const made = await json('create', ...everything);
  const key = await find(made.secret);
  assert.deepEqual(key?.caps, everythingCaps);
  assert.equal(key.project, 'search');
  assert.deepEqual(key.metadata, { team: 'a = b', 'cost.center': '7' });
  assert.equal(key.captureMs, 7 * 86_400_000);

  const { secret: _, ...shown } = made;
  assert.deepEqual(await json('show', made.id), shown);
  assert.deepEqual(shown.limits, { requests_per_minute: 60, concurrency: 4 });
  assert.deepEqual(shown.budgets, [
    { every: 'month', amount: '50', alerts: ['80%', '100%'] },
    { every: 'total', amount: '1000.000000001', alerts: ['80%', '100%'] },
  ]);
  assert.equal(shown.capture, '7d');
});

test('show and list display project, limits, budgets, notes and operations of a key', async (t) => {
  const { run, json } = await setUp(t);
  const { id } = await json('create', ...everything);
  const shown = (await run('show', id)).lines.join('\n');
  for (const line of [
    /^project +search$/m,
    /^limits +requests_per_minute=60, concurrency=4$/m,
    /^budgets +month=50:80%,100%, total=1000\.000000001:80%,100%$/m,
    /^metadata +team=a = b, cost\.center=7$/m,
    /^operations +all$/m,
    /^state +active$/m,
  ]) {
    assert.match(shown, line);
  }
  const [, row = ''] = (await run('list')).lines;
  assert.match(
    row,
    /search +\* +requests_per_minute=60, concurrency=4 +month=50:80%,100%, total=1000\.000000001:80%,100%/,
  );
});

test('keys show finds a key of the configuration file', async (t) => {
  const { json, run, withStore } = await setUp(t);
  await withStore(async () => undefined);
  const shown = await json('show', 'dev');
  assert.equal(shown.managed_by, 'file');
  assert.equal(shown.state, 'active');
  assert.equal((await run('show', 'dev')).lines.join('\n').includes(secret), false);
  await assert.rejects(run('show', secret), userFault(/^there is no key with this ID;/));
});

test("an invalid value is refused with the configuration's message and the option's name, and no key is created", async (t) => {
  const { cwd, run } = await setUp(t);
  const rows: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [
      ['--limit', 'request_per_minute=60'],
      /^--limit request_per_minute: unknown key; did you mean requests_per_minute\?$/,
    ],
    [
      ['--limit', 'requests_per_minute=0'],
      /^--limit requests_per_minute: wanted: a whole number from 1 to \d+; came: 0$/,
    ],
    [['--limit', 'requests_per_minute=-5'], /came: -5$/],
    [['--limit', 'requests_per_minute=1.5'], /came: 1\.5$/],
    [['--limit', 'requests_per_minute=many'], /came: "many"$/],
    [['--limit', 'requests_per_minute=9999999999999999999999'], /wanted: a whole number from 1 to/],
    [['--limit', 'requests_per_minute'], /^--limit: "requests_per_minute" is not written as name=value$/],
    [['--limit', 'requests_per_minute='], /^--limit requests_per_minute: has no value/],
    [['--limit', '=5'], /is not written as name=value$/],
    [['--limit', 'tokens_per_day=1', '--limit', 'tokens_per_day=2'], /^--limit tokens_per_day: is given twice/],
    [['--limit', "a' OR 1=1 --"], /^--limit a' OR 1: unknown key/],
    [['--budget', 'month=50', '--budget', 'month=60'], /^--budget month: is given twice/],
    [
      ['--budget', 'moth=50'],
      /^--budget moth: wanted: one of day, week, month, total; came: "moth"; did you mean month\?$/,
    ],
    [['--budget', 'month=50$'], /^--budget month: wanted: an amount in US dollars, without a currency/],
    [['--budget', 'month=EUR 50'], /^--budget month: wanted: an amount in US dollars, without a currency/],
    [['--budget', 'month=-1'], /^--budget month: wanted: an amount from/],
    [['--budget', 'month=0'], /^--budget month: wanted: an amount from/],
    [['--budget', 'month=99999999999'], /^--budget month: wanted: an amount from/],
    [['--budget', 'month=0.0000000001'], /^--budget month: wanted: at most nine decimals/],
    [['--budget', 'day=1', '--budget', 'month=5:200%'], /^--budget month alerts: wanted: a percentage from 1% to 100%/],
    [['--budget', 'month=5:80'], /^--budget month alerts: wanted: a percentage/],
    [['--budget', 'month=5:80%:x'], /has more than one colon/],
    [['--metadata', `team=${'x'.repeat(513)}`], /^--metadata team: wanted: text of up to 512 characters/],
    [['--metadata', 'te am=x'], /^--metadata te am: /],
    [['--capture', '7'], /^--capture: wanted: a time with its unit/],
    [['--shape', 'square'], /^--shape: wanted: one of cohere, jina, voyage, tei; came: "square"$/],
    [['--capture', '9999d'], /^--capture: wanted: a time from 1m to 365d/],
  ];
  for (const [args, message] of rows) {
    await assert.rejects(run('create', ...args), userFault(message), args.join(' '));
  }
  assert.equal((await readdir(cwd)).includes('store'), false);
});

test('an unknown project is refused and the most similar name suggested', async (t) => {
  const { run, withStore } = await setUp(t);
  await assert.rejects(
    run('create', '--project', 'serch'),
    userFault(/^--project: unknown project "serch"; did you mean search\?$/),
  );
  await assert.rejects(
    run('create', '--project', "'; drop table keys; --"),
    userFault(/^--project: wanted: up to 64 letters/),
  );
  assert.deepEqual(await withStore((store) => store.keys.list()), []);
});

test('update changes the given settings and keeps the others', async (t) => {
  const { find, json } = await setUp(t);
  const made = await json('create', ...everything, '--name', 'a', '--models', 'bge-m3', '--expires', '2127-01-01');
  const before = await find(made.secret);
  const changed = await json(
    ...[
      'update',
      made.id,
      '--name',
      'b',
      '--limit',
      'tokens_per_day=1000',
      '--limit',
      'concurrency=',
      '--budget',
      'month=70:50%',
    ],
    ...['--metadata', 'team='],
  );
  const key = await find(made.secret);
  assert.deepEqual(key, {
    ...before,
    caps: {
      rates: [
        { measure: 'requests', window: 'minute', most: 60 },
        { measure: 'tokens', window: 'day', most: 1000 },
      ],
      concurrency: undefined,
      budgets: [
        { period: 'total', nanos: dollars(1000) + 1, alerts: [80, 100] },
        { period: 'month', nanos: dollars(70), alerts: [50] },
      ],
    },
    metadata: { 'cost.center': '7' },
  });
  assert.equal(changed.name, 'b');
  assert.deepEqual(await json('show', made.id), changed);
});

test('update removes a setting of a key by --no-SETTING or by an empty value', async (t) => {
  const { find, json, run } = await setUp(t);
  const terms = [...everything, '--operations', 'rerank', '--addresses', '::1', '--expires', '30d', '--shape', 'jina'];
  for (const args of [
    ['--no-project', '--no-operations', '--no-addresses', '--no-expires', '--no-capture', '--no-shape'],
    ['--project', '', '--operations', '', '--addresses', '', '--expires', '', '--capture', '', '--shape', ''],
  ]) {
    const made = await json('create', ...terms);
    await run('update', made.id, ...args, '--no-limits', '--no-budgets', '--no-metadata');
    assert.deepEqual(await find(made.secret), {
      id: made.id,
      managedBy: 'store',
      models: ['*'],
      operations: undefined,
      addresses: undefined,
      project: undefined,
      caps: { rates: [], concurrency: undefined, budgets: [] },
      metadata: {},
      captureMs: undefined,
      lane: undefined,
      shape: undefined,
      expiresAtMs: undefined,
      revokedAtMs: undefined,
    });
  }
});

test('update with --no-limits and --limit leaves only the new limit', async (t) => {
  const { find, json } = await setUp(t);
  const made = await json('create', ...everything);
  await json('update', made.id, '--no-limits', '--limit', 'items_per_day=9');
  const key = await find(made.secret);
  assert.deepEqual(key?.caps, {
    ...everythingCaps,
    rates: [{ measure: 'items', window: 'day', most: 9 }],
    concurrency: undefined,
  });
});

test('update refuses contradictory options and changes nothing', async (t) => {
  const { find, json, run } = await setUp(t);
  const made = await json('create', ...everything);
  const before = await find(made.secret);
  const rows: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [[], /^say what to change/],
    [['--no-project', '--project', 'chat'], /^--project and --no-project contradict each other/],
    [['--models', ''], /^--models is empty/],
    [
      ['--limit', 'reqests_per_minute='],
      /^--limit: there is no limit "reqests_per_minute"; did you mean requests_per_minute\?$/,
    ],
    [['--budget', 'year='], /^--budget: there is no budget "year"/],
    [['--expires', '2001-01-01'], /is not in the future$/],
    [['--project', 'chats'], /did you mean chat\?$/],
    [['--overlap', '1h'], /^"keys update" takes no --overlap/],
  ];
  for (const [args, message] of rows)
    await assert.rejects(run('update', made.id, ...args), userFault(message), args.join(' '));
  await assert.rejects(
    run('update', 'dev', '--name', 'x'),
    userFault(/declared in the configuration file; change it there$/),
  );
  await assert.rejects(run('update', made.secret, '--name', 'x'), userFault(/^there is no key with this ID;/));
  assert.deepEqual(await find(made.secret), before);
});

test('rotate shows a new secret once, and the old one works until its overlap ends', async (t) => {
  const { find, json, run } = await setUp(t);
  const made = await json('create');
  const rotated = await json('rotate', made.id, '--overlap', '2h');
  assert.notEqual(rotated.secret, made.secret);
  assert.equal((await find(rotated.secret))?.expiresAtMs, undefined);
  const untilMs = (await find(made.secret))?.expiresAtMs ?? 0;
  assert.ok(Math.abs(untilMs - Date.now() - 7_200_000) < 60_000);
  assert.equal(Math.floor(untilMs / 1000) * 1000, Date.parse(rotated.old_secret_until));
  const [, row = ''] = (await run('list')).lines;
  assert.match(row, /active, former secret until \d{4}-/);

  const { lines, errors } = await run('rotate', made.id);
  assert.match(lines.join('\n'), /shown only now.*\n\n {2}pst_\w+\n\nThe previous secret stays valid until \d{4}-/);
  assert.match(errors.join('\n'), /the older secret ends now/);
  assert.equal(await find(made.secret), undefined);
  assert.notEqual(await find(rotated.secret), undefined);
});

test('rotate without an overlap ends the former secret at once', async (t) => {
  const { find, json, run } = await setUp(t);
  const made = await json('create');
  assert.match((await run('rotate', made.id, '--overlap', '0s')).lines.join('\n'), /The previous secret ends now\.$/);
  assert.equal(await find(made.secret), undefined);
});

test('rotate refuses a key of the configuration file, a revoked or unknown key, and an excessive overlap', async (t) => {
  const { json, run } = await setUp(t);
  const { id, secret: made } = await json('create');
  for (const [overlap, message] of [
    ['24', /^--overlap: "24" is no time/],
    ['-1h', /^--overlap: "-1h" is no time/],
    ['9999d', /^--overlap: 9999d is too long; it may be 365d at most$/],
  ] as const) {
    await assert.rejects(run('rotate', id, `--overlap=${overlap}`), userFault(message));
  }
  await run('revoke', id);
  await assert.rejects(run('rotate', id), userFault(/is revoked; create another one$/));
  await assert.rejects(run('rotate', 'dev'), userFault(/declared in the configuration file/));
  await assert.rejects(run('rotate', made), userFault(/^there is no key with this ID;/));
});

test('the audit log names the command line as the actor, and contains no secret', async (t) => {
  const { json, run, withStore } = await setUp(t);
  const made = await json('create');
  await run('update', made.id, '--name', 'b');
  const rotated = await json('rotate', made.id);
  await run('revoke', made.id);
  const entries = await withStore((store) => store.audit.page({ limit: 10 }));
  assert.deepEqual(
    entries.map(({ actor, action, subject }) => [actor, action, subject]),
    ['key.revoke', 'key.rotate', 'key.change', 'key.create'].map((action) => ['command line', action, made.id]),
  );
  const text = JSON.stringify(entries);
  for (const one of [made.secret, rotated.secret]) assert.equal(text.includes(one.slice(8)), false);
});
