/** Collects all admin endpoints from the `endpoints/` folders of the features. */

import { readdir } from 'node:fs/promises';
import * as z from 'zod';
import { inBackground } from '../lib/time-slices.ts';
import { describing } from './api/openapi.ts';
import { endpointsOf, tags } from './endpoint.ts';
import { type Implemented, implement } from './implement.ts';

const aboutEndpoint = endpointsOf('About');

/** All endpoints in the order of the document: by tag, then by path, with fixed segments before parameters, which would match them too. */
async function readEndpoints(): Promise<Implemented[]> {
  const files = await readdir(import.meta.dirname, { recursive: true });
  const modules = files.filter(hasEndpoints).toSorted().map(load);
  const found = (await Promise.all(modules)).flat();
  const orderOf = ({ tag, path, method }: Implemented): string =>
    [String(tags.indexOf(tag)).padStart(2, '0'), path.replaceAll(':', '~'), method].join(' ');
  return found.toSorted((one, other) => (orderOf(one) < orderOf(other) ? -1 : 1));
}

/** Whether the file has endpoints: TypeScript in a checkout, JavaScript in the published package. */
function hasEndpoints(path: string): boolean {
  return /^[a-z-]+[/\\]endpoints[/\\][a-z0-9-]+\.(?:ts|js)$/.test(path);
}

async function load(path: string): Promise<readonly Implemented[]> {
  const exported = await import(`./${path.replaceAll('\\', '/')}`);
  return Object.values<unknown>(exported).filter(isImplemented);
}

const isImplemented = (value: unknown): value is Implemented =>
  typeof value === 'object' && value !== null && 'run' in value && 'method' in value;

const describe = aboutEndpoint('GET /api/openapi.json', 'viewer', {
  summary: 'Get the OpenAPI 3.1 document of this API',
  answer: z.record(z.string(), z.unknown()),
});

/** Adds the endpoint that describes all endpoints, itself included. Its text is written once, as it is the same for every caller. */
function withDescription(others: readonly Implemented[]): readonly Implemented[] {
  let text: Promise<string> | undefined;
  const all: readonly Implemented[] = [
    ...others,
    implement(describe, async ({ context }) => {
      text ??= inBackground.timeSliced(describing(all, context.version)).then((document) => JSON.stringify(document));
      return new Response(await text, { headers: { 'content-type': 'application/json' } });
    }),
  ];
  return all;
}

export const endpoints: readonly Implemented[] = withDescription(await readEndpoints());
