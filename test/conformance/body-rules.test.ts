/** What the body of a request may be: text, depth, kinds of fields, fields that stand twice. Nothing else reaches an upstream. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { ErrorCode } from '../../src/core/errors.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

interface Setup {
  readonly rig: Rig;
  readonly upstream: FakeUpstream;
}

async function open(t: TestContext): Promise<Setup> {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    server: { body_limit: '1MiB' },
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: [{ id: 'm', targets: [{ upstream: 'up' }] }],
  });
  return { rig, upstream };
}

async function passes({ rig, upstream }: Setup, path: string, body: string | Buffer): Promise<void> {
  const answer = await rig.post(path, body);
  assert.equal(answer.status, 200, `${path} ${body} ${answer.body}`);
  const sent = (await upstream.nextRequest()).body;
  if (!path.includes('engines')) assert.ok(sent.equals(Buffer.from(body)), `${path} ${body} became ${sent}`);
}

async function refuses(
  { rig, upstream }: Setup,
  path: string,
  body: string | Buffer,
  code: ErrorCode,
  param: string | null = null,
): Promise<void> {
  const seen = upstream.receivedBytes;
  assertError(await rig.post(path, body), code, { param, of: `${path} ${body}`.slice(0, 300) });
  assert.equal(upstream.receivedBytes, seen);
}

/** The fields that a route must have beside the one under test. */
const rest: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '/v1/completions': { prompt: '"p"' },
  '/v1/edits': { input: '"i"', instruction: '"do"' },
  '/v1/rerank': { query: '"q"', documents: '["d"]' },
  '/v1/moderations': { input: '"i"' },
  '/v1/embeddings': { input: '"i"' },
  '/v1/engines/m/embeddings': { input: '"i"' },
};

function bodyWith(path: string, name: string, value: string): string {
  const fields = Object.entries({ model: '"m"', ...rest[path], [name]: value });
  return `{${fields.map(([field, text]) => `"${field}":${text}`).join(',')}}`;
}

const samples = {
  string: '"s"',
  'an empty string': '""',
  number: '7',
  object: '{}',
  boolean: 'false',
  'an empty array': '[]',
  'array of strings': '["a","b"]',
  'array of numbers': '[1,2]',
  'array of arrays': '[[1],[2]]',
  'array of objects': '[{"text":"a"},{}]',
  'array of booleans': '[true]',
  'array of null': '[null]',
  'strings, then a number': '["a",1]',
  'strings, then null': '["a",null]',
  'a number, then strings': '[1,"a"]',
} as const;
type Sample = keyof typeof samples;

const kinds: readonly { path: string; field: string; takes: readonly Sample[] }[] = [
  {
    path: '/v1/completions',
    field: 'prompt',
    takes: [
      'string',
      'an empty string',
      'an empty array',
      'array of strings',
      'array of numbers',
      'array of arrays',
      'strings, then a number',
      'strings, then null',
      'a number, then strings',
    ],
  },
  { path: '/v1/edits', field: 'input', takes: ['string', 'an empty string'] },
  { path: '/v1/edits', field: 'instruction', takes: ['string', 'an empty string'] },
  { path: '/v1/rerank', field: 'query', takes: ['string', 'an empty string', 'object'] },
  {
    path: '/v1/rerank',
    field: 'documents',
    takes: ['an empty array', 'array of strings', 'array of objects', 'strings, then a number', 'strings, then null'],
  },
  {
    path: '/v1/moderations',
    field: 'input',
    takes: [
      'string',
      'an empty string',
      'an empty array',
      'array of strings',
      'array of objects',
      'strings, then a number',
      'strings, then null',
    ],
  },
  {
    path: '/v1/embeddings',
    field: 'input',
    takes: [
      'string',
      'an empty string',
      'an empty array',
      'array of strings',
      'array of numbers',
      'array of arrays',
      'array of objects',
      'array of booleans',
      'array of null',
      'strings, then a number',
      'strings, then null',
      'a number, then strings',
    ],
  },
  {
    path: '/v1/engines/m/embeddings',
    field: 'input',
    takes: ['string', 'an empty string', 'an empty array', 'array of strings'],
  },
];

for (const { path, field, takes } of kinds) {
  test(`${path} takes ${field} as ${takes.length} of ${Object.keys(samples).length} types, and refuses the rest`, async (t) => {
    const setup = await open(t);
    const taken = new Set<string>(takes);
    for (const [name, value] of Object.entries(samples)) {
      const body = bodyWith(path, field, value);
      if (taken.has(name)) await passes(setup, path, body);
      else await refuses(setup, path, body, 'invalid_type', field);
    }
    await refuses(setup, path, bodyWith(path, field, 'null'), 'missing_required_parameter', field);
    await refuses(
      setup,
      path,
      bodyWith(path, field, 'null').replace(`"${field}"`, '"other"'),
      'missing_required_parameter',
      field,
    );
  });
}

test('on the legacy engines path, an input list with one non-string element gets 400, at any position', async (t) => {
  const setup = await open(t);
  const texts = Array.from({ length: 2000 }, (_, index) => `"text ${index}"`);
  await passes(setup, '/v1/engines/m/embeddings', `{"input":[${texts}]}`);
  for (const stranger of ['1', 'null', '[1]', '{}', 'true']) {
    for (const at of [0, 1, 1000, 2000]) {
      const body = `{"input":[${texts.toSpliced(at, 0, stranger)}]}`;
      await refuses(setup, '/v1/engines/m/embeddings', body, 'invalid_type', 'input');
    }
  }
});

test('a model in the body must be a string', async (t) => {
  const setup = await open(t);
  for (const path of Object.keys(rest)) {
    if (path.includes('engines')) continue;
    for (const value of ['7', 'true', '{}', '["m"]', '[]']) {
      await refuses(setup, path, bodyWith(path, 'model', value), 'invalid_type', 'model');
    }
    await refuses(setup, path, bodyWith(path, 'model', 'null'), 'missing_required_parameter', 'model');
    await refuses(setup, path, bodyWith(path, 'model', '""'), 'model_not_found', 'model');
  }
});

test('dimensions must be a number on both embeddings routes, in any spelling', async (t) => {
  const setup = await open(t);
  const paths = Object.keys(rest).filter((route) => route.endsWith('/embeddings'));
  assert.equal(paths.length, 2);
  for (const path of paths) {
    for (const value of ['0', '-1', '1.0', '1e2', '1E+2', '12345678901234567890', '0.5', 'null']) {
      await passes(setup, path, bodyWith(path, 'dimensions', value));
    }
    for (const value of ['"8"', 'true', '[8]', '{}']) {
      await refuses(setup, path, bodyWith(path, 'dimensions', value), 'invalid_type', 'dimensions');
    }
    await refuses(setup, path, bodyWith(path, 'dimensions', '08'), 'invalid_json');
  }
  // Elsewhere it is a field like any other, and so is every optional field.
  for (const other of Object.keys(rest).filter((route) => !paths.includes(route))) {
    await passes(setup, other, bodyWith(other, 'dimensions', '"8"'));
  }
  const path = '/v1/embeddings';
  for (const name of ['stream', 'top_n', 'n', 'user', 'encoding_format', 'return_documents']) {
    for (const value of ['null', '"x"', '[{}]', '1e400', 'true'])
      await passes(setup, path, bodyWith(path, name, value));
  }
});

/** Every field that a route reads, in spellings that some server takes for the same one. */
const doubles: readonly [path: string, field: string, spellings: readonly string[]][] = [
  [
    '/v1/completions',
    'model',
    ['model', 'Model', 'MODEL', 'mOdEl', '\\u006dodel', 'm\\u004fdel', '\\u004D\\u004F\\u0044\\u0045\\u004C'],
  ],
  ['/v1/completions', 'prompt', ['prompt', 'Prompt', 'promp\\u0074', 'PROMP\\u0054']],
  ['/v1/edits', 'model', ['MODEL']],
  ['/v1/edits', 'input', ['input', 'Input', '\\u0069nput']],
  ['/v1/edits', 'instruction', ['instruction', 'inSTRUCTION', 'in\u017ftruction', 'in\\u017Ftruction']],
  ['/v1/rerank', 'model', ['moDel']],
  ['/v1/rerank', 'query', ['query', 'QUERY', 'quer\\u0079']],
  ['/v1/rerank', 'documents', ['documents', 'Documents', 'document\u017f', 'DOCUMENT\\u017f']],
  ['/v1/moderations', 'model', ['Model']],
  ['/v1/moderations', 'input', ['input', 'INPUT', 'i\\u004eput']],
  ['/v1/embeddings', 'model', ['model', 'mode\\u006c']],
  ['/v1/embeddings', 'input', ['input', 'inpUt']],
  ['/v1/embeddings', 'dimensions', ['dimensions', 'DIMENSIONS', 'dimen\u017fion\u017f', 'd\\u0069mensions']],
  ['/v1/engines/m/embeddings', 'model', ['model', 'Model', '\\u004dodel']],
  ['/v1/engines/m/embeddings', 'input', ['input', 'INput']],
];

test('a field that Postern reads may occur once, in any case and escaping', async (t) => {
  const setup = await open(t);
  for (const [path, field, spellings] of doubles) {
    const fields = Object.entries({ model: '"m"', ...rest[path], dimensions: '8' });
    const good = `{${fields.map(([name, value]) => `"${name}":${value}`).join(',')}}`;
    await passes(setup, path, good);
    for (const spelling of spellings) {
      for (const value of ['"m"', 'null', '[]']) {
        // Before and behind the one that counts, and not next to it.
        await refuses(setup, path, good.replace('{', `{"${spelling}":${value},"x":0,`), 'duplicate_parameter', field);
        await refuses(
          setup,
          path,
          good.replace(/\}$/, `,"x":{},"${spelling}" : ${value} }`),
          'duplicate_parameter',
          field,
        );
      }
    }
  }
});

test('duplicate rerank fields that only some upstreams need, such as top_k, get 400 as well', async (t) => {
  const setup = await open(t);
  for (const field of [
    'top_n',
    'top_k',
    'return_documents',
    'max_tokens_per_doc',
    'max_chunks_per_doc',
    'rank_fields',
  ]) {
    const good = `{"model":"m","query":"q","documents":["a"],"${field}":null}`;
    await passes(setup, '/v1/rerank', good);
    await refuses(setup, '/v1/rerank', good.replace('{', `{"${field.toUpperCase()}":1,`), 'duplicate_parameter', field);
  }
});

test('unknown fields, and names below the top level, may be duplicates', async (t) => {
  const setup = await open(t);
  for (const more of [
    '"x":1,"x":2,"X":3',
    '"dimension":1,"modelx":"a","mode":"b","model ":"c"," model":"d","model\\u0000":"e"',
    '"a":{"model":"x","Model":"y","model":"z","input":1,"input":2},"b":[{"model":1,"model":2}]',
    '"prompt":1,"Prompt":2,"query":3,"QUERY":4',
    '"__proto__":{"model":"x"},"__proto__":{"input":"x"},"constructor":{"model":"y"}',
    '"":1,"":2',
  ]) {
    await passes(setup, '/v1/embeddings', `{"model":"m",${more},"input":"x"}`);
  }
  // The same fields are read on the routes that they belong to.
  await passes(
    setup,
    '/v1/completions',
    '{"model":"m","prompt":"x","input":1,"Input":2,"dimensions":"x","DIMENSIONS":"y"}',
  );
});

test('64 nesting levels pass, 65 are refused at any length', async (t) => {
  const setup = await open(t);
  const nested = (levels: number, open_ = '[', close = ']'): string =>
    `{"model":"m","input":"x","x":${open_.repeat(levels - 1)}${close === ']' ? '' : '0'}${close.repeat(levels - 1)}}`;
  await passes(setup, '/v1/embeddings', nested(64));
  await refuses(setup, '/v1/embeddings', nested(65), 'body_too_deep');
  await passes(setup, '/v1/embeddings', nested(64, '{"x":', '}'));
  await refuses(setup, '/v1/embeddings', nested(65, '{"x":', '}'), 'body_too_deep');
  await refuses(setup, '/v1/embeddings', '['.repeat(500_000), 'body_too_deep');
  await refuses(setup, '/v1/embeddings', '{"a":'.repeat(200_000), 'body_too_deep');
  // Brackets in strings nest nothing.
  await passes(setup, '/v1/embeddings', `{"model":"m","input":"${'['.repeat(1000)}"}`);
});

test('a body that is no JSON object is refused with the byte position', async (t) => {
  const setup = await open(t);
  const rows: readonly (readonly [body: string | Buffer, code: ErrorCode, message?: RegExp])[] = [
    ['', 'invalid_json', /byte 0/],
    [' \t\r\n ', 'invalid_json', /byte 5/],
    ['\ufeff{"model":"m","input":"x"}', 'invalid_json', /byte 0/],
    ['null', 'invalid_type', /null came/],
    ['"text"', 'invalid_type', /a string came/],
    ['7', 'invalid_type', /a number came/],
    ['true', 'invalid_type', /a boolean came/],
    [' [] ', 'invalid_type', /an array came/],
    ['{"model":"m","input":"x"', 'invalid_json', /byte 24/],
    ['{"model":"m","input":"x"}}', 'invalid_json', /byte 25/],
    ['{"model":"m","input":"x"}{}', 'invalid_json', /byte 25/],
    ['{"model":"m","input":"x",}', 'invalid_json', /byte 25/],
    ['{"model":"m" "input":"x"}', 'invalid_json', /byte 13/],
    ["{'model':'m'}", 'invalid_json', /byte 1/],
    ['{model:"m"}', 'invalid_json', /byte 1/],
    ['{"model":"m","input":"x"}//', 'invalid_json', /byte 25/],
    ['{"model":"m","input":NaN}', 'invalid_json'],
    ['{"model":"m","input":undefined}', 'invalid_json'],
    ['{"model":"m","input":01}', 'invalid_json'],
    ['{"model":"m","input":"a\nb"}', 'invalid_json', /byte 23/],
    ['{"model":"m","input":"\u0000"}', 'invalid_json', /byte 22/],
    ['{"model":"m","input":"\\x"}', 'invalid_json'],
    ['{"model":"m","input":"\\u12"}', 'invalid_json'],
    ['{"model":"m","input":"x"}\u0000', 'invalid_json', /byte 25/],
    ['{"model":"m","input":"x"}\u00a0', 'invalid_json', /byte 25/],
    ['model=m&input=x', 'invalid_json', /byte 0/],
    [Buffer.from('{"model":"m","input":"\xc3"}', 'latin1'), 'invalid_json', /UTF-8.*byte 22/],
    [Buffer.from('{"model":"m","input":"\xc0\xaf"}', 'latin1'), 'invalid_json', /UTF-8.*byte 22/],
    [Buffer.from('{"model":"m","input":"\xed\xa0\x80"}', 'latin1'), 'invalid_json', /UTF-8.*byte 22/],
    [Buffer.from('{"model":"m","input":"\xf4\x90\x80\x80"}', 'latin1'), 'invalid_json', /UTF-8.*byte 22/],
    [Buffer.from('{"model":"m","input":"x","\xff":1}', 'latin1'), 'invalid_json', /UTF-8.*byte 26/],
    [Buffer.from('{"model":"m","input":"x"}', 'utf16le'), 'invalid_json'],
    [gzipSync('{"model":"m","input":"x"}'), 'invalid_json', /byte 0/],
  ];
  for (const [body, code, message] of rows) {
    const answer = await setup.rig.post('/v1/embeddings', body);
    assertError(answer, code, { ...(message === undefined ? {} : { message }), of: JSON.stringify(String(body)) });
  }
  assert.equal(setup.upstream.receivedBytes, 0);
});

test('unusual valid JSON passes: lone surrogates, escapes, white space, astral and private characters', async (t) => {
  const setup = await open(t);
  for (const body of [
    '{"model":"m","input":"\\ud800 \\udfff \\udc00\\ud800"}',
    '{"model":"m","input":"\\u0000\\b\\f\\n\\r\\t\\/\\\\\\""}',
    '\r\n\t {\r\n\t "model"\r\n\t :\r\n\t "m"\r\n\t ,"input":"x"}\r\n\t ',
    '{"model":"m","input":"\u{10ffff}\u{f0000}\ufffe\ufeff\u2028\u007f"}',
    '{"input":"x","model":"\\u006d"}',
  ]) {
    await passes(setup, '/v1/embeddings', body);
  }
});

test('the media type may be any JSON in UTF-8, or absent', async (t) => {
  const { rig, upstream } = await open(t);
  const body = '{"model":"m","input":"x"}';
  const post = (type: string | undefined) =>
    rig.post('/v1/embeddings', body, {
      headers: [['x-api-key', testKey], ...(type === undefined ? [] : [['Content-Type', type] as const])],
    });
  for (const type of [
    'application/json',
    'APPLICATION/JSON',
    'application/json; charset=utf-8',
    'application/json;charset="UTF-8"',
    'application/json ;profile=x; charset=utf8',
    'application/vnd.api+json',
    'application/problem+json; a=b',
  ]) {
    assert.equal((await post(type)).status, 200, type);
    assert.equal((await upstream.nextRequest()).header('content-type'), type);
  }
  const seen = upstream.requests.length;
  for (const type of [
    'text/plain',
    'text/json',
    'application/jsonl',
    'application/x-ndjson',
    'application/json+',
    'json',
    '+json',
    'multipart/form-data; boundary=x',
    'application/json; charset=latin1',
    'application/json; charset=utf-16',
    'text/plain; application/json',
    'application/json, text/plain',
    'application/x-www-form-urlencoded',
  ]) {
    assertError(await post(type), 'unsupported_media_type', { of: type });
  }
  assert.equal(upstream.requests.length, seen);
});
