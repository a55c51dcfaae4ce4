/** A configuration from several sources: which one each value is from, and the faults of each. */

import { createFaultList, type Fault, type FaultList, type Path, type Position, toPathText } from './faults.ts';
import type { Source } from './source.ts';

export interface Layer {
  /** What faults of it are told by, such as `POSTERN_SERVER_PORT`. */
  readonly place: string;
  /** What stands in it, for faults within it; undefined where no value is its own, as of one that cannot be read. */
  inner(path: Path): Path | undefined;
  positionOf(inner: Path): Position | undefined;
  /** Whether faults name values as the layer has them, and not as the whole has. */
  readonly isFile: boolean;
  readonly faults: readonly Fault[];
}

/** The last layer that claims a value has it; what none claims is the source's. */
export function withLayers(source: Source, tree: unknown, layers: readonly Layer[]): Source {
  if (layers.length === 0) return source;
  const backwards = layers.toReversed().map((layer) => ({ layer, faults: toFaultList(layer) }));

  function find(path: Path): { layer: Layer; faults: FaultList; inner: Path } | undefined {
    for (const { layer, faults } of backwards) {
      const inner = layer.inner(path);
      if (inner !== undefined) return { layer, faults, inner };
    }
    return undefined;
  }

  return {
    tree,
    positionOf(path) {
      const found = find(path);
      if (found === undefined) return source.positionOf(path);
      const { layer, inner } = found;
      const position = layer.positionOf(inner);
      return position && { ...position, place: layer.place, ...(layer.isFile && { pathThere: inner }) };
    },
    faults: {
      add(path, message, position) {
        const found = find(path);
        if (found === undefined) source.faults.add(path, message, position);
        else
          found.faults.add(
            found.layer.isFile ? found.inner : path,
            message,
            position ?? found.layer.positionOf(found.inner),
          );
      },
      hush(path) {
        const found = find(path);
        if (found === undefined) source.faults.hush(path);
        else found.faults.hush(found.layer.isFile ? found.inner : path);
      },
      all() {
        const ofLayers = backwards
          .toReversed()
          .flatMap(({ layer, faults }) => [
            ...layer.faults,
            ...faults.all().map((fault): Fault => ({ place: layer.place, ...fault })),
          ]);
        return [...source.faults.all(), ...ofLayers];
      },
    },
  };
}

/** As `toPathText` writes it, where a text begins with it. */
const leadingPath = /^[A-Za-z_$][\w$-]*(?:\.[A-Za-z_$][\w$-]*|\[(?:\d+|"(?:[^"\\]|\\.)*")\])*/;
const oneStep = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([A-Za-z_$][\w$-]*)/g;
/** What stands in the store has a place of its own. */
const ofTheStore = 'store: ';

/** A warning about a value of an included file, with the name of that file, the line, and the path that the value has there. */
export function withLocation(warning: string, positionOf: Source['positionOf']): string {
  const [text = ''] = warning.startsWith(ofTheStore) ? [] : (leadingPath.exec(warning) ?? []);
  const path = [...text.matchAll(oneStep)].map(([, index, quoted, name = '']) =>
    index === undefined ? (quoted === undefined ? name : String(JSON.parse(quoted))) : Number(index),
  );
  // Of what is missing, that is told in which it is missing.
  for (let length = path.length; length > 0; length -= 1) {
    const position = positionOf(path.slice(0, length));
    if (position === undefined) continue;
    const { place, line, pathThere } = position;
    if (pathThere === undefined) return warning;
    return `${place}:${line} ${toPathText([...pathThere, ...path.slice(length)])}${warning.slice(text.length)}`;
  }
  return warning;
}

const toFaultList = (layer: Layer): FaultList => createFaultList((path) => layer.positionOf(path));
