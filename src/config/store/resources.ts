/** Combines the configuration in the store with the file: elements of the same lists, each with its own location. */

import type { Resource, ResourceKind } from '../../core/store/resources.ts';
import { getOrMake } from '../../lib/get-or-make.ts';
import type { KeyRing } from '../../lib/secrets/sealed.ts';
import { ReusableStep } from '../elements/reuse.ts';
import type { FaultList, Path, Position } from '../read/faults.ts';
import type { Source } from '../read/source.ts';
import { openDocument, type ResourceDocument, type ResourceName } from './sealed-fields.ts';

/** An element of a list of the configuration, in the store or in a file. */
export interface Element extends ResourceName {
  readonly document: ResourceDocument;
  /** The first step of the element's paths; it stands in place of the list's name and the position in the list. */
  readonly root: string;
  readonly createdAtMs?: number;
  /** The file of the element, where that is another one than the configuration file. */
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

/** The element of each resource: the same object in every load, so that what is made of it can be reused. */
const elementsOf = new WeakMap<Resource, Element>();

const toElement = (resource: Resource): Element =>
  getOrMake(elementsOf, resource, ({ kind, id, document, version, createdAtMs }) => {
    const root = `store: ${kind} ${JSON.stringify(id)} (version ${version})`;
    return { kind, id, document, createdAtMs, root };
  });

/** Consecutive elements of one kind. While none of them changes each load has the same chunk object, so that its results are reused. */
export interface Chunk {
  readonly kind: ResourceKind;
  readonly elements: readonly Element[];
}

interface StoredChunk extends Chunk {
  readonly resources: readonly Resource[];
}

const mostInChunk = 32;
/** The chunks that the previous load made; those whose resources are unchanged are used again. */
let storedChunks: readonly StoredChunk[] = [];

/** The store's elements in chunks; new elements replace those of the same name, or are appended. */
export function toChunks(resources: readonly Resource[], added: readonly Element[]): readonly Chunk[] {
  const ids = new Set(added.map(({ id }) => id));
  const replaced = new Set(added.map(nameOf));
  const kept =
    added.length === 0 ? resources : resources.filter((one) => !ids.has(one.id) || !replaced.has(nameOf(one)));
  const starts = new Map(storedChunks.map((chunk) => [chunk.resources[0], chunk]));
  const chunks: StoredChunk[] = [];
  for (let at = 0; at < kept.length; at += chunks.at(-1)?.resources.length ?? 1) {
    const known = starts.get(kept[at]);
    chunks.push(known !== undefined && isAt(known, kept, at, starts) ? known : newChunk(kept, at, starts));
  }
  storedChunks = chunks;
  return [...chunks, ...added.map((element) => ({ kind: element.kind, elements: [element] }))];
}

type Starts = ReadonlyMap<Resource | undefined, StoredChunk>;

/** Whether a chunk of the last load fits here again. A chunk that is not full must be followed by another kind or another chunk. */
function isAt({ kind, resources }: StoredChunk, all: readonly Resource[], at: number, starts: Starts): boolean {
  if (resources.some((one, index) => one !== all[at + index])) return false;
  const next = all[at + resources.length];
  return resources.length >= mostInChunk || next === undefined || next.kind !== kind || starts.has(next);
}

function newChunk(all: readonly Resource[], at: number, starts: Starts): StoredChunk {
  const kind = all[at]?.kind ?? 'setting';
  let end = at + 1;
  while (end < all.length && end - at < mostInChunk && all[end]?.kind === kind && !starts.has(all[end])) end += 1;
  const resources = all.slice(at, end);
  return { kind, resources, elements: resources.map(toElement) };
}

const nameOf = ({ kind, id }: ResourceName): string => `${kind} ${id}`;

/** The elements with decrypted secrets. Failures are reported, except where a fault already explains them. */
export function openElements(
  chunks: readonly Chunk[],
  ring: KeyRing | 'none' | 'unfit',
  faults: FaultList,
): readonly Chunk[] {
  const keys = typeof ring === 'string' ? undefined : ring;
  const inputs = [typeof ring === 'string' ? ring : ring.keyIds.join()];
  const reports = { faults, warnings: [] };
  const open = (element: Element): Element =>
    opening.of(element, inputs, reports, () => {
      const report = (path: Path, message: string): void => {
        const at = [element.root, ...path];
        if (ring !== 'unfit') faults.add(at, message);
        faults.hush(at);
      };
      return { ...element, document: openDocument(element, element.document, keys, report) };
    });
  return chunks.map((chunk) =>
    openingChunk.of(chunk, inputs, reports, () => ({ kind: chunk.kind, elements: chunk.elements.map(open) })),
  );
}

const opening = new ReusableStep<Element>();
const openingChunk = new ReusableStep<Chunk>();

export function withElements(source: Source, chunks: readonly Chunk[]): Source {
  if (chunks.length === 0) return source;
  let byRoot: ReadonlyMap<string, Element> | undefined;
  // Built only when needed: most loads have nothing to report of an element.
  const find = ([root = '']: Path): Element | undefined => {
    if (typeof root !== 'string' || !root.includes(': ')) return undefined;
    byRoot ??= new Map(chunks.flatMap(({ elements }) => elements.map((element) => [element.root, element])));
    return byRoot.get(root);
  };
  return {
    tree: source.tree,
    faults: source.faults,
    get origins() {
      return [...source.origins, ...chunks.flatMap(({ elements }) => elements.map(originOf))];
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

const pathWithin = ({ file }: Element, path: Path): Path => [...(file?.at ?? []), ...path.slice(1)];
