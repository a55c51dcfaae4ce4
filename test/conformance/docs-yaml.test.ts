/**
 * Every YAML block of the docs is given to `postern check`; a part of a configuration is completed with what it refers to. The first block of
 * a guide is not: readers copy it unchanged.
 */

import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { parseDocument, stringify } from 'yaml';
import * as z from 'zod';
import { check } from '../../src/cli/check/check.ts';
import { toConfigSources } from '../../src/cli/command.ts';
import { families } from '../../src/families/index.ts';
import { isMapping } from '../../src/lib/is-mapping.ts';
import { takenPaths } from '../../src/routes/index.ts';
import { localhostCertificate } from '../support/upstreams/localhost-certificate.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const pages = [...globSync('docs/{guides,reference,explanations}/*.md', { cwd: root }), 'README.md'].toSorted();
const blocksIn = (languages: string) =>
  pages.flatMap((page) => {
    const text = readFileSync(join(root, page), 'utf8');
    return [...text.matchAll(new RegExp(`^\`\`\`(?:${languages})\\n(.*?)^\`\`\``, 'gms'))].map(
      ({ index, 1: block = '' }, number) => ({
        where: `${page}:${text.slice(0, index).split('\n').length}`,
        block,
        opensGuide: number === 0 && page.startsWith('docs/guides/'),
      }),
    );
  });
const blocks = blocksIn('ya?ml').map(({ block, ...place }) => ({ ...place, yaml: block }));

test('JSON in the docs parses', () => {
  for (const { where, block } of blocksIn('json')) assert.doesNotThrow(() => JSON.parse(block), where);
});

/** Blocks that are no part of a configuration, by their first key. */
const foreign: ReadonlySet<string | undefined> = new Set(['scrape_configs', 'rules', 'settings']);
/** Without its conditions, which zod does not read. */
const chartValues = z.fromJSONSchema(
  JSON.parse(readFileSync(join(root, 'deploy/chart/values.schema.json'), 'utf8'), (key, value) =>
    ['if', 'then', 'else'].includes(key) ? undefined : value,
  ),
);
/** Parts of an element, by their first key: what they are parts of. */
const within: Readonly<Record<string, (part: object) => object>> = {
  price: (part) => ({ models: [{ id: 'm', ...part }] }),
  response_headers: (part) => ({ upstreams: [{ id: 'u', family: 'openai', ...part }] }),
  options: (part) => ({ upstreams: [{ id: 'u', family: 'tei', base_url: 'http://127.0.0.1:3000', ...part }] }),
};
const whole = z.looseObject({
  projects: z.array(z.looseObject({ files: z.string().optional() })).optional(),
  upstreams: z.array(z.looseObject({ id: z.string() })).optional(),
  models: z.array(z.looseObject({ targets: z.array(z.looseObject({ upstream: z.string() })).optional() })).optional(),
});

test('the docs contain YAML', () => assert.ok(blocks.length > 40));

for (const { where, yaml, opensGuide } of blocks) {
  test(`${where}: postern check accepts it`, async (t) => {
    const document = parseDocument(yaml);
    assert.deepEqual(document.errors, []);
    const values: unknown = document.toJS();
    if (!isMapping(values)) return;
    const [first = ''] = Object.keys(values);
    if (foreign.has(first)) return;
    if (first === 'replicas') {
      assert.deepEqual(chartValues.safeParse(values).error?.issues, undefined);
      return;
    }
    const cwd = await mkdtemp(join(tmpdir(), 'postern-docs-'));
    t.after(() => rm(cwd, { recursive: true, force: true, maxRetries: 20 }));
    await mkdir(join(cwd, 'tls'));
    await writeFile(join(cwd, 'tls/internal-ca.pem'), localhostCertificate);
    await writeFile(join(cwd, 'upstreams.yaml'), 'upstreams: []\n');
    const text = opensGuide ? yaml : stringify(completed(within[first]?.(values) ?? values));
    assert.equal(await faultsOf(cwd, text), '');
  });
}

/** With the upstreams that its targets name, and a target where a model has none. */
function completed(part: object): object {
  const { upstreams = [], models, projects = [], ...rest } = whole.parse(part);
  const full = models?.map(({ targets = [{ upstream: 'openai' }], ...model }) => ({ ...model, targets }));
  const named = [
    ...(full ?? []).flatMap(({ targets }) => targets.map(({ upstream }) => upstream)),
    ...projects.flatMap(({ files }) => files ?? []),
  ];
  const missing = new Set(named.filter((id) => upstreams.every((one) => one.id !== id)));
  const added = [...missing].map((id) => ({ id, family: familyCalled(id), base_url: 'https://upstream.example/v1' }));
  return {
    ...rest,
    ...(projects.length > 0 && { projects }),
    ...(upstreams.length + added.length > 0 && { upstreams: [...upstreams, ...added] }),
    ...(full !== undefined && { models: full }),
  };
}

/** What the docs call upstreams whose family does not show. */
const called: Readonly<Record<string, string>> = { nim: 'nvidia' };
const familyCalled = (id: string): string =>
  called[id] ?? families.find((family) => id === family.id || id.startsWith(`${family.id}-`))?.id ?? 'openai';

async function faultsOf(cwd: string, text: string): Promise<string> {
  await writeFile(join(cwd, 'postern.yaml'), text);
  const names = [...text.matchAll(/\$\{(\w+)/g)].map(([, name = '']) => [name, `a-value-of-${name}-long-enough`]);
  const lines: string[] = [];
  const stdout = (line: string): void => void lines.push(line);
  const surroundings = {
    ...toConfigSources({}),
    env: Object.fromEntries(names),
    cwd,
    families,
    loadTakenPaths: async () => takenPaths,
  };
  const code = await check.run({ ...surroundings, values: {}, positionals: [], stdout, stderr: stdout });
  return code === 0 ? '' : `${lines.join('\n')}\n${text}`;
}
