import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setUpCommand, userFault } from '../../../test/support/gateways/command.ts';
import { digestOf } from '../../lib/secrets/key-secret.ts';
import { parseKeyRing } from '../../lib/secrets/sealed.ts';
import type { Command } from '../command.ts';
import { keys } from '../keys/keys.ts';
import { ledger } from '../ledger/ledger.ts';
import { usage } from '../ledger/usage.ts';
import { resources } from './resources.ts';
import { secrets } from './secrets.ts';

const secretKey = randomBytes(32).toString('hex');
const otherKey = randomBytes(32).toString('base64');
const canary = 'sk-canary-7f3d9a51c2';
const otherCanary = 'hdr-canary-0b8e44d1f6';

const upstreams = `upstreams:
  - id: two
    family: openai
    base_url: http://127.0.0.1:8/v1
    api_key: ${canary}
    headers: { x-team: ${otherCanary} }
`;
const everything = `${upstreams}projects:
  - { id: search, name: Search, limits: { requests_per_minute: 60 } }
models:
  - id: house
    operations: [embeddings]
    targets: [{ upstream: two, model: m }]
`;

async function setUp(
  t: TestContext,
  more: Record<string, unknown> = {},
  env: Record<string, string> = { POSTERN_SECRET_KEY: secretKey },
) {
  const found = await setUpCommand(t, resources, more, env);
  const write = (text: string, name = 'resources.yaml') => writeFile(join(found.cwd, name), text);
  return {
    ...found,
    write,
    async apply(text: string) {
      await write(text);
      return found.run('apply', 'resources.yaml');
    },
    stored: () => found.withStore((store) => store.resources.list()),
  };
}

test('apply stores the resources of a file, and a second apply changes nothing', async (t) => {
  const { apply, stored } = await setUp(t);
  const { code, lines, errors } = await apply(everything);
  assert.deepEqual(errors, []);
  assert.equal(code, 0);
  assert.deepEqual(lines, [
    'project search is created (version 1)',
    'upstream two is created (version 1)',
    'model house is created (version 1)',
  ]);
  assert.deepEqual(
    (await apply(everything)).lines,
    ['project search', 'upstream two', 'model house'].map((name) => `${name} is unchanged (version 1)`),
  );
  const next = await apply(everything.replace('60', '70').replace(canary, `${canary}x`));
  assert.deepEqual(next.lines, [
    'project search is changed (version 2)',
    'upstream two is changed (version 2)',
    'model house is unchanged (version 1)',
  ]);
  assert.equal((await stored()).length, 3);
});

test("neither the store's files nor the output of apply contain a secret in plain text", async (t) => {
  const { apply, run, runAs, json, cwd, withStore } = await setUp(t);
  const printed = [await apply(everything)];
  await run('apply', 'resources.yaml');
  const made = await runAs(keys, { POSTERN_SECRET_KEY: secretKey }, 'create', '--json');
  const key = JSON.parse(made.lines.join('')).secret;
  for (const args of [
    ['list'],
    ['list', '--json'],
    ['show', 'upstream', 'two'],
    ['show', 'upstream', 'two', '--json'],
  ]) {
    printed.push(await run(...args));
  }
  printed.push(await runAs(secrets, { POSTERN_SECRET_KEY: secretKey }, 'status'));
  const audit = await withStore((store) => store.audit.page({ limit: 100 }));
  const all = [JSON.stringify(printed), JSON.stringify(audit)];
  for (const file of await readdir(join(cwd, 'store'))) all.push(await readFile(join(cwd, 'store', file), 'latin1'));
  assert.ok(
    all.some((text) => text.includes(digestOf(key))),
    'the store is not looked at',
  );
  for (const text of all) {
    for (const secret of [canary, otherCanary, key, secretKey]) assert.equal(text.includes(secret), false);
  }
  assert.deepEqual((await json('show', 'upstream', 'two')).document, {
    id: 'two',
    family: 'openai',
    base_url: 'http://127.0.0.1:8/v1',
    api_key: '(sealed)',
    headers: { 'x-team': '(sealed)' },
  });
});

test('the output of show can be edited and applied again, and its masked secrets are kept', async (t) => {
  const { apply, run, runAs } = await setUp(t);
  await apply(everything);
  const shown = (await run('show', 'upstream', 'two')).lines.join('\n');
  assert.deepEqual((await apply(shown)).lines, ['upstream two is unchanged (version 1)']);
  assert.deepEqual((await apply(shown.replace(':8/', ':7/'))).lines, ['upstream two is changed (version 2)']);
  const { lines } = await runAs(secrets, { POSTERN_SECRET_KEY: secretKey }, 'status', '--json');
  assert.equal(JSON.parse(lines.join(''))[0].secrets, 2);
});

test('apply refuses a masked secret if it is unclear for which secret it stands', async (t) => {
  const { apply } = await setUp(t);
  const fresh = await apply('upstreams:\n  - { id: n, family: openai, api_key: (sealed) }\n');
  assert.equal(fresh.code, 1);
  assert.match(
    fresh.errors.join('\n'),
    /^resources\.yaml:2 {2}upstreams\[0\]\.api_key {2}stands for a secret that is not known here/,
  );
  const list = (first: string) =>
    `upstreams:\n  - id: n\n    family: openai\n    credentials:\n      - { api_key: ${first} }\n      - { api_key: key-two }\n`;
  assert.equal((await apply(list('key-one'))).code, 0);
  assert.match(
    (await apply(list('(sealed)'))).errors.join('\n'),
    /^resources\.yaml:5 {2}upstreams\[0\]\.credentials\[0\]\.api_key /,
  );
});

test('without a secret key, apply refuses resources with secrets and tells how to create a key', async (t) => {
  const { apply, stored } = await setUp(t, {}, {});
  const { code, errors } = await apply(everything);
  assert.equal(code, 1);
  assert.equal(errors.length, 2);
  assert.match(errors[0] ?? '', /^resources\.yaml:5 {2}upstreams\[0\]\.api_key {2}is a secret, .*openssl rand -hex 32/);
  assert.equal(errors.join('\n').includes(canary), false);
  assert.deepEqual(await stored(), []);
  assert.equal(
    (await apply('upstreams:\n  - { id: two, family: homemade-or-not, base_url: "http://127.0.0.1:8" }\n')).code,
    1,
  );
  assert.equal((await apply('upstreams:\n  - { id: two, family: vllm, base_url: "http://127.0.0.1:8" }\n')).code, 0);
});

test('an invalid secret key is refused with the reason as a user error', async (t) => {
  const { apply } = await setUp(t, {}, { POSTERN_SECRET_KEY: 'correct horse' });
  await assert.rejects(apply(everything), userFault(/^POSTERN_SECRET_KEY: key 1 is not 32 bytes/));
});

test('apply substitutes environment variables in a file', async (t) => {
  const { apply, json } = await setUp(t, {}, { POSTERN_SECRET_KEY: secretKey, PORT: '8' });
  const text = `upstreams:\n  - { id: two, family: openai, base_url: "http://127.0.0.1:\${PORT}", api_key: "\${NO_SUCH}" }\n`;
  assert.match(
    (await apply(text)).errors.join('\n'),
    /^resources\.yaml:2 .*the environment variable NO_SUCH is not set/,
  );
  assert.equal((await apply(text.replace('NO_SUCH', 'PORT'))).code, 0);
  assert.equal((await json('show', 'upstream', 'two')).document.base_url, 'http://127.0.0.1:8');
});

test('apply reports all faults of a file at once, with line, and in the wording for the configuration file', async (t) => {
  const { apply, stored } = await setUp(t);
  const rows: readonly (readonly [text: string, ...faults: RegExp[]])[] = [
    ['upstream: []\n', /^resources\.yaml:1 {2}upstream {2}is no list of resources; did you mean upstreams\?$/],
    ['upstreams: {}\n', /^resources\.yaml:1 {2}upstreams {2}wanted: a list$/],
    ['upstreams: [\n', /^resources\.yaml:\d+ {2}/],
    ['[]\n', /^resources\.yaml:1 {2}is not a mapping of keys to values$/],
    ['', /^resources\.yaml(:1)? {2}is empty$/],
    ['upstreams: []\n', /holds nothing; there are upstreams, models, projects, settings, keys$/],
    ['upstreams:\n  - { family: openai }\n', /^resources\.yaml:2 {2}upstreams\[0\] {2}has no id/],
    [
      'projects:\n  - { id: a }\n  - { id: a }\n',
      /^resources\.yaml:3 {2}projects\[1\]\.id {2}"a" is taken by projects\[0\]\.id \(line 2\)$/,
    ],
    [
      'projects:\n  - { id: a, limit: {} }\nupstreams:\n  - { id: b, family: opnai }\nmodels:\n  - { id: c, targets: [{ upstream: bb }] }\n',
      /^resources\.yaml:4 {2}upstreams\[0\]\.family {2}unknown family "opnai"/,
      /^resources\.yaml:6 {2}models\[0\]\.targets\[0\]\.upstream {2}unknown upstream "bb"/,
      /^resources\.yaml:2 {2}projects\[0\]\.limit {2}unknown key; did you mean limits\?$/,
    ],
    [
      'projects:\n  - { id: a, budgets: [{ every: day, amount: 1 }, { every: day, amount: 2 }] }\n',
      /has the same period \(day\)/,
    ],
    ['projects:\n  - { id: "../x" }\n', /^resources\.yaml:2 {2}projects\[0\]\.id {2}wanted: up to 64 letters/],
  ];
  for (const [text, ...expected] of rows) {
    const { code, errors } = await apply(text);
    assert.equal(code, 1, text);
    assert.equal(errors.length, expected.length, errors.join('\n'));
    for (const fault of expected)
      assert.ok(
        errors.some((line) => fault.test(line)),
        `${fault} in ${errors.join('\n')}`,
      );
  }
  assert.deepEqual(await stored(), []);
});

test('apply, show and delete refuse a resource of the configuration file, and give its line in that file', async (t) => {
  const { apply, run, cwd } = await setUp(t);
  await writeFile(
    join(cwd, 'postern.yaml'),
    'store: sqlite:store/keys.db\nupstreams:\n  - { id: one, family: openai }\nprojects:\n  - { id: search }\n',
  );
  const { code, errors } = await apply('upstreams:\n  - { id: one, family: openai }\n');
  assert.equal(code, 1);
  assert.match(
    errors.join('\n'),
    /^resources\.yaml:2 {2}upstreams\[0\]\.id {2}"one" is declared by the configuration file too: upstreams\[0\]\.id \(line 3\)/,
  );
  await assert.rejects(
    run('show', 'upstream', 'one'),
    userFault(/^upstream one is declared in the configuration file/),
  );
  await assert.rejects(
    run('delete', 'project', 'search'),
    userFault(/^project search is declared in the configuration file/),
  );
});

test('apply refuses a Unix socket as base_url, and gives the line', async (t) => {
  const { apply, stored } = await setUp(t);
  const { code, errors } = await apply(everything.replace('http://127.0.0.1:8/v1', 'unix:/run/x.sock:/v1'));
  assert.equal(code, 1);
  assert.match(
    errors.join('\n'),
    /^resources\.yaml:4 {2}upstreams\[0\]\.base_url {2}names a socket of the machine.*configuration file/,
  );
  assert.deepEqual(await stored(), []);
});

test('delete refuses a resource that others use, and names those', async (t) => {
  const more = { models: [{ id: 'of-file', operations: ['embeddings'], targets: [{ upstream: 'one' }] }] };
  const { apply, run, stored } = await setUp(t, more);
  await apply(everything);
  const { code, errors } = await run('delete', 'upstream', 'two');
  assert.equal(code, 1);
  assert.equal(errors[0], 'postern: upstream two is still needed, and stays:');
  assert.match(
    errors[1] ?? '',
    /^store: model "house" \(version 1\) {2}targets\[0\]\.upstream {2}unknown upstream "two"/,
  );
  assert.equal((await stored()).length, 3);

  assert.equal((await run('delete', 'models', 'house')).code, 0);
  assert.deepEqual((await run('delete', 'upstream', 'two')).lines, [
    'upstream two is deleted; a running gateway goes on without it within two seconds.',
  ]);
  assert.equal((await stored()).length, 1);
});

test('delete refuses a project that has keys', async (t) => {
  const { apply, run, runAs } = await setUp(t);
  await apply(everything);
  const env = { POSTERN_SECRET_KEY: secretKey };
  const { id } = JSON.parse((await runAs(keys, env, 'create', '--project', 'search', '--json')).lines.join('\n'));
  await assert.rejects(run('delete', 'project', 'search'), userFault(new RegExp(`^project search has keys: ${id};`)));
  await runAs(keys, env, 'revoke', id);
  assert.equal((await run('delete', 'project', 'search')).code, 0);
});

test('show and delete refuse an unknown resource and suggest the nearest name', async (t) => {
  const { apply, run } = await setUp(t);
  await apply(everything);
  const rows: readonly (readonly [args: readonly string[], message: RegExp])[] = [
    [['show', 'upstrem', 'two'], /^there is no kind of resource "upstrem"; did you mean upstream\?$/],
    [['show', 'x', 'two'], /\(there are upstream, model, project, setting\)$/],
    [['show', 'model', 'huose'], /^there is no model "huose" in the store; did you mean house\?$/],
    [['delete', 'model', "'; drop table resources; --"], /^there is no model "'; drop table/],
    [['show', 'model'], /^write it as "postern resources show KIND ID/],
    [['aply'], /^there is no "resources aply"; did you mean apply\?/],
    [['apply', 'nowhere.yaml'], /^nowhere\.yaml cannot be used: there is no such file$/],
    [['delete', 'model', 'house', '--json'], /^"resources delete" takes no --json/],
  ];
  for (const [args, message] of rows) await assert.rejects(run(...args), userFault(message), args.join(' '));
});

test('list, apply and delete still work on a store that conflicts with the configuration file', async (t) => {
  const { apply, run, cwd, stored } = await setUp(t);
  await apply(everything);
  // The file now declares what the store has, and has another fault besides.
  await writeFile(
    join(cwd, 'postern.yaml'),
    'store: sqlite:store/keys.db\nupstreams:\n  - { id: one, family: openai }\n  - { id: two, family: openai, api_key: k }\ndefault_model: { rerank: nowhere }\n',
  );
  assert.equal((await run('list')).code, 0);
  const put = await apply('projects:\n  - { id: other }\n');
  assert.deepEqual([put.code, put.errors], [0, []]);
  assert.equal((await run('delete', 'upstream', 'two')).code, 0);
  assert.deepEqual((await stored()).map(({ id }) => id).sort(), ['house', 'other', 'search']);
});

test('list shows the stored resources, or reports that there are none', async (t) => {
  const { apply, run, json, withStore } = await setUp(t);
  await withStore(async () => undefined);
  assert.deepEqual((await run('list')).lines, [
    'The store holds no resource; "postern resources apply FILE" puts some in.',
  ]);
  assert.deepEqual(await json('list'), []);
  await apply(everything);
  const [head = '', ...rows] = (await run('list')).lines;
  assert.match(head, /^KIND +ID +VERSION +CHANGED$/);
  assert.equal(rows.length, 3);
  assert.deepEqual(
    (await json('list')).map(({ kind, id, version }: Record<string, unknown>) => [kind, id, version]).sort(),
    [
      ['model', 'house', 1],
      ['project', 'search', 1],
      ['upstream', 'two', 1],
    ],
  );
});

test('secrets rotate re-encrypts everything under the first secret key, and then the older key is not needed', async (t) => {
  const { apply, runAs, run, stored } = await setUp(t);
  await apply(everything);
  const both = { POSTERN_SECRET_KEY: `${otherKey},${secretKey}` };
  const statusOf = async (env: Record<string, string>) =>
    JSON.parse((await runAs(secrets, env, 'status', '--json')).lines.join('')).map(
      ({ role, secrets: count }: Record<string, unknown>) => [role, count],
    );
  assert.deepEqual(await statusOf(both), [
    ['seals', 0],
    ['opens', 2],
  ]);
  assert.match(
    (await runAs(secrets, both, 'rotate')).lines.join(''),
    /^1 of 3 resources were sealed anew; all are under the key [0-9a-f]{8}\.$/,
  );
  assert.match((await runAs(secrets, both, 'rotate')).lines.join(''), /^0 of 3 resources/);
  assert.deepEqual((await stored()).map(({ version }) => version).sort(), [1, 1, 2]);
  assert.deepEqual(await statusOf({ POSTERN_SECRET_KEY: otherKey }), [['seals', 2]]);
  assert.deepEqual(await statusOf({ POSTERN_SECRET_KEY: secretKey }), [
    ['seals', 0],
    ['missing', 2],
  ]);
  assert.deepEqual(await statusOf({}), [['missing', 2]]);
  assert.equal((await run('list')).code, 0);
});

test('keys can be created and revoked without the secret key, also in a stored project', async (t) => {
  const { apply, runAs } = await setUp(t);
  await apply(everything);
  const made = await runAs(keys, {}, 'create', '--project', 'search', '--json');
  assert.equal(made.code, 0);
  assert.match(
    made.errors.join('\n'),
    /^postern: the resources in the store do not fit the file and are left out \(store: upstream "two" \(version 1\) api_key: is sealed under/,
  );
  assert.equal((await runAs(keys, {}, 'revoke', JSON.parse(made.lines.join('\n')).id)).code, 0);
});

test('secrets rotate needs a secret key, and every older key that still encrypts something', async (t) => {
  const { apply, runAs, stored } = await setUp(t);
  await apply(everything);
  await assert.rejects(
    runAs(secrets, {}, 'rotate'),
    userFault(/^there is no key to seal with: set POSTERN_SECRET_KEY/),
  );
  await assert.rejects(
    runAs(secrets, { POSTERN_SECRET_KEY: otherKey }, 'rotate'),
    userFault(/^upstream two: api_key is sealed under the key [0-9a-f]{8}, and POSTERN_SECRET_KEY holds/),
  );
  assert.deepEqual(
    (await stored()).map(({ version }) => version),
    [1, 1, 1],
  );
});

test('secrets rotate encrypts secrets that were stored in plain text', async (t) => {
  const { runAs, withStore, json } = await setUp(t);
  const document = { id: 'two', family: 'openai', api_key: canary };
  await withStore((store) => store.resources.put('upstream', 'two', document, { actor: 'someone' }));
  const env = { POSTERN_SECRET_KEY: secretKey };
  assert.match((await runAs(secrets, env, 'status')).lines.join('\n'), /^- +not sealed; .* +1$/m);
  await runAs(secrets, env, 'rotate');
  const stored = await withStore((store) => store.resources.get('upstream', 'two'));
  assert.match(String(stored?.document.api_key), /^sealed:v1:/);
  assert.equal((await json('show', 'upstream', 'two')).document.api_key, '(sealed)');
});

test('commands that only read report that there is no store, and create none', async (t) => {
  const { runAs, cwd } = await setUpCommand(t, resources);
  const looks: [command: Command, args: string[]][] = [
    [resources, ['list']],
    [resources, ['show', 'upstream', 'one']],
    [secrets, ['status']],
    [keys, ['list']],
    [keys, ['show', 'k']],
    [ledger, ['tail']],
    [ledger, ['verify']],
    [usage, []],
  ];
  for (const [command, args] of looks) {
    await assert.rejects(runAs(command, {}, ...args), userFault(/^There is no store at ".*keys\.db"/), args.join(' '));
  }
  assert.deepEqual(await readdir(cwd), ['postern.yaml']);
  assert.equal((await runAs(keys, {}, 'create')).code, 0);
  assert.equal((await runAs(keys, {}, 'list')).code, 0);
});

test('apply and secrets rotate refuse a secret key that a running node lacks, name the node, and write nothing', async (t) => {
  const { apply, stored, withStore, runAs } = await setUp(t);
  const [own] = parseKeyRing(secretKey).keyIds;
  const report = (keys: readonly string[] | undefined) =>
    withStore((store) => store.health.report('eu-1:4000', [], undefined, keys));
  await report(['11223344']);
  const refused = await apply(everything);
  assert.equal(refused.code, 1);
  assert.equal(
    refused.errors.join('\n'),
    `resources.yaml:2  upstreams[0]  would be sealed under the key ${own}, which these nodes do not hold: eu-1:4000 (11223344); give it to them first, as POSTERN_SECRET_KEY="<their key>,<key ${own}>", or seal with a key that they hold`,
  );
  assert.deepEqual(await stored(), []);
  // Without secrets no key is needed.
  assert.equal((await apply('projects:\n  - { id: search }\n')).code, 0);
  await report(['11223344', own ?? '']);
  assert.equal((await apply(everything)).code, 0);
  // A node of a former version does not report its keys.
  await report(undefined);
  assert.equal((await apply(everything.replace(canary, `${canary}y`))).code, 0);

  await report([own ?? '']);
  const both = { POSTERN_SECRET_KEY: `${otherKey},${secretKey}` };
  await assert.rejects(
    runAs(secrets, both, 'rotate'),
    userFault(/^what is in the store would be sealed under the key .*eu-1:4000/),
  );
});
