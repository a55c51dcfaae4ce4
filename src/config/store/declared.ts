/** Lists the elements that a configuration file declares, with their positions and their text. */

import { type ResourceKind, resourceKinds } from '../../core/store/resources.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { ReusableStep, silent } from '../elements/reuse.ts';
import type { Locator } from '../read/faults.ts';
import { type FilePosition, filePositionIn, type Source } from '../read/source.ts';
import { listAt } from '../read/tree.ts';
import { resourceLists, settingIds, settingSections } from './resource-schemas.ts';
import { hideWritten, type ResourceDocument } from './sealed-fields.ts';

export interface DeclaredElement {
  readonly kind: ResourceKind;
  readonly id: string;
  /** Where the element is declared; undefined for one of the embedded configuration. */
  readonly place: FilePosition | undefined;
  /** The element as written, with references such as `${NAME}`; a literal secret is `(sealed)`. */
  readonly document: ResourceDocument;
}

/** The file without its keys, whose secrets may be in it, so that it can be kept until the elements are requested. */
export function withoutKeys(tree: unknown): unknown {
  return isMapping(tree) ? { ...tree, keys: undefined } : tree;
}

/** The declared elements. `substituted`: the file with the environment applied, as IDs may come from there. It may pause at `yield`. */
export function* toDeclared(
  source: Locator & Pick<Source, 'tree'>,
  substituted: unknown,
  file: string | undefined,
): Generator<undefined, DeclaredElement[], undefined> {
  const { tree } = source;
  const declared = settingIds.flatMap((id): DeclaredElement[] => {
    const section = isMapping(tree) ? tree[id] : undefined;
    if (!isMapping(section)) return [];
    const held = settingSections[id].filter((key) => section[key] !== undefined);
    const document = Object.fromEntries(held.map((key) => [key, section[key]]));
    const place = filePositionIn(source, [id, held[0] ?? ''], file);
    return held.length === 0
      ? []
      : [{ kind: 'setting', id, place, document: { ...hideWritten('setting', document), id } }];
  });
  for (const kind of resourceKinds) {
    const list = resourceLists[kind];
    const written = listAt(tree, list);
    for (const [index, element] of listAt(substituted, list).entries()) {
      if (hiding.isPauseDue()) yield;
      const document = written[index];
      if (!isMapping(element) || !isMapping(document) || typeof element.id !== 'string') continue;
      const { id } = element;
      const place = filePositionIn(source, [list, index], file);
      const shown = hiding.of(document, [kind, id], silent, () => ({ ...hideWritten(kind, document), id }));
      declared.push({ kind, id, place, document: shown });
    }
  }
  return declared;
}

const hiding = new ReusableStep<ResourceDocument>();

/** The positions of the file's keys, by ID. Keys themselves are never shown as written, only as in force. */
export function* toKeyPositions(
  source: Locator,
  substituted: unknown,
  file: string | undefined,
): Generator<undefined, ReadonlyMap<string, FilePosition>, undefined> {
  const positions = new Map<string, FilePosition>();
  for (const [index, element] of listAt(substituted, 'keys').entries()) {
    yield;
    const place = filePositionIn(source, ['keys', index], file);
    if (isMapping(element) && typeof element.id === 'string' && place !== undefined) positions.set(element.id, place);
  }
  return positions;
}
