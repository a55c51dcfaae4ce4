/** Reads a file for `postern resources apply`: upstreams, models, projects and keys, written as in the configuration file. */

import { resourceKinds } from '../../core/store/resources.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { nearHint } from '../../lib/nearest-name.ts';
import { type Fault, type FaultList, type Locator, locatorFor, type Path } from '../read/faults.ts';
import { parseSource } from '../read/source.ts';
import { type Environment, type Substitution, substitute } from '../read/substitute.ts';
import { resourceLists } from './resource-schemas.ts';
import { type Element, type ElementFile, toNewElement } from './resources.ts';

export interface ResourceFile {
  /** The file's name in faults. */
  readonly name: string;
  readonly elements: readonly Element[];
  /** The file's keys. They are apart from the elements, because the store has only their digests and no document. */
  readonly keys: readonly WrittenElement[];
  /** The list of faults, to which those of its keys are added later. */
  readonly list: FaultList;
  faults(): readonly Fault[];
  readonly locator: Locator;
  readonly isSubstituted: Substitution['isSubstituted'];
}

export interface WrittenElement {
  readonly id: string;
  readonly at: Path;
  readonly document: Readonly<Record<string, unknown>>;
}

const keyList = 'keys';
const lists: readonly string[] = [...Object.values(resourceLists), keyList];

/**
 * Reads the file; its elements are validated later, together with the rest of the configuration. `mayBeEmpty`: the file may have only
 * empty lists, to say that the store is to hold nothing.
 */
export function readResourceFile(
  name: string,
  text: string,
  env: Environment,
  { mayBeEmpty = false } = {},
): ResourceFile {
  const source = parseSource(text);
  const { faults, positionOf } = source;
  const locator = locatorFor(name, positionOf);
  const elements: Element[] = [];
  const keys: WrittenElement[] = [];
  const { tree, isSubstituted } = substitute(source.tree, env, faults);
  if (isMapping(tree)) {
    refuseForeign(tree, faults);
    const reading = { tree, faults, positionOf };
    for (const kind of resourceKinds) {
      for (const { id, at, document } of inList(resourceLists[kind], reading)) {
        elements.push(toNewElement({ kind, id }, document, { name, at, positionOf }));
      }
    }
    keys.push(...inList(keyList, reading));
    const isEmpty = elements.length === 0 && keys.length === 0 && faults.all().length === 0;
    if (isEmpty && !(mayBeEmpty && Object.keys(tree).length > 0)) {
      faults.add([], `holds nothing; there are ${lists.join(', ')}`);
    }
  } else if (source.tree !== undefined) {
    faults.add([], 'is not a mapping of keys to values');
  }
  return {
    name,
    elements,
    keys,
    list: faults,
    faults: () => faults.all(locator),
    locator,
    isSubstituted,
  };
}

interface Reading extends Pick<ElementFile, 'positionOf'> {
  readonly tree: Readonly<Record<string, unknown>>;
  readonly faults: FaultList;
}

function refuseForeign(tree: Reading['tree'], faults: FaultList): void {
  for (const key of Object.keys(tree).filter((one) => !lists.includes(one))) {
    faults.add([key], `is no list of resources${nearHint(key, lists, `; there are ${lists.join(', ')}`)}`);
  }
}

function inList(list: string, { tree, faults, positionOf }: Reading): WrittenElement[] {
  const written = tree[list] ?? [];
  if (!Array.isArray(written)) {
    faults.add([list], 'wanted: a list');
    return [];
  }
  const seen = new Map<string, number>();
  return written.flatMap((document: unknown, index): WrittenElement[] => {
    const at = [list, index];
    const id = isMapping(document) ? document.id : undefined;
    if (!isMapping(document) || typeof id !== 'string' || id === '') {
      faults.add(at, 'has no id; add it');
      return [];
    }
    const first = seen.get(id);
    if (first === undefined) {
      seen.set(id, index);
      return [{ id, at, document }];
    }
    const line = positionOf([list, first, 'id'])?.line;
    faults.add([...at, 'id'], `${JSON.stringify(id)} is taken by ${list}[${first}].id (line ${line})`);
    return [];
  });
}
