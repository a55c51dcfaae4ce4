/** What a configuration file declares, element by element: where it stands, and how it is written there. */

import type { ResourceKind } from '../../core/store/resources.ts';
import { resourceKinds } from '../../core/store/resources.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import type { Source } from '../read/source.ts';
import { resourceLists } from './resource-schemas.ts';
import { hideWritten, type ResourceDocument } from './sealed-fields.ts';
import { settingIds, settingSections } from './setting-schema.ts';

export interface DeclaredElement {
  readonly kind: ResourceKind;
  readonly id: string;
  /** Undefined where there is no file, and the embedded configuration holds. */
  readonly line: number | undefined;
  /** As it is written, `${NAME}` included; a secret that stands there itself says `(sealed)`. */
  readonly document: ResourceDocument;
}

/** What is kept until someone asks what is declared: nothing of the keys, whose secrets stand in the file. */
export function withoutKeys(tree: unknown): unknown {
  return isMapping(tree) ? { ...tree, keys: undefined } : tree;
}

/** `substituted` is the same tree with the environment in it: an ID may come from there. */
export function toDeclared(
  { tree, positionOf }: Pick<Source, 'tree' | 'positionOf'>,
  substituted: unknown,
): DeclaredElement[] {
  const sections = settingIds.flatMap((id): DeclaredElement[] => {
    const section = isMapping(tree) ? tree[id] : undefined;
    if (!isMapping(section)) return [];
    const held = settingSections[id].filter((key) => section[key] !== undefined);
    const document = Object.fromEntries(held.map((key) => [key, section[key]]));
    const line = positionOf([id, held[0] ?? ''])?.line;
    return held.length === 0
      ? []
      : [{ kind: 'setting', id, line, document: { ...hideWritten('setting', document), id } }];
  });
  const elements = resourceKinds.flatMap((kind) => {
    const list = resourceLists[kind];
    const written = listAt(tree, list);
    return listAt(substituted, list).flatMap((element, index): DeclaredElement[] => {
      const document = written[index];
      if (!isMapping(element) || !isMapping(document) || typeof element.id !== 'string') return [];
      const line = positionOf([list, index])?.line;
      return [{ kind, id: element.id, line, document: { ...hideWritten(kind, document), id: element.id } }];
    });
  });
  return [...sections, ...elements];
}

/** Where the keys of the file stand, by ID; keys themselves are shown as they are in force, never as they are written. */
export function* toKeyLines(
  { positionOf }: Pick<Source, 'positionOf'>,
  substituted: unknown,
): Generator<undefined, ReadonlyMap<string, number>, undefined> {
  const lines = new Map<string, number>();
  for (const [index, element] of listAt(substituted, 'keys').entries()) {
    yield;
    const line = positionOf(['keys', index])?.line;
    if (isMapping(element) && typeof element.id === 'string' && line !== undefined) lines.set(element.id, line);
  }
  return lines;
}

function listAt(tree: unknown, list: string): readonly unknown[] {
  const found = isMapping(tree) ? tree[list] : undefined;
  return Array.isArray(found) ? found : [];
}
