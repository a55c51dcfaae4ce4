/** Combines configuration from several sources, and finds which source each value came from. */

import { type Locator, type Path, type Position, toPathText, type Warning } from './faults.ts';
import type { Source } from './source.ts';

export interface Layer {
  /** The source's name in faults, such as `POSTERN_SERVER_PORT`. */
  readonly origin: string;
  /** The path of a value within this layer; undefined where the value is from elsewhere. */
  inner(path: Path): Path | undefined;
  positionOf(inner: Path): Position | undefined;
  /** Whether faults have the path within the layer, rather than that in the whole configuration. */
  readonly namesInner: boolean;
}

/** Adds layers to a source. Positions and names of a value are those of the last layer that has it, else the source's. */
export function withLayers(source: Source, tree: unknown, layers: readonly Layer[]): Source {
  if (layers.length === 0) return source;
  function find(path: Path): { readonly layer: Layer; readonly inner: Path } | undefined {
    const layer = layers.findLast(({ inner }) => inner(path) !== undefined);
    const inner = layer?.inner(path);
    return layer && inner && { layer, inner };
  }
  return {
    tree,
    faults: source.faults,
    origins: [...source.origins, ...layers.map(({ origin }) => origin)],
    positionOf(path) {
      const found = find(path);
      return found === undefined ? source.positionOf(path) : found.layer.positionOf(found.inner);
    },
    nameOf(path) {
      const found = find(path);
      if (found === undefined) return source.nameOf(path);
      const { layer, inner } = found;
      return { origin: layer.origin, path: layer.namesInner ? inner : path };
    },
  };
}

/** A warning as text. For a value of another file it begins with that file's name, the line, and the path in that file. */
export function toWarningText({ path, text }: Warning, { positionOf, nameOf }: Locator): string {
  const { origin, path: named } = nameOf(path);
  const line = origin && positionOf(path)?.line;
  return line === undefined ? toPathText(path) + text : `${origin}:${line} ${toPathText(named)}${text}`;
}
