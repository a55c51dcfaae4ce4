/** The configuration in the store: elements of the same lists as in the file, each with its own location. */

import type { Resource } from '../../core/store/resources.ts';
import type { KeyRing } from '../../lib/secrets/sealed.ts';
import { createFaultList, type Fault, type FaultList, type Path, type Position } from '../read/faults.ts';
import type { Source } from '../read/source.ts';
import { openDocument, type ResourceDocument, type ResourceName } from './sealed-fields.ts';

/** An element of a list, wherever it stands. */
export interface Element extends ResourceName {
  readonly document: ResourceDocument;
  /** What its paths begin with, in place of the list and the number in it. */
  readonly root: string;
  /** When the store got it; undefined until then. */
  readonly createdAtMs?: number;
  /** Where it stands in another file than the configuration. */
  readonly file?: ElementFile;
}

export interface ElementFile {
  readonly name: string;
  readonly at: Path;
  positionOf(path: Path): Position | undefined;
}

/** What someone is about to put into the store. */
export function toNewElement({ kind, id }: ResourceName, document: ResourceDocument, file: ElementFile): Element {
  return { kind, id, document, root: `${file.name}: ${kind} ${JSON.stringify(id)}`, file };
}

function toElement({ kind, id, document, version, createdAtMs }: Resource): Element {
  return { kind, id, document, createdAtMs, root: `store: ${kind} ${JSON.stringify(id)} (version ${version})` };
}

/** Those of the store, and in place of those with the same name, or behind them, the new ones. */
export function toElements(resources: readonly Resource[], added: readonly Element[]): Element[] {
  const replaced = new Set(added.map(nameOf));
  return [...resources.filter((resource) => !replaced.has(nameOf(resource))).map(toElement), ...added];
}

const nameOf = ({ kind, id }: ResourceName): string => `${kind} ${id}`;

/** The same elements with their secrets opened; what does not open is a fault, save where a fault says why already. */
export function openElements(
  elements: readonly Element[],
  ring: KeyRing | 'none' | 'unfit',
  faults: FaultList,
): readonly Element[] {
  return elements.map((element) => {
    const report = (path: Path, message: string): void => {
      const at = [element.root, ...path];
      if (ring !== 'unfit') faults.add(at, message);
      faults.hush(at);
    };
    const keys = typeof ring === 'string' ? undefined : ring;
    return { ...element, document: openDocument(element, element.document, keys, report) };
  });
}

/** A source that knows the places of the elements as well as those of the file. */
export function withElements(source: Source, elements: readonly Element[]): Source {
  if (elements.length === 0) return source;
  const lists = new Map<string | number, { readonly element: Element; readonly faults: FaultList }>();
  for (const element of elements) {
    const faults = createFaultList((path) => element.file?.positionOf(path));
    lists.set(element.root, { element, faults });
  }
  const listOf = ([root = '']: Path) => lists.get(root);
  /** As the other file has it, where there is one; else within the element. */
  const inside = ({ file }: Element, path: Path): Path => [...(file?.at ?? []), ...path.slice(1)];
  return {
    tree: source.tree,
    positionOf(path) {
      const found = listOf(path);
      if (found === undefined) return source.positionOf(path);
      return found.element.file?.positionOf(inside(found.element, path));
    },
    faults: {
      add(path, message, position) {
        const found = listOf(path);
        if (found === undefined) source.faults.add(path, message, position);
        else found.faults.add(inside(found.element, path), message, position);
      },
      hush(path) {
        const found = listOf(path);
        if (found === undefined) source.faults.hush(path);
        else found.faults.hush(inside(found.element, path));
      },
      all() {
        const ofElements = [...lists.values()].flatMap(({ element, faults }) =>
          faults.all().map((fault): Fault => ({ place: element.file?.name ?? element.root, ...fault })),
        );
        return [...source.faults.all(), ...ofElements];
      },
    },
  };
}
