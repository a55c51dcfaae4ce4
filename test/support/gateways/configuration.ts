/** Loads configurations from text, with a few minimal families. */

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { type LoadedConfiguration, type LoadOptions, loadConfiguration } from '../../../src/config/load.ts';
import type { Fault } from '../../../src/config/read/faults.ts';
import { bearer, defineFamily, type Family } from '../../../src/core/family.ts';

const openai = defineFamily({
  id: 'openai',
  title: 'OpenAI and compatible services',
  baseUrl: 'https://api.openai.test/v1',
  auth: bearer(),
  starter: {
    apiKeyEnv: 'OPENAI_API_KEY',
    models: [
      { id: 'embed-large', operations: ['embeddings'] },
      { id: '4.1-instruct', operations: ['completions'] },
    ],
  },
  offers: {
    openai: {
      completions: { path: '/completions' },
      edits: { path: '/edits' },
      moderations: { path: '/moderations' },
      embeddings: { path: '/embeddings' },
    },
    engines: { embeddings: { path: '/engines/{model}/embeddings', onlyWhen: 'legacy_engines' } },
  },
});

const ranker = defineFamily({
  id: 'ranker',
  title: 'A service with its own header, and no legacy path',
  baseUrl: 'https://ranker.test',
  auth: { header: 'x-ranker-key', prefix: '' },
  starter: { apiKeyEnv: 'RANKER_API_KEY', models: [{ id: 'embed-large', operations: ['embeddings'] }] },
  offers: { openai: { rerank: { path: '/rerank' }, embeddings: { path: '/embed' } } },
});

const homemade = defineFamily({
  id: 'homemade',
  title: 'A service that stands wherever its owner put it',
  offers: { openai: { embeddings: { path: '/embed' } } },
});

const local = defineFamily({
  id: 'local',
  title: 'Built in, no network',
  builtIn: [
    { id: 'local/hash-embed', operations: ['embeddings'] },
    { id: 'local/echo', operations: ['completions', 'edits'] },
  ],
  offers: {
    openai: {
      completions: { path: '/completions', make: () => ({ status: 200, headers: [], body: Buffer.alloc(0) }) },
      edits: { path: '/edits', make: () => ({ status: 200, headers: [], body: Buffer.alloc(0) }) },
      embeddings: { path: '/embeddings', make: () => ({ status: 200, headers: [], body: Buffer.alloc(0) }) },
    },
  },
});

export const sampleFamilies: readonly Family[] = [openai, ranker, homemade, local];

/** A directory that goes when the test does, with files in it. */
export async function createDirectory(
  test: TestContext,
  files: Readonly<Record<string, string>> = {},
): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-'));
  // What still runs in it writes there for a moment: where this failed, nothing that is to end after it would.
  test.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }).catch(() => undefined));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  return directory;
}

interface Surroundings
  extends Partial<
    Pick<LoadOptions, 'env' | 'nowMs' | 'availableBytes' | 'availableCores' | 'families' | 'loadTakenPaths'>
  > {
  /** Beside the configuration file. */
  readonly files?: Readonly<Record<string, string>>;
}

export async function loadText(test: TestContext, text: string, { files = {}, ...options }: Surroundings = {}) {
  const cwd = await createDirectory(test, { ...files, 'postern.yaml': text });
  return loadConfiguration({ env: {}, families: sampleFamilies, ...options, cwd });
}

export async function loaded(
  test: TestContext,
  text: string,
  surroundings?: Surroundings,
): Promise<LoadedConfiguration> {
  const result = await loadText(test, text, surroundings);
  assert.ok(result.ok, `faults: ${JSON.stringify('faults' in result ? result.faults : [])}`);
  // Few of these texts have keys, as nothing is called; what is said of that has a test of its own.
  return { ...result, warnings: result.warnings.filter((text) => !text.includes('has no credential')) };
}

export async function faultsOf(
  test: TestContext,
  text: string,
  surroundings?: Surroundings,
): Promise<readonly Fault[]> {
  const result = await loadText(test, text, surroundings);
  assert.ok(!result.ok, 'the configuration is accepted');
  return result.faults;
}

export interface FaultRow {
  readonly text: string;
  readonly line: number;
  readonly path: string;
  readonly error: RegExp;
  /** Beside the configuration file. */
  readonly files?: Readonly<Record<string, string>>;
}

/** Each text has its one fault, and no other. */
export async function assertFaults(t: TestContext, rows: readonly FaultRow[]): Promise<void> {
  for (const { text, line, path, error, files = {} } of rows) {
    await t.test(`${path}: ${error.source}`, async (t) => {
      const faults = await faultsOf(t, text, { files });
      const locations = faults.map((fault) => [fault.line, fault.path]);
      assert.deepEqual(locations, [[line, path]], JSON.stringify(faults));
      assert.match(String(faults[0]?.message), error);
    });
  }
}
