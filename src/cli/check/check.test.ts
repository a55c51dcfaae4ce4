import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createDirectory, sampleFamilies } from '../../../test/support/gateways/configuration.ts';
import { localhostCertificate } from '../../../test/support/upstreams/localhost-certificate.ts';
import { families } from '../../families/index.ts';
import { toConfigSources } from '../command.ts';
import { check } from './check.ts';

async function run(
  t: TestContext,
  text: string | undefined,
  values: Record<string, string | boolean> = {},
  files: Record<string, string> = {},
  known = sampleFamilies,
  env: Record<string, string> = {},
) {
  const cwd = await createDirectory(t, text === undefined ? files : { ...files, 'postern.yaml': text });
  const lines: string[] = [];
  const stdout = (line: string): void => void lines.push(...line.split('\n'));
  const sources = toConfigSources(values);
  const context = {
    values,
    ...sources,
    positionals: [],
    env,
    cwd,
    families: known,
    stdout,
    stderr: stdout,
  };
  return { code: await check.run(context), lines, cwd };
}

/** The cells of each row with this beginning; a text may continue on the lines below it. */
function rowsIn(lines: readonly string[], start: string): string[][] {
  return lines.flatMap((line, at) => {
    if (!line.startsWith(start)) return [];
    const head = lines[lines.lastIndexOf('', at) + 1] ?? '';
    const starts = [...head.matchAll(/\S+(?: \S+)*/g)].map(({ index }) => index);
    const end = lines.findIndex((other, index) => index > at && !other.startsWith('  '));
    const own = lines.slice(at, end === -1 ? undefined : end);
    const cells = starts.map((from, column) =>
      own
        .map((part) => part.slice(from, starts[column + 1]).trim())
        .filter((part) => part !== '')
        .join(' '),
    );
    return [cells.slice(0, cells.findLastIndex((cell) => cell !== '') + 1)];
  });
}

const good = `
upstreams:
  - { id: up, family: openai, api_key: sk-0123456789 }
models:
  - { id: embed, aliases: [e], operations: [embeddings], coalesce: {}, targets: [{ upstream: up, model: embed-large }] }
  - { id: edit, visible: false, operations: [edits], targets: [{ upstream: up }] }
keys:
  - { id: dev, secret: a-secret-of-24-characters, models: [nope], expires: 2099-01-31 }
`;

test('check prints each fault as one line with its location, and exits with 1', async (t) => {
  const { code, lines } = await run(t, 'models:\n  - id: m\n    visble: true\n    targets: []\nkeys: 1\n');
  assert.equal(code, 1);
  assert.deepEqual(lines, [
    'postern.yaml:3  models[0].visble  unknown key; did you mean visible?',
    'postern.yaml:4  models[0].targets  wanted: at least one; came: an empty list',
    'postern.yaml:5  keys  wanted: a list; came: a number',
  ]);
});

test('check shows a valid configuration as tables, then warnings, without secrets', async (t) => {
  const { code, lines } = await run(t, good);
  assert.equal(code, 0);
  assert.equal(lines[0], 'postern.yaml is valid.');
  const row = (start: string) => rowsIn(lines, start)[0];
  assert.deepEqual(row('body_limit'), ['body_limit', '32MiB']);
  assert.deepEqual(row('up '), [
    'up',
    'openai',
    'https://api.openai.test/v1',
    '1',
    '2s',
    '1m; completions 10m; chat 10m; messages 10m; responses 10m; generate 10m; images 10m; speech 10m; image_edits 10m; image_variations 10m; transcriptions 10m; translations 10m',
    '1m',
    '5m; completions 15m; chat 15m; messages 15m; responses 15m; generate 15m; images 15m; speech 15m; image_edits 15m; image_variations 15m; transcriptions 15m; translations 15m',
  ]);
  assert.deepEqual(row('shedding.loop_delay'), ['shedding.loop_delay', '500ms']);
  assert.match(String(row('shedding.memory')), /,\d+MiB$/);
  const standard = ['weighted', 'safe, 5 attempts', '-'];
  assert.deepEqual(row('embed '), [
    'embed',
    'e',
    'embeddings',
    'yes',
    'embed-large',
    '-',
    '-',
    ...standard,
    'up: embed-large',
  ]);
  assert.deepEqual(row('edit '), ['edit', '-', 'edits', 'no', '-', '-', '-', ...standard, 'up: edit']);
  assert.deepEqual(row('dev '), ['dev', 'nope', 'all', 'any', '2099-01-31T00:00:00.000Z', '-', '-', '-']);
  assert.equal(lines.at(-1), 'warning: keys[0].models[0]: there is no model "nope" as yet');
  assert.doesNotMatch(lines.join('\n'), /0123456789|a-secret/);
});

const underFire = `
upstreams:
  - id: main
    family: openai
    credentials: [{ api_key: sk-0123456789 }, { api_key: sk-1123456789, weight: 3 }]
    limits: { concurrency: 8, queue_timeout: 1s }
    tls: { ca: ca.pem, server_name: in.example }
    health_check: { path: "/health?key=hk-0123456789", interval: 5s }
  - { id: spare, family: openai }
models:
  - id: embed
    operations: [embeddings]
    balance: fastest
    retry: { attempts: 3 }
    hedge: { after: p95 }
    targets: [{ upstream: main }, { upstream: spare, weight: 2 }, { upstream: spare, model: old, priority: 1, weight: 0 }]
  - { id: free-*, operations: [embeddings], targets: [{ upstream: main }] }
`;

test('load balancing, limits and retries are shown in tables, without default weights', async (t) => {
  const { code, lines } = await run(t, underFire, {}, { 'ca.pem': localhostCertificate });
  assert.equal(code, 0, lines.join('\n'));
  const rows = (start: string) => rowsIn(lines, start);
  const [callsMain, boundsMain] = rows('main ');
  const [callsSpare, boundsSpare] = rows('spare ');
  assert.deepEqual([callsMain?.[3], callsSpare?.[3]], ['2 (weights 1, 3)', '0']);
  assert.deepEqual(boundsMain, ['main', '-', '8', '256', '1s', 'ca, server_name', '/health?... every 5s, within 2s']);
  assert.deepEqual(boundsSpare, ['spare', '-', '256', '256', '5s', '-', '-']);
  assert.deepEqual(rows('embed ')[0]?.slice(7), [
    'fastest',
    'safe, 3 attempts',
    'after p95',
    'main: embed, spare: embed (weight 2), spare: old (priority 1, weight 0)',
  ]);
  assert.equal(rows('free-* ')[0]?.[4], 'each name its own');
  assert.doesNotMatch(lines.join('\n'), /[01]123456789/);
});

const withMoney = `
server: { workers: 2 }
store: postgres://u:sk-0123456789@db.example/postern?password=sk-0123456789
redis: redis://:sk-0123456789@cache.example:6379/1
ledger: { durability: strict, retention: 30d }
console: { host: 0.0.0.0, token: sk-0123456789-sk-0123456789 }
alerts: { webhooks: [{ url: https://hooks.example/sk-0123456789, secret: sk-0123456789-sk }] }
upstreams:
  - { id: up, family: openai, limits: { tokens_per_minute: 1000 } }
models:
  - id: embed
    operations: [embeddings]
    limits: { items_per_day: 7 }
    price: { input: 0.02, request: 0.000000001, tools: { web_search: 0.01 } }
    targets: [{ upstream: up }, { upstream: up, model: b, price: free }, { upstream: up, model: c, price: unknown }]
    space: embed
projects:
  - { id: search, name: Search team, budgets: [{ every: month, amount: 100 }, { every: total, amount: 1000.50, alerts: [] }] }
keys:
  - id: dev
    secret: sk-0123456789-sk-0123456789
    project: search
    limits: { requests_per_minute: 60, concurrency: 4 }
    capture: 7d
`;

test('limits, budgets and prices are shown with their owner and source, without secrets', async (t) => {
  const { code, lines } = await run(t, withMoney);
  assert.equal(code, 0, lines.join('\n'));
  const row = (start: string) => rowsIn(lines, start)[0];
  assert.deepEqual(row('workers '), ['workers', '2']);
  assert.deepEqual(row('store '), ['store', 'postgres://db.example/postern']);
  assert.deepEqual(row('redis '), ['redis', 'redis://cache.example:6379/1']);
  assert.deepEqual(row('ledger.durability'), ['ledger.durability', 'strict']);
  assert.deepEqual(row('console '), ['console', 'http://0.0.0.0:4001, with a token']);
  assert.deepEqual(row('alerts.webhooks'), ['alerts.webhooks', 'hooks.example, signed']);
  assert.deepEqual(row('search '), ['search', 'Search team']);
  assert.deepEqual(row('dev ')?.slice(-3), ['search', '-', '7d']);
  assert.deepEqual(row('key dev'), ['key dev', 'requests_per_minute 60, concurrency 4', '-']);
  assert.deepEqual(row('project search')?.[2], '100 a month (alerts 80%, 100%), 1000.5 in all');
  assert.deepEqual(row('model embed'), ['model embed', 'items_per_day 7', '-']);
  assert.deepEqual(row('upstream up'), ['upstream up', 'tokens_per_minute 1000', '-']);
  const prices = lines
    .slice(lines.findIndex((line) => line.startsWith('Price of')) + 1)
    .map((line) => line.split(/ {2,}/));
  assert.deepEqual(prices.slice(0, 3), [
    ['embed', 'up', 'embed', 'input 0.02, request 0.000000001, tools.web_search 0.01', 'configured'],
    ['embed', 'up', 'b', 'free', 'configured'],
    ['embed', 'up', 'c', 'unknown', '-'],
  ]);
  assert.doesNotMatch(lines.join('\n'), /0123456789/);

  const { lines: json } = await run(t, withMoney, { json: true });
  const { keys, projects, models, console } = JSON.parse(json.join('\n'));
  assert.deepEqual(keys[0].limits, { requests_per_minute: 60, concurrency: 4 });
  assert.deepEqual(projects[0].budgets[0], { every: 'month', amount: '100', alerts: ['80%', '100%'] });
  assert.deepEqual(models[0].targets[0].price, {
    ...{ input: '0.02', request: '0.000000001', 'tools.web_search': '0.01' },
    source: 'configured',
  });
  assert.deepEqual(console, { address: 'http://0.0.0.0:4001', token: true });
  assert.doesNotMatch(json.join('\n'), /0123456789/);
});

test('discovered endpoints and a learned concurrency limit are shown for upstreams that have them', async (t) => {
  const text = `upstreams:
  - { id: pods, family: openai, base_url: "http://pods.test/v1", endpoints: dns, limits: { concurrency: auto } }
  - { id: listed, family: openai, base_url: "http://10.0.0.7/v1", endpoints: [10.0.0.7, 10.0.0.8], endpoint_zone: [10.0.0.7] }
  - { id: plain, family: openai, base_url: "http://name.test/v1" }
`;
  const { lines } = await run(t, text);
  const [, limits = [], endpoints] = rowsIn(lines, 'pods ');
  assert.deepEqual(limits[2], 'auto, 2 to 256');
  assert.deepEqual(endpoints, ['pods', 'dns', '-']);
  assert.deepEqual(rowsIn(lines, 'listed ').at(2), ['listed', '10.0.0.7, 10.0.0.8', '10.0.0.7']);
  assert.equal(rowsIn(lines, 'plain ').length, 2);
});

test('--json prints the data of the tables as typed values', async (t) => {
  const { lines } = await run(t, underFire, { json: true }, { 'ca.pem': localhostCertificate });
  const { upstreams, models } = JSON.parse(lines.join('\n'));
  const [main, spare] = upstreams;
  assert.deepEqual(
    [main.credentials, spare.credentials],
    [
      [
        { id: 'key 1', weight: 1 },
        { id: 'key 2', weight: 3 },
      ],
      [],
    ],
  );
  assert.deepEqual(main.limits, { concurrency: 8, queue: 256, queue_timeout: '1s' });
  assert.deepEqual(main.tls, { ca: true, cert: false, key: false, server_name: 'in.example' });
  assert.deepEqual(main.health_check, { path: '/health?...', interval: '5s', timeout: '2s' });
  assert.deepEqual([spare.tls, spare.health_check], [null, null]);
  const [embed, free] = models;
  assert.deepEqual(
    [embed.balance, embed.retry, embed.hedge],
    ['fastest', { scope: 'safe', attempts: 3 }, { after: 'p95' }],
  );
  assert.deepEqual(embed.targets[1], {
    upstream: 'spare',
    model: 'embed',
    bridge: null,
    priority: 0,
    weight: 2,
    scores: null,
    price: null,
  });
  assert.deepEqual([embed.space, free.space, free.hedge], ['embed', 'each name its own', null]);
  assert.doesNotMatch(lines.join('\n'), /[01]123456789/);
});

test('without a file, check shows the built-in configuration', async (t) => {
  const { code, lines } = await run(t, undefined);
  assert.equal(code, 0);
  assert.match(String(lines[0]), /no configuration file; the built-in configuration is in force/);
  assert.ok(lines.some((line) => line.startsWith('local/hash-embed')));
});

test('check shows the score scale of rerank models, or that it is unknown', async (t) => {
  const text = `upstreams: [{ id: up, family: ranker }]
models:
  - { id: known, operations: [rerank], scores: sigmoid, targets: [{ upstream: up, scores: raw }] }
  - { id: unknown, operations: [rerank], targets: [{ upstream: up }] }
`;
  const { lines } = await run(t, text, { json: true });
  const { models } = JSON.parse(lines.join('\n'));
  assert.deepEqual([models[0].scores, models[0].targets[0].scores], ['sigmoid', 'raw']);
  assert.deepEqual([models[1].scores, models[1].targets[0].scores], ['unknown', 'unknown']);
  const { lines: table } = await run(t, text);
  assert.equal(table.find((line) => line.startsWith('unknown '))?.split(/ {2,}/)[5], 'unknown');
});

test('check shows the response shape of a model or key', async (t) => {
  const text = `upstreams: [{ id: up, family: ranker }]
models: [{ id: rank, operations: [rerank], shape: voyage, targets: [{ upstream: up }] }]
keys: [{ id: dev, secret: a-secret-of-24-characters, models: [rank], shape: jina }]
`;
  const { lines } = await run(t, text);
  const under = (head: string, start: string) => {
    const at = lines.findIndex((line) => line.startsWith(head));
    const column = lines[at]?.split(/ {2,}/).indexOf('Shape') ?? -1;
    return lines
      .slice(at)
      .find((line) => line.startsWith(start))
      ?.split(/ {2,}/)[column];
  };
  assert.deepEqual([under('Model ', 'rank '), under('Key ', 'dev ')], ['voyage', 'jina']);
  const { models, keys } = JSON.parse((await run(t, text, { json: true })).lines.join('\n'));
  assert.deepEqual([models[0].shape, keys[0].shape], ['voyage', 'jina']);
});

test('--json prints one object, with either the configuration or the faults', async (t) => {
  const plan = await run(t, good, { json: true });
  const shown = JSON.parse(plan.lines.join('\n'));
  assert.deepEqual([plan.code, shown.ok, shown.file], [0, true, 'postern.yaml']);
  assert.deepEqual(shown.upstreams[0].credentials, [{ id: 'key', weight: 1 }]);
  assert.doesNotMatch(plan.lines.join('\n'), /0123456789|a-secret/);

  const faulty = await run(t, 'modles: []', { json: true });
  assert.equal(faulty.code, 1);
  assert.deepEqual(JSON.parse(faulty.lines.join('\n')), {
    ok: false,
    file: 'postern.yaml',
    faults: [{ path: 'modles', line: 1, column: 1, message: 'unknown key; did you mean models?' }],
  });
});

test('a missing file given by --config is a fault that names the file', async (t) => {
  const { code, lines, cwd } = await run(t, undefined, { config: '../elsewhere.yaml' });
  assert.equal(code, 1);
  assert.deepEqual(lines, [
    `${join(cwd, '../elsewhere.yaml')}  the configuration file cannot be used: there is no such file`,
  ]);
});

test("a note names related operations that a model's targets offer and its configuration leaves out", async (t) => {
  const text = `
upstreams:
  - { id: up, family: openai, api_key: sk-0123456789 }
models:
  - { id: a, operations: [images, transcriptions], targets: [{ upstream: up }] }
  - { id: b, operations: [images], targets: [{ upstream: up }] }
  - { id: c, operations: [images, image_edits, image_variations], targets: [{ upstream: up }] }
keys: []
`;
  const { code, lines } = await run(t, text, {}, {}, families);
  assert.equal(code, 0);
  const behind = 'which the targets offer; name them under operations where clients ask for them';
  assert.deepEqual(
    lines.filter((line) => line.startsWith('note: ')),
    [
      `note: the models a, b serve images without image_edits and image_variations, ${behind}`,
      `note: the model a serves transcriptions without translations, ${behind}`,
    ],
  );
  const { lines: json } = await run(t, text, { json: true }, {}, families);
  assert.equal((JSON.parse(json.join('\n')) as { notes: string[] }).notes.length, 2);
});

test('check prints no line longer than 120 characters', async (t) => {
  const url = `http://${'long-'.repeat(20)}host.example.com/${'path/'.repeat(30)}v1`;
  const models = Array.from({ length: 3 }, (_, at) => ({
    id: `a-model-with-a-rather-long-name-${at}`,
    aliases: Array.from({ length: 12 }, (_, alias) => `an-alias-of-it-${at}-${alias}`),
    operations: ['embeddings', 'rerank'],
    targets: [{ upstream: 'one', model: 'the/name/that/the/upstream/has/for/it' }],
  }));
  const upstreams = [{ id: 'one', family: 'openai', base_url: url }];
  const keys = [{ id: 'k', secret: 'a-secret-of-sixteen-and-more', models: ['nope-'.repeat(12)] }];
  const { code, lines } = await run(t, JSON.stringify({ upstreams, models, keys }), {}, {}, families);
  assert.equal(code, 0, lines.join('\n'));
  assert.deepEqual(
    lines.filter(({ length }) => length > 120),
    [],
  );
  // Nothing is truncated.
  assert.equal(rowsIn(lines, 'one ')[0]?.[2]?.replaceAll(' ', ''), url);
  assert.doesNotMatch(lines.join('\n'), /undefined/);
});

test('check --brief prints only counts and warnings', async (t) => {
  const text = JSON.stringify({
    upstreams: [{ id: 'one', family: 'openai', base_url: 'http://127.0.0.1:1/v1' }],
    models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'one' }] }],
    keys: [{ id: 'k', secret: 'a-secret-of-sixteen-and-more', models: ['nope'] }],
  });
  const { code, lines } = await run(t, text, { brief: true });
  assert.equal(code, 0);
  assert.deepEqual(lines, [
    'postern.yaml is valid.',
    'It has 1 upstream, 1 model, 1 key.',
    '',
    'warning: keys[0].models[0]: there is no model "nope" as yet',
  ]);
});

test('a base_url with two schemes is refused, and an unknown fallbacks setting gets a hint', async (t) => {
  const { code, lines } = await run(
    t,
    JSON.stringify({
      upstreams: [{ id: 'one', family: 'openai', base_url: 'https://https://api.example.com/v1' }],
      models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'one' }], fallbacks: ['n'] }],
    }),
  );
  assert.equal(code, 1);
  const text = lines.join('\n');
  assert.match(text, /upstreams\[0\]\.base_url {2}begins with http:\/\/ or https:\/\/ twice; write it once/);
  assert.match(text, /models\[0\]\.fallbacks {2}unknown key; a fallback is a target with a later priority/);
});

test('each fault and warning is one line, tables fit 120 columns, and no heading is upper case', async (t) => {
  const upstreams = [{ id: 'one', family: 'openai', base_url: 'http://127.0.0.1:1/v1', nonsense: 1 }];
  const faulty = await run(t, JSON.stringify({ upstreams }));
  assert.equal(faulty.code, 1);
  assert.equal(faulty.lines.length, 1, 'grep and editors read a line at a time');
  assert.match(
    faulty.lines[0] ?? '',
    /upstreams\[0\]\.nonsense {2}unknown key; known here: .*, timeouts.*answer_limit$/,
  );

  const env = Object.fromEntries(
    ['HOST', 'PORT', 'BODY_LIMIT', 'BODY_WAIT', 'UPLOAD_LIMIT', 'MAX_CONNECTIONS'].map((name) => [
      `POSTERN_SERVER_${name}`,
      name === 'HOST' ? '127.0.0.1' : name === 'BODY_WAIT' ? '5s' : name.endsWith('LIMIT') ? '32MiB' : '4100',
    ]),
  );
  const { code, lines } = await run(t, good, {}, {}, undefined, env);
  assert.equal(code, 0, lines.join('\n'));
  const at = lines.findIndex((line) => line.startsWith('Set outside of it: '));
  assert.match(lines[at] ?? '', /POSTERN_SERVER_MAX_CONNECTIONS/);
  assert.ok(
    lines.every((line) => !/\b(null|undefined)\b/.test(line)),
    lines.join('\n'),
  );
  assert.ok(lines.every(({ length }, index) => length <= 120 || index === at));
  assert.deepEqual(
    lines.filter((line) => /^[A-Z]{2,} *( |$)/.test(line)),
    [],
  );
});
