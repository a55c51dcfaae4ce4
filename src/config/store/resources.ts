/** The configuration in the store: elements of the same lists as in the file, each with its own location. */

import type { Resource } from '../../core/store/resources.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import type { KeyRing } from '../../lib/secrets/sealed.ts';
import { ReusableStep } from '../elements/reuse.ts';
import type { FaultList, Path, Position } from '../read/faults.ts';
import type { Source } from '../read/source.ts';
import { openDocument, type ResourceDocument, type ResourceName } from './sealed-fields.ts';

/** An element of a list, wherever it is. */
export interface Element extends ResourceName {
  readonly document: ResourceDocument;
  /** The beginning of its paths, in place of the list and the number in it. */
  readonly root: string;
  /** When it was stored; undefined before. */
  readonly createdAtMs?: number;
  /** Set where it is in another file than the configuration. */
  readonly file?: ElementFile;
}

export interface ElementFile {
  readonly name: string;
  readonly at: Path;
  positionOf(path: Path): Position | undefined;
}

export function toNewElement({ kind, id }: ResourceName, document: ResourceDocument, file: ElementFile): Element {
  return { kind, id, document, root: `${file.name}: ${kind} ${JSON.stringify(id)}`, file };
}

/** Each resource is the same element in every load, so that what becomes of it can be reused. */
const elementsOf = new WeakMap<Resource, Element>();

const toElement = (resource: Resource): Element =>
  getOrMake(elementsOf, resource, ({ kind, id, document, version, createdAtMs }) => {
    const root = `store: ${kind} ${JSON.stringify(id)} (version ${version})`;
    return { kind, id, document, createdAtMs, root };
  });

/** The store's elements, with new ones replacing those of the same name, or appended. */
export function toElements(resources: readonly Resource[], added: readonly Element[]): Element[] {
  if (added.length === 0) return resources.map(toElement);
  const replaced = new Set(added.map(nameOf));
  return [...resources.filter((resource) => !replaced.has(nameOf(resource))).map(toElement), ...added];
}

const nameOf = ({ kind, id }: ResourceName): string => `${kind} ${id}`;

/** The same elements with decrypted secrets; a failure is a fault, unless one explains it already. */
export function openElements(
  elements: readonly Element[],
  ring: KeyRing | 'none' | 'unfit',
  faults: FaultList,
): readonly Element[] {
  const keys = typeof ring === 'string' ? undefined : ring;
  const inputs = [typeof ring === 'string' ? ring : ring.keyIds.join()];
  return elements.map((element) =>
    opening.of(element, inputs, { faults, warnings: [] }, () => {
      const report = (path: Path, message: string): void => {
        const at = [element.root, ...path];
        if (ring !== 'unfit') faults.add(at, message);
        faults.hush(at);
      };
      return { ...element, document: openDocument(element, element.document, keys, report) };
    }),
  );
}

const opening = new ReusableStep<Element>();

/** A source with the positions of the elements as well. */
export function withElements(source: Source, elements: readonly Element[]): Source {
  if (elements.length === 0) return source;
  let byRoot: ReadonlyMap<string | number, Element> | undefined;
  // Most loads have nothing to report of an element.
  const find = ([root = '']: Path): Element | undefined => {
    byRoot ??= new Map(elements.map((element) => [element.root, element]));
    return byRoot.get(root);
  };
  return {
    tree: source.tree,
    faults: source.faults,
    get origins() {
      return [...source.origins, ...elements.map(originOf)];
    },
    positionOf(path) {
      const element = find(path);
      return element === undefined ? source.positionOf(path) : element.file?.positionOf(pathWithin(element, path));
    },
    nameOf(path) {
      const element = find(path);
      return element === undefined
        ? source.nameOf(path)
        : { origin: originOf(element), path: pathWithin(element, path) };
    },
  };
}

const originOf = ({ root, file }: Element): string => file?.name ?? root;

/** In the other file where there is one, else within the element. */
const pathWithin = ({ file }: Element, path: Path): Path => [...(file?.at ?? []), ...path.slice(1)];
