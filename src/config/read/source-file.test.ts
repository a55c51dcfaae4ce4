import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { digestOf } from '../../lib/secrets/key-secret.ts';
import { readSourceText } from './source.ts';
import { readSource, readSourceFile } from './source-file.ts';

const kibibyte = 1024;

async function inFile(t: TestContext, text: string): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-source-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  const file = join(directory, 'postern.yaml');
  await writeFile(file, text);
  return file;
}

const models = (count: number): string =>
  Array.from({ length: count }, (_, index) => `  - id: model-${index}\n    targets: [{ upstream: a }]\n`).join('');

test('a large file, which a thread parses, gives the same result as a small one', async (t) => {
  for (const text of [
    `models:\n${models(1_400)}`,
    `first: &anchor { a: 1 }\nsecond: *anchor\nmodels:\n${models(1_400)}`,
    `models:\n${models(1_400)}models: []\n`,
    `models:\n${models(1_400)}  -id: {`,
    `# ${'x'.repeat(100 * kibibyte)}\n`,
  ]) {
    assert.ok(text.length > 64 * kibibyte);
    assert.deepEqual(await readSourceFile(await inFile(t, text)), readSourceText(text), text.slice(0, 20));
  }
});

test('a configuration file that is too large or missing is reported as such', async (t) => {
  const tooLarge = await readSourceFile(await inFile(t, `a: ${'x'.repeat(5 * 1024 * kibibyte)}`));
  assert.match(tooLarge.faults[0]?.message ?? '', /cannot be used: it is larger than 4096 KiB/);
  const missing = await readSourceFile(join(tmpdir(), 'no-such-file.yaml'));
  assert.match(missing.faults[0]?.message ?? '', /cannot be used: there is no such file/);
});

test('a cached file is parsed again only when its bytes change, and the cache holds no secrets of keys', async (t) => {
  const key = (secret: string): string => `keys:\n  - { id: k, secret: ${secret} }\n`;
  const file = await inFile(t, key('a-secret-with-enough-characters'));
  const first = await readSource(file);
  assert.notEqual((await readSource(file)).source.tree, first.source.tree, 'it was kept without being asked to');
  first.keep();
  const { source } = await readSource(file);
  assert.equal(JSON.stringify(source.tree).includes('a-secret-with-enough-characters'), false);
  const digest = digestOf('a-secret-with-enough-characters');
  assert.equal(JSON.stringify(source.tree), JSON.stringify({ keys: [{ id: 'k', secret_sha256: digest }] }));
  assert.equal((await readSource(file)).source.tree, source.tree);
  assert.deepEqual(source.positionOf(['keys', 0, 'secret']), first.source.positionOf(['keys', 0, 'secret']));
  source.faults.add([], 'of one load');
  assert.deepEqual((await readSource(file)).source.faults.all(), []);
  await writeFile(file, key('another-secret-of-enough-characters'));
  assert.match(JSON.stringify((await readSource(file)).source.tree), /"secret":"another-secret/);
});

test('a file whose secrets come from the environment is not cached', async (t) => {
  const file = await inFile(t, `keys: [{ id: k, secret: "\${KEY}" }]\n`);
  const { source, keep } = await readSource(file);
  keep();
  assert.notEqual((await readSource(file)).source.tree, source.tree);
});

test('a file that changes while it is read is not cached under its earlier bytes', async (t) => {
  const before = `models:\n${models(1_400)}`;
  const file = await inFile(t, before);
  const reading = readSource(file);
  await wait(2);
  // A thread reads a large file, and takes a while to start.
  await writeFile(file, `before: false\n${before}`);
  (await reading).keep();
  await writeFile(file, before);
  assert.doesNotMatch(JSON.stringify((await readSource(file)).source.tree), /"before":false/);
});
