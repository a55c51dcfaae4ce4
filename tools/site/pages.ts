/** Lists the pages of the docs site, and their groups in the menu. */

import { globSync } from 'node:fs';

export interface Page {
  /** Path in the repository. */
  readonly source: string;
  /** Path in the site. */
  readonly path: string;
  /** Title in the list of pages, if it differs from that of the page. */
  readonly words?: string | undefined;
}

const groups: readonly (readonly [head: string, names: readonly string[]])[] = [
  [
    'Start',
    [
      'README.md',
      'docs/README.md',
      'docs/guides/quickstart.md',
      'docs/explanations/concepts.md',
      'examples/README.md',
      'CHANGELOG.md',
    ],
  ],
  [
    'Guides: run it',
    toDocs('guides', [
      'configuration',
      'deploy',
      'operate',
      'migrate',
      'store',
      'workers',
      'secrets',
      'resources',
      'console',
      'access',
    ]),
  ],
  [
    'Guides: upstreams and traffic',
    toDocs('guides', [
      'load-balancing',
      'batching-and-caching',
      'batches',
      'emulation',
      'custom-routes',
      'stored-objects',
      'endpoints',
      'upstream-addresses',
    ]),
  ],
  [
    'Guides: keys, limits and money',
    toDocs('guides', ['keys', 'limits', 'lanes', 'budgets', 'alerts', 'prices', 'opentelemetry']),
  ],
  [
    'Reference',
    toDocs('reference', [
      'configuration',
      'command-line',
      'routes',
      'client-apis',
      'families',
      'compatibility',
      'errors',
      'failover',
      'metrics',
      'logging',
      'ledger',
      'series',
      'prices',
      'admin-api',
      'moderations',
      'local-models',
      'reliability-figures',
      'releases',
    ]),
  ],
  ['Explanations', toDocs('explanations', ['reliability', 'architecture', 'performance', 'comparison'])],
  ['Project', ['CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md']],
];

/** Former addresses of pages, without `.html`, and where they redirect. */
export const movedPages: Readonly<Record<string, string>> = {
  access: 'guides/access',
  'admin-api': 'reference/admin-api',
  architecture: 'explanations/architecture',
  batches: 'guides/batches',
  bridges: 'guides/emulation',
  budgets: 'guides/budgets',
  'coming-from': 'guides/migrate',
  'command-line': 'reference/command-line',
  compatibility: 'reference/compatibility',
  configuration: 'reference/configuration',
  console: 'guides/console',
  clientApis: 'reference/client-apis',
  errors: 'reference/errors',
  families: 'reference/families',
  'kept-objects': 'guides/stored-objects',
  keys: 'guides/keys',
  ledger: 'reference/ledger',
  limits: 'guides/limits',
  lists: 'guides/batching-and-caching',
  'local-models': 'reference/local-models',
  metrics: 'reference/metrics',
  moderations: 'reference/moderations',
  opentelemetry: 'guides/opentelemetry',
  'own-routes': 'guides/custom-routes',
  performance: 'explanations/performance',
  prices: 'guides/prices',
  production: 'guides/deploy',
  releases: 'reference/releases',
  reliability: 'explanations/reliability',
  resources: 'guides/resources',
  routes: 'reference/routes',
  secrets: 'guides/secrets',
  store: 'guides/store',
  targets: 'guides/load-balancing',
  'upstream-addresses': 'guides/upstream-addresses',
  workers: 'guides/workers',
};

/** Pages that are not in the menu, because another page lists them. */
const listedElsewhere = ['docs/adr/*.md', 'examples/*/README.md'];

export interface Group {
  readonly head: string;
  readonly pages: readonly Page[];
}

/** Finds the pages by group; a page without a group comes last, so that none is lost. */
export function findPages(root: string): { readonly groups: readonly Group[]; readonly pages: readonly Page[] } {
  const known = new Set(groups.flatMap(([, names]) => names));
  const rest = globSync(['docs/*.md', 'docs/{guides,reference,explanations}/*.md'], { cwd: root }).filter(
    (name) => !known.has(name),
  );
  const all = rest.length === 0 ? groups : [...groups, ['More', rest.toSorted()] as const];
  const listed = all.map(([head, names]) => ({ head, pages: names.map(toPage) }));
  const others = listedElsewhere.flatMap((pattern) => globSync(pattern, { cwd: root })).toSorted();
  return { groups: listed, pages: [...listed.flatMap(({ pages }) => pages), ...others.map(toPage)] };
}

function toDocs(kind: 'guides' | 'reference' | 'explanations', names: readonly string[]): readonly string[] {
  return names.map((name) => `docs/${kind}/${name}.md`);
}

function toPage(source: string): Page {
  const path = source
    .replace(/^README\.md$/, 'index.md')
    .replace(/\/README\.md$/, '.md')
    .replace(/^docs\//, '')
    .replace(/\.md$/, '.html');
  return { source, path: path.toLowerCase(), words: source === 'CHANGELOG.md' ? 'Changes' : undefined };
}
