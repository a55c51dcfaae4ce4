import assert from 'node:assert/strict';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setUpCommand, userFault } from '../../../test/support/gateways/command.ts';
import { digestOf } from '../../lib/secrets/key-secret.ts';
import { keys } from '../keys/keys.ts';
import { resources } from './resources.ts';

const secret = 'sk-search-5f0e6d21b3c94a77';
const other = 'sk-search-9a8b7c6d5e4f3021';
const notes = 'metadata: { team: search }';

const everything = `projects:
  - { id: search, ${notes} }
models:
  - { id: house, operations: [embeddings], targets: [{ upstream: one, model: m }], ${notes} }
keys:
  - { id: search-prod, secret: ${secret}, project: search, models: [house], limits: { requests_per_minute: 60 }, ${notes} }
`;

async function setUp(t: TestContext) {
  const found = await setUpCommand(t, resources);
  return {
    ...found,
    async apply(text: string, ...options: string[]) {
      await writeFile(join(found.cwd, 'resources.yaml'), text);
      return found.run('apply', 'resources.yaml', ...options);
    },
    keyOf: (id: string) => found.withStore((store) => store.keys.get(id)),
  };
}

test('apply creates keys under the IDs of the file, and a second apply changes nothing', async (t) => {
  const { apply, find, withStore } = await setUp(t);
  const { code, lines, errors } = await apply(everything);
  assert.deepEqual([code, errors], [0, []]);
  assert.deepEqual(lines, [
    'project search is created (version 1)',
    'model house is created (version 1)',
    'key search-prod is created (version 1)',
  ]);
  const key = await find(secret);
  assert.deepEqual(
    [key?.id, key?.project, key?.models, key?.caps.rates],
    ['search-prod', 'search', ['house'], [{ measure: 'requests', window: 'minute', most: 60 }]],
  );
  assert.deepEqual((await apply(everything)).lines, [
    'project search is unchanged (version 1)',
    'model house is unchanged (version 1)',
    'key search-prod is unchanged (version 1)',
  ]);
  assert.equal((await withStore((store) => store.audit.page({ action: 'key.', limit: 9 }))).length, 1);
});

test('apply removes a setting from a key when the file no longer contains it', async (t) => {
  const { apply, find } = await setUp(t);
  await apply(everything);
  const bare = everything.replace(', limits: { requests_per_minute: 60 }', '').replace(', models: [house]', '');
  assert.equal((await apply(bare)).lines.at(-1), 'key search-prod is changed (version 2)');
  const key = await find(secret);
  assert.deepEqual([key?.caps.rates, key?.models], [[], ['*']]);
});

test('apply with a new secret lets the old secret work for the overlap, or ends it with --overlap 0s', async (t) => {
  const { apply, find } = await setUp(t);
  await apply(everything);
  assert.equal((await apply(everything.replace(secret, other))).code, 0);
  assert.equal((await find(other))?.id, 'search-prod');
  assert.equal((await find(secret))?.id, 'search-prod');
  const back = await apply(everything);
  assert.match(back.errors.join('\n'), /^resources\.yaml:6 {2}keys\[0\]\.secret {2}is the one that the key had before/);
  const third = `${other}x`;
  assert.equal((await apply(everything.replace(secret, third), '--overlap', '0s')).code, 0);
  assert.deepEqual([(await find(third))?.id, await find(other)], ['search-prod', undefined]);
  assert.match(
    (await apply(everything.replace(secret, other), '--dry-run')).errors.join('\n'),
    /is the one that the key had/,
  );
});

test('apply takes a secret from the environment, a file or a digest, and never writes it in plain text', async (t) => {
  const { apply, find, cwd, keyOf } = await setUp(t);
  await writeFile(join(cwd, 'key.txt'), `${secret}\n`);
  const made = await apply(
    `keys:\n  - { id: of-file, secret_file: key.txt }\n  - { id: of-digest, secret_sha256: ${digestOf(other).toUpperCase()} }\n`,
  );
  assert.deepEqual([made.code, made.errors], [0, []]);
  assert.equal((await find(secret))?.id, 'of-file');
  assert.equal((await find(other))?.id, 'of-digest');
  assert.equal((await keyOf('of-digest'))?.hint, `sha256:${digestOf(other).slice(0, 8)}…`);
  const texts = [JSON.stringify(made)];
  for (const file of await readdir(join(cwd, 'store'))) texts.push(await readFile(join(cwd, 'store', file), 'latin1'));
  assert.ok(texts.every((text) => !text.includes(secret) && !text.includes(other)));
});

test("apply changes an existing key whose entry has no secret, and the key's secret stays valid", async (t) => {
  const { apply, runAs, find } = await setUp(t);
  const made = JSON.parse((await runAs(keys, {}, 'create', '--json')).lines.join('\n'));
  const { lines } = await apply(`keys:\n  - { id: ${made.id}, budgets: [{ every: month, amount: 50 }] }\n`);
  assert.deepEqual(lines, [`key ${made.id} is changed (version 2)`]);
  assert.equal((await find(made.secret))?.caps.budgets.length, 1);
});

test('apply --dry-run reports each change by field, and writes nothing', async (t) => {
  const { apply, stored } = await withStored(t);
  const before = await stored();
  const next = everything.replace('60', '70').replace(secret, other).replace('model: m', 'model: n');
  const { code, lines } = await apply(`${next}  - { id: second, secret: ${secret}-2, ${notes} }\n`, '--dry-run');
  assert.equal(code, 0);
  assert.deepEqual(lines, [
    'project search is unchanged (version 1)',
    'model house would be changed',
    '  targets[0].model: "m" -> "n"',
    'key search-prod would be changed',
    '  limits.requests_per_minute: 60 -> 70',
    '  secret: "(sealed)" -> "(another secret)"',
    'key second would be created',
    '1 unchanged, 2 changed, 1 created; nothing was written',
  ]);
  assert.deepEqual(await stored(), before);
  const json = JSON.parse((await apply(next, '--dry-run', '--json')).lines.join('\n'));
  assert.deepEqual(json[1], {
    kind: 'model',
    id: 'house',
    outcome: 'changed',
    version: 1,
    differences: [{ path: 'targets[0].model', before: 'm', after: 'n' }],
  });
});

test('apply --dry-run creates no store', async (t) => {
  const { apply, cwd } = await setUp(t);
  await assert.rejects(apply(everything, '--dry-run'), userFault(/^There is no store at /));
  assert.equal((await readdir(cwd)).includes('store'), false);
});

test('--prune deletes only resources that carry its note and are no longer in the file', async (t) => {
  const { apply, stored, withStore, keyOf, runAs } = await withStored(t);
  await apply(
    `projects:\n  - { id: foreign }\nmodels:\n  - { id: other, targets: [{ upstream: one }], metadata: { team: chat } }\n`,
  );
  await runAs(keys, {}, 'create', '--name', 'by hand');
  const empty = 'keys: []\n';
  assert.deepEqual((await apply(empty, '--prune', 'team=search', '--dry-run')).lines, [
    'key search-prod would be revoked',
    'model house would be deleted',
    'project search would be deleted',
    '1 revoked, 2 deleted; nothing was written',
  ]);
  assert.deepEqual((await apply(empty, '--prune', 'team=search')).lines, [
    'key search-prod is revoked',
    'model house is deleted',
    'project search is deleted',
  ]);
  assert.deepEqual((await stored()).map(({ id }) => id).sort(), ['foreign', 'other']);
  assert.notEqual((await keyOf('search-prod'))?.revokedAtMs, undefined);
  assert.equal(
    (await withStore((store) => store.keys.list())).filter((key) => key.revokedAtMs === undefined).length,
    1,
  );
  assert.deepEqual((await apply(empty, '--prune', 'team=search')).lines, []);
});

test('apply never reactivates a revoked key, and asks for a new key ID', async (t) => {
  const { apply, runAs } = await withStored(t);
  await runAs(keys, {}, 'revoke', 'search-prod');
  const again = await apply(everything);
  assert.equal(again.code, 0);
  assert.match(again.errors.join('\n'), /^postern: key search-prod: is revoked permanently; remove it from the file$/m);
  assert.match(
    (await apply(everything.replace(secret, other))).errors.join('\n'),
    /^resources\.yaml:6 {2}keys\[0\]\.id {2}"search-prod" was revoked, for good; give the new key an ID of its own$/,
  );
});

test('--prune keeps a resource that another one uses, and names that one', async (t) => {
  const { apply, stored, runAs } = await withStored(t);
  const made = JSON.parse((await runAs(keys, {}, 'create', '--project', 'search', '--json')).lines.join('\n'));
  const { code, errors } = await apply('keys: []\n', '--prune', 'team=search');
  assert.equal(code, 1);
  assert.match(
    errors.join('\n'),
    new RegExp(`^store: project "search" {2}cannot be pruned: the key ${made.id} belongs`),
  );
  assert.equal((await stored()).length, 2);
});

test('--prune refuses a file with resources that lack the note it selects by', async (t) => {
  const { apply, withStore } = await setUp(t);
  const stored = () => withStore((store) => store.resources.list());
  const { code, errors } = await apply(everything.replace(`m }], ${notes}`, 'm }]'), '--prune', 'team=search');
  assert.equal(code, 1);
  assert.deepEqual(errors, [
    'resources.yaml:4  models[0].metadata  lacks the metadata of --prune (team: search); add it, or the next run would not prune this resource',
  ]);
  assert.deepEqual(await stored(), []);
});

test('apply reports all faults of keys at once with their lines, and writes nothing', async (t) => {
  const { apply, withStore } = await setUp(t);
  const stored = () => withStore((store) => store.resources.list());
  const rows: readonly (readonly [text: string, ...faults: RegExp[]])[] = [
    ['keys:\n  - { id: a }\n', /:2 {2}keys\[0\]\.secret {2}is missing; wanted: secret, secret_file or secret_sha256$/],
    [
      `keys:\n  - { id: a, secret: ${secret} }\n  - { id: b, secret: ${secret} }\n`,
      /:3 {2}keys\[1\]\.secret {2}is the same as that of keys\[0\]; each key needs its own$/,
    ],
    [
      `keys:\n  - { id: a, secret: short, limit: {} }\n`,
      /secret {2}wanted: at least 24 visible ASCII characters/,
      /limit {2}unknown key; did you mean limits\?$/,
    ],
    [`keys:\n  - { id: a, secret: ${secret}, expires: 30d }\n`, /expires {2}wanted: /],
    [`keys:\n  - { id: a, secret: ${secret}, project: serch }\n`, /project {2}unknown project "serch"/],
    ['keys:\n  - { id: a, secret_file: nowhere }\n', /secret_file {2}the file cannot be used: there is no such file$/],
    [
      `keys:\n  - { id: a, secret: ${secret}, secret_sha256: ${digestOf(other)} }\n`,
      /secret_sha256 {2}stands beside secret/,
    ],
    [`key:\n  - { id: a }\n`, /key {2}is no list of resources; did you mean keys\?$/],
  ];
  for (const [text, ...expected] of rows) {
    const { code, errors } = await apply(text);
    assert.deepEqual([code, errors.length], [1, expected.length], errors.join('\n'));
    for (const [index, fault] of expected.entries()) assert.match(errors[index] ?? '', fault);
    assert.equal(errors.join('\n').includes(secret), false);
  }
  assert.deepEqual(await stored(), []);
});

test('apply refuses a key with the ID or the secret of a key of the configuration file', async (t) => {
  const { apply, cwd } = await setUp(t);
  const own = `store: sqlite:store/keys.db\nkeys:\n  - { id: dev, secret: ${secret} }\n`;
  await writeFile(join(cwd, 'postern.yaml'), own);
  assert.match(
    (await apply(`keys:\n  - { id: dev, secret: ${other} }\n`)).errors.join('\n'),
    /keys\[0\]\.id {2}"dev" is declared by the configuration file too \(line 3\)/,
  );
  assert.match(
    (await apply(`keys:\n  - { id: ops, secret: ${secret} }\n`)).errors.join('\n'),
    /keys\[0\]\.secret {2}is that of the key dev; each key needs its own$/,
  );
});

test('apply refuses a key whose secret or digest is the credential of an upstream', async (t) => {
  const { apply, cwd } = await setUp(t);
  const own = `store: sqlite:store/keys.db\nupstreams:\n  - { id: up, family: openai, api_key: ${secret} }\n`;
  await writeFile(join(cwd, 'postern.yaml'), own);
  for (const written of [`secret: ${secret}`, `secret_sha256: ${digestOf(secret)}`]) {
    const { code, errors } = await apply(`keys:\n  - { id: ops, ${written} }\n`);
    assert.equal(code, 1);
    assert.match(errors.join('\n'), /keys\[0\]\.secret {2}is the credential of the upstream "up"; /);
    assert.equal(errors.join('\n').includes(secret), false);
  }
});

test('apply refuses contradictory options', async (t) => {
  const { apply } = await setUp(t);
  const rows: readonly (readonly [options: string[], message: RegExp])[] = [
    [['--prune', 'team'], /^--prune: "team" is not written as name=text/],
    [['--prune', 'a=b', '--prune', 'a=c'], /^--prune a: is given twice$/],
    [['--overlap', '24'], /^--overlap: "24" is no time/],
  ];
  for (const [options, message] of rows) await assert.rejects(apply(everything, ...options), userFault(message));
});

async function withStored(t: TestContext) {
  const found = await setUp(t);
  await found.apply(everything);
  return { ...found, stored: () => found.withStore((store) => store.resources.list()) };
}
