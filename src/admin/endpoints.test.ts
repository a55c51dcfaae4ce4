import assert from 'node:assert/strict';
import { readdir, readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { test } from 'node:test';
import { tags } from './endpoint.ts';
import { endpoints } from './endpoints.ts';

const folder = import.meta.dirname;
const toName = ({ method, path }: { method: string; path: string }): string => `${method} ${path}`;

/** The endpoints of each feature's `contract/` file. */
async function readContracts(): Promise<Map<string, string[]>> {
  const paths = await readdir(folder, { recursive: true });
  const contracts = new Map<string, string[]>();
  for (const path of paths.filter((one) => /^[a-z-]+[/\\]contract[/\\][a-z-]+\.ts$/.test(one))) {
    const values: unknown[] = Object.values(await import(join(folder, path)));
    contracts.set(path, values.filter(isEndpoint).map(toName));
  }
  return contracts;
}

const isEndpoint = (value: unknown): value is { method: string; path: string } =>
  typeof value === 'object' && value !== null && 'method' in value && 'path' in value && 'needs' in value;

test('exactly the endpoints that the contract declares are implemented', async () => {
  const said = [...(await readContracts()).values()].flat();
  const done = endpoints.map(toName).filter((name) => name !== 'GET /api/openapi.json');
  assert.ok(done.length > 70);
  assert.deepEqual(done.toSorted(), said.toSorted());
});

test('each file of endpoint definitions is imported by contract.ts, which the console uses', async () => {
  const contract = await readFile(join(folder, 'contract.ts'), 'utf8');
  for (const [path, names] of await readContracts()) {
    if (names.length === 0) continue;
    const name = basename(path, '.ts');
    assert.ok(contract.includes(`import type * as ${name} from './${path.replaceAll('\\', '/')}';`), path);
    assert.match(contract, new RegExp(`\\| typeof ${name}\\b`), path);
  }
});

test('the list of endpoints is grouped by tag, in the order of tags in the OpenAPI document', () => {
  assert.deepEqual([...new Set(endpoints.map(({ tag }) => tag))], [...tags]);
});
