/** What `postern init` says of the environment: which keys it found, what it made of each, and what it left out. */

import type { Family } from '../../core/family.ts';

type Environment = Readonly<Record<string, string | undefined>>;

export function initReport(families: readonly Family[], env: Environment, keyFault: string | undefined): string[] {
  const found: string[] = [];
  const leftOut: string[] = [];
  const missing: string[] = [];
  for (const { id, starter, environment = [] } of families) {
    for (const name of environment.filter((one) => env[one])) {
      leftOut.push(
        `Left out: ${name}; family ${id} needs more than a key to begin with, see docs/reference/families.md.`,
      );
    }
    if (starter === undefined) continue;
    if (env[starter.apiKeyEnv]) found.push(foundText(id, starter));
    else missing.push(starter.apiKeyEnv);
  }
  if (keyFault !== undefined) leftOut.push(`Left out: POSTERN_KEY; ${keyFault}.`);
  if (found.length === 0) found.push('Found no key of a provider, so the built-in upstream is in the file.');
  return [...found, ...leftOut, ...(missing.length === 0 ? [] : [`Not in the environment: ${missing.join(', ')}.`])];
}

function foundText(family: string, { apiKeyEnv, models }: NonNullable<Family['starter']>): string {
  const names = models.map(({ id }) => id).join(', ');
  const what = names === '' ? 'no models, as its own come and go: name those that you use' : `with ${names}`;
  return `Found ${apiKeyEnv}: upstream ${family}, ${what}.`;
}
