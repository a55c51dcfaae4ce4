import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createDirectory, sampleFamilies } from '../../test/support/configuration.ts';
import { check } from './check.ts';

async function run(t: TestContext, text: string | undefined, values: Record<string, string | boolean> = {}) {
  const cwd = await createDirectory(t, text === undefined ? {} : { 'postern.yaml': text });
  const lines: string[] = [];
  const stdout = (line: string): void => void lines.push(...line.split('\n'));
  const context = { values, positionals: [], env: {}, cwd, families: sampleFamilies, stdout, stderr: stdout };
  return { code: await check.run(context), lines, cwd };
}

const good = `
upstreams:
  - { id: up, family: openai, api_key: sk-0123456789 }
models:
  - { id: embed, aliases: [e], operations: [embeddings], hedge: true, targets: [{ upstream: up, model: embed-large }] }
  - { id: edit, visible: false, operations: [edits], targets: [{ upstream: up }] }
keys:
  - { id: dev, secret: a-secret-of-24-characters, models: [nope], expires: 2099-01-31 }
`;

test('every fault is a line with its place, and the exit code is 1', async (t) => {
  const { code, lines } = await run(t, 'models:\n  - id: m\n    visble: true\n    targets: []\nkeys: 1\n');
  assert.equal(code, 1);
  assert.deepEqual(lines, [
    'postern.yaml:3  models[0].visble  unknown key; did you mean visible?',
    'postern.yaml:4  models[0].targets  wanted: at least one; came: an empty list',
    'postern.yaml:5  keys  wanted: a list; came: a number',
  ]);
});

test('a good configuration is shown as tables, then warnings and notices, without secrets', async (t) => {
  const { code, lines } = await run(t, good);
  assert.equal(code, 0);
  assert.equal(lines[0], 'postern.yaml is valid.');
  const row = (start: string) => lines.find((line) => line.startsWith(start))?.split(/ {2,}/);
  assert.deepEqual(row('body_limit'), ['body_limit', '32MiB']);
  assert.deepEqual(row('up '), [
    'up',
    'openai',
    'https://api.openai.test/v1',
    '1',
    '2s',
    '1m; completions 10m',
    '1m',
    '5m; completions 15m',
  ]);
  assert.deepEqual(row('embed '), ['embed', 'e', 'embeddings', 'yes', 'embed-large', 'up: embed-large']);
  assert.deepEqual(row('edit '), ['edit', '-', 'edits', 'no', '-', 'up: edit']);
  assert.deepEqual(row('dev '), ['dev', 'nope', 'all', 'any', '2099-01-31T00:00:00.000Z']);
  assert.deepEqual(lines.slice(-2), [
    'warning: keys[0].models[0]: there is no model "nope"',
    'notice: models[0].hedge has no effect in this version',
  ]);
  assert.doesNotMatch(lines.join('\n'), /0123456789|a-secret/);
});

test('without a file the built-in configuration is shown', async (t) => {
  const { code, lines } = await run(t, undefined);
  assert.equal(code, 0);
  assert.match(String(lines[0]), /no configuration file; the built-in configuration holds/);
  assert.ok(lines.some((line) => line.startsWith('local/hash-embed')));
});

test('for a script there is one JSON object, of the plan or of the faults', async (t) => {
  const plan = await run(t, good, { json: true });
  const shown = JSON.parse(plan.lines.join('\n'));
  assert.deepEqual([plan.code, shown.ok, shown.file], [0, true, 'postern.yaml']);
  assert.deepEqual(shown.upstreams[0].credentials, 1);
  assert.deepEqual(shown.notices, ['models[0].hedge has no effect in this version']);
  assert.doesNotMatch(plan.lines.join('\n'), /0123456789|a-secret/);

  const faulty = await run(t, 'modles: []', { json: true });
  assert.equal(faulty.code, 1);
  assert.deepEqual(JSON.parse(faulty.lines.join('\n')), {
    ok: false,
    file: 'postern.yaml',
    faults: [{ path: 'modles', line: 1, column: 1, message: 'unknown key; did you mean models?' }],
  });
});

test('a file that is named and missing is a fault that names it', async (t) => {
  const { code, lines, cwd } = await run(t, undefined, { config: '../elsewhere.yaml' });
  assert.equal(code, 1);
  assert.deepEqual(lines, [
    `${join(cwd, '../elsewhere.yaml')}  the configuration file cannot be used: there is no such file`,
  ]);
});
