/** Which files become pages, and under which heads they are listed. */

import { globSync } from 'node:fs';

export interface Page {
  /** In the repository. */
  readonly source: string;
  /** In the site. */
  readonly path: string;
  /** In the list of pages, where its own title would not do. */
  readonly words?: string | undefined;
}

const groups: readonly (readonly [head: string, names: readonly string[]])[] = [
  [
    'Begin',
    [
      'README.md',
      'docs/local-models.md',
      'examples/README.md',
      'docs/production.md',
      'docs/coming-from.md',
      'CHANGELOG.md',
    ],
  ],
  [
    'What clients ask',
    ['routes', 'doors', 'errors', 'compatibility', 'batches', 'lists', 'kept-objects', 'own-routes', 'moderations'].map(
      toDocs,
    ),
  ],
  ['Services behind', ['families', 'targets', 'bridges', 'upstream-addresses', 'prices'].map(toDocs)],
  ['Setting up', ['configuration', 'command-line', 'resources', 'secrets', 'store', 'workers'].map(toDocs)],
  ['Who may do what', ['keys', 'limits', 'budgets', 'ledger', 'console', 'access', 'admin-api'].map(toDocs)],
  ['Watching', ['metrics', 'opentelemetry', 'reliability', 'performance', 'releases'].map(toDocs)],
  ['The project', ['docs/architecture.md', 'CONTRIBUTING.md', 'SECURITY.md', 'bench/README.md']],
];

/** Pages that another page lists. */
const listedElsewhere = ['docs/adr/*.md', 'examples/*/README.md'];

export interface Group {
  readonly head: string;
  readonly pages: readonly Page[];
}

/** Those under their heads; what nobody has put under one comes last, so that no page is lost. */
export function findPages(root: string): { readonly groups: readonly Group[]; readonly pages: readonly Page[] } {
  const known = new Set(groups.flatMap(([, names]) => names));
  const rest = globSync('docs/*.md', { cwd: root }).filter((name) => !known.has(name));
  const all = rest.length === 0 ? groups : [...groups, ['More', rest.toSorted()] as const];
  const listed = all.map(([head, names]) => ({ head, pages: names.map(toPage) }));
  const others = listedElsewhere.flatMap((pattern) => globSync(pattern, { cwd: root })).toSorted();
  return { groups: listed, pages: [...listed.flatMap(({ pages }) => pages), ...others.map(toPage)] };
}

function toDocs(name: string): string {
  return `docs/${name}.md`;
}

function toPage(source: string): Page {
  const path = source
    .replace(/^README\.md$/, 'index.md')
    .replace(/\/README\.md$/, '.md')
    .replace(/^docs\//, '')
    .replace(/\.md$/, '.html');
  return { source, path: path.toLowerCase(), words: source === 'CHANGELOG.md' ? 'Changes' : undefined };
}
