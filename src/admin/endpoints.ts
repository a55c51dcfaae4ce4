/** Every endpoint: a file in the folder `endpoints/` of a feature has some, and the rest derives from the list. */

import { readdir } from 'node:fs/promises';
import { withDescription } from './api/describing.ts';
import { tags } from './endpoint.ts';
import type { Implemented } from './implement.ts';

export const endpoints: readonly Implemented[] = withDescription(await readEndpoints());

/** In the order of the document: by tag, and within one by file. */
async function readEndpoints(): Promise<Implemented[]> {
  const files = await readdir(import.meta.dirname, { recursive: true });
  const modules = files.filter(hasEndpoints).toSorted().map(load);
  const found = (await Promise.all(modules)).flat();
  return found.toSorted((one, other) => tags.indexOf(one.tag) - tags.indexOf(other.tag));
}

/** In a checkout as TypeScript, in the published package as JavaScript. */
function hasEndpoints(path: string): boolean {
  return /^[a-z-]+[/\\]endpoints[/\\][a-z0-9-]+\.(?:ts|js)$/.test(path);
}

async function load(path: string): Promise<readonly Implemented[]> {
  const { default: endpoints } = await import(`./${path.replaceAll('\\', '/')}`);
  return endpoints;
}
