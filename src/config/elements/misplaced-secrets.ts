/** Warns of secrets of well-known services in wrong places (IDs, names, notes, parameters, hosts), so that all output masks them. */

import * as z from 'zod';
import { findSecretShape, maskOf } from '../../lib/secrets/secret-shapes.ts';
import { type Path, toPathText, type Warning } from '../read/faults.ts';
import { type FoundText, partsOf, textsIn } from '../read/tree.ts';
import { resourceSchemas } from '../store/resource-schemas.ts';
import type { Chunk } from '../store/resources.ts';
import { none, ReusableStep, silent, toElement } from './reuse.ts';
import { configurationSchema } from './schema.ts';
import { isSecretAt } from './schema-lookup.ts';

interface Found {
  readonly path: Path;
  readonly secret: string;
  readonly mask: string;
  count: number;
}

/** Finds secrets, by the masks that replace them. Each is one warning for the file, or per element of the store. It may pause at `yield`. */
export function* findMisplacedSecrets(
  tree: unknown,
  chunks: readonly Chunk[],
  warnings: Warning[],
): Generator<undefined, ReadonlyMap<string, string>, undefined> {
  const secrets = new Map<string, string>();
  const add = (found: readonly Found[]): void => {
    for (const one of found) {
      secrets.set(one.mask, one.secret);
      warnings.push(toWarning(one));
    }
  };
  const inFile: FoundText[] = [];
  for (const [path, part] of partsOf(tree)) {
    if (reading.isPauseDue()) yield;
    inFile.push(...reading.of(toElement(part), path, silent, () => shapedTexts(part, path)));
  }
  add(findEach(inFile, configurationSchema));
  for (const chunk of chunks) {
    if (searching.isPauseDue()) yield;
    add(
      searching.of(chunk, none, silent, () =>
        chunk.elements.flatMap(({ root, document }) => {
          const found = findEach(shapedTexts(document, []), resourceSchemas[chunk.kind]);
          return found.map((one) => ({ ...one, path: [root, ...one.path] }));
        }),
      ),
    );
  }
  return secrets;
}

const reading = new ReusableStep<readonly FoundText[]>();
const searching = new ReusableStep<readonly Found[]>();

export const misplacedWarnings = (document: unknown): string[] =>
  findEach(shapedTexts(document, []), z.unknown()).map((found) => toPathText(found.path) + toWarning(found).text);

function findEach(texts: readonly FoundText[], schema: z.core.$ZodType): Found[] {
  const found = new Map<string, Found>();
  for (const { path, text } of texts) {
    const secret = secretAt(schema, path, text);
    if (secret === undefined) continue;
    const before = found.get(secret);
    if (before === undefined) found.set(secret, { path, secret, mask: maskOf(secret), count: 1 });
    else before.count++;
  }
  return [...found.values()];
}

const shapedTexts = (value: unknown, path: Path): FoundText[] =>
  textsIn(value, path, { fits: (text) => findSecretShape(text) !== undefined, keys: true });

/** The secret in a text. A secret field may have one; of an address, which may be secret too, only the host is checked. */
function secretAt(schema: z.core.$ZodType, path: Path, text: string): string | undefined {
  const isKey = path.at(-1) === text;
  return findSecretShape(!isKey && isSecretAt(schema, path) ? hostIn(text) : text);
}

function hostIn(text: string): string {
  return /^[a-z][a-z+.-]*:\/\/(?:[^/?#@]*@)?([^/?#]*)/i.exec(text)?.[1] ?? '';
}

function toWarning({ path, mask, count }: Found): Warning {
  const more = count === 1 ? '' : `, here and in ${count - 1} more ${count === 2 ? 'place' : 'places'}`;
  const text = `: holds what looks like a secret of a service, where none belongs${more}; it is shown as ${mask}: write something else, and revoke the secret`;
  return { path, text };
}
