/** Generates the table of docs/reference/admin-api.md from the endpoints. */

import { toTemplate } from '../src/admin/api/openapi.ts';
import type { Endpoint } from '../src/admin/endpoint.ts';

export function renderEndpoints(endpoints: readonly Endpoint[]): string {
  const tags = [...new Set(endpoints.map(({ tag }) => tag))];
  return tags
    .map((tag) =>
      section(
        tag,
        endpoints.filter((endpoint) => endpoint.tag === tag),
      ),
    )
    .join('\n\n');
}

function section(tag: string, endpoints: readonly Endpoint[]): string {
  const rows = endpoints.map(
    ({ method, path, needs, proof, summary }) =>
      `| \`${method} ${toTemplate(path)}\` | ${needs}${proof === true ? ' + proof' : ''} | ${summary.replaceAll('|', '\\|')} |`,
  );
  return [`### ${tag}`, '', '| endpoint | role | does |', '|---|---|---|', ...rows].join('\n');
}
