/** A file of resources to be put into the store: lists of upstreams, models and projects, as in the configuration file. */

import { resourceKinds } from '../../core/store/resources.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { nearestName } from '../../lib/nearest-name.ts';
import { type Fault, suggestion } from '../read/faults.ts';
import { parseSource } from '../read/source.ts';
import { type Environment, substitute } from '../read/substitute.ts';
import { resourceLists } from './resource-schemas.ts';
import { type Element, toNewElement } from './resources.ts';

export interface ResourceFile {
  readonly elements: readonly Element[];
  readonly faults: readonly Fault[];
}

/** `name` is what faults call the file. Whether an element fits its schema shows when it is compiled with the rest. */
export function readResourceFile(name: string, text: string, env: Environment): ResourceFile {
  const source = parseSource(text);
  const { faults, positionOf } = source;
  const elements: Element[] = [];
  const { tree } = substitute(source.tree, env, faults);
  const lists = Object.values(resourceLists);
  if (isMapping(tree)) {
    const foreign = Object.keys(tree).filter((key) => !lists.some((list) => list === key));
    for (const key of foreign) {
      const near = nearestName(key, lists);
      faults.add([key], `is no list of resources${suggestion(near) || `; there are ${lists.join(', ')}`}`);
    }
    for (const kind of resourceKinds) {
      const list = resourceLists[kind];
      const written = tree[list] ?? [];
      if (!Array.isArray(written)) {
        faults.add([list], 'wanted: a list');
        continue;
      }
      const seen = new Map<string, number>();
      for (const [index, element] of written.entries()) {
        const at = [list, index];
        const id: unknown = isMapping(element) ? element.id : undefined;
        if (!isMapping(element) || typeof id !== 'string' || id === '') {
          faults.add(at, 'has no id; add it');
          continue;
        }
        const first = seen.get(id);
        if (first !== undefined) {
          const line = positionOf([list, first, 'id'])?.line;
          faults.add([...at, 'id'], `${JSON.stringify(id)} is taken by ${list}[${first}].id (line ${line})`);
          continue;
        }
        seen.set(id, index);
        elements.push(toNewElement({ kind, id }, element, { name, at, positionOf }));
      }
    }
    if (elements.length === 0 && faults.all().length === 0)
      faults.add([], `holds nothing; there are ${lists.join(', ')}`);
  } else if (source.tree !== undefined) {
    faults.add([], 'is not a mapping of keys to values');
  }
  return { elements, faults: faults.all().map((fault) => ({ place: name, ...fault })) };
}
