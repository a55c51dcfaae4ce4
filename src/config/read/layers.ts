/** A configuration from several sources: which one each value is from, and the faults of each. */

import { createFaultList, type Fault, type FaultList, type Path, type Position, toPathText } from './faults.ts';
import type { Source } from './source.ts';

export interface Layer {
  /** The name in its faults, such as `POSTERN_SERVER_PORT`. */
  readonly origin: string;
  /** The path within the layer; undefined where the value is not from it. */
  inner(path: Path): Path | undefined;
  positionOf(inner: Path): Position | undefined;
  /** Whether faults use the layer's paths rather than the whole's. */
  readonly namesInner: boolean;
  readonly faults: readonly Fault[];
}

/** A value is from the layer of `layerOf`, by default the last one that has it; else from the source. */
export function withLayers(
  source: Source,
  tree: unknown,
  layers: readonly Layer[],
  layerOf = (path: Path) => layers.findLast(({ inner }) => inner(path) !== undefined),
): Source {
  if (layers.length === 0) return source;
  const lists = new Map<Layer, FaultList>();

  function find(path: Path): { readonly faults: FaultList; readonly named: Path; position(): Position | undefined } {
    const layer = layerOf(path);
    const inner = layer?.inner(path);
    if (layer === undefined || inner === undefined) {
      return { faults: source.faults, named: path, position: () => source.positionOf(path) };
    }
    const faults = lists.get(layer) ?? createFaultList(() => undefined);
    lists.set(layer, faults);
    return { faults, named: layer.namesInner ? inner : path, position: () => layer.positionOf(inner) };
  }

  return {
    tree,
    positionOf: (path) => find(path).position(),
    faults: {
      add(path, message, given) {
        const { faults, named, position } = find(path);
        faults.add(named, message, given ?? position());
      },
      hush(path) {
        const { faults, named } = find(path);
        faults.hush(named);
      },
      all() {
        const ofLayers = layers.flatMap((layer) => [
          ...layer.faults,
          ...(lists.get(layer)?.all() ?? []).map((fault): Fault => ({ origin: layer.origin, ...fault })),
        ]);
        return [...source.faults.all(), ...ofLayers];
      },
    },
  };
}

/** A path as written by `toPathText`, at the beginning of a text. */
const leadingPath = /^[A-Za-z_$][\w$-]*(?:\.[A-Za-z_$][\w$-]*|\[(?:\d+|"(?:[^"\\]|\\.)*")\])*/;
const oneStep = /\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|([A-Za-z_$][\w$-]*)/g;
/** Elements of the store have their own locations. */
const ofTheStore = 'store: ';

/** A warning about a value of an included file, with the file's name, the line, and the path there. */
export function withLocation(warning: string, positionOf: Source['positionOf']): string {
  const [text = ''] = warning.startsWith(ofTheStore) ? [] : (leadingPath.exec(warning) ?? []);
  const path = [...text.matchAll(oneStep)].map(([, index, quoted, name = '']) =>
    index === undefined ? (quoted === undefined ? name : String(JSON.parse(quoted))) : Number(index),
  );
  // A missing value is located at what lacks it.
  for (let length = path.length; length > 0; length -= 1) {
    const position = positionOf(path.slice(0, length));
    if (position === undefined) continue;
    const { origin, line, pathThere } = position;
    if (pathThere === undefined) return warning;
    return `${origin}:${line} ${toPathText([...pathThere, ...path.slice(length)])}${warning.slice(text.length)}`;
  }
  return warning;
}
