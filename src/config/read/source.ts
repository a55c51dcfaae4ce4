/** Parses the text of a configuration file, YAML or JSON, into plain values with positions; depth and size are limited. */

import { atOnce } from '../../lib/time-slices.ts';
import { type Columns, type Positions, positionIn, type SourceText, toTree } from './columns.ts';
import { FaultList, type Locator, type Path, type Position, toPathText, unlocated } from './faults.ts';
import { readPlain } from './plain-source.ts';
import { readYaml } from './yaml-source.ts';

export interface Source extends Locator {
  /** The parsed values; undefined where the text cannot be read. Mappings inherit no keys. */
  readonly tree: unknown;
  /** The faults found so far; later steps add more. */
  readonly faults: FaultList;
}

export interface FilePosition {
  readonly file: string;
  readonly line: number;
}

/** The file and line of a value. `file`: for values that come from no other file; undefined where there is none. */
export function filePositionIn(
  { positionOf, nameOf }: Locator,
  path: Path,
  file: string | undefined,
): FilePosition | undefined {
  const position = positionOf(path);
  const { origin = file } = nameOf(path);
  return origin === undefined || position === undefined ? undefined : { file: origin, line: position.line };
}

export function readSourceText(text: string): SourceText {
  const columns = readPlain(text);
  return columns === undefined ? readYaml(text) : { columns, faults: [] };
}

export const parseSource = (text: string): Source => atOnce(toSource(readSourceText(text)));

/** The source from columns. It may pause at every `yield`. */
export function* toSource({ columns, faults }: SourceText): Generator<undefined, Source, undefined> {
  const positions = columns && withoutScalars(columns);
  const positionOf = (path: Path): Position | undefined => positions && positionIn(positions, path);
  const list = new FaultList();
  list.put(...faults.map(({ path, message, position }) => ({ path: toPathText(path), ...position, message })));
  return { ...unlocated, tree: columns && (yield* toTree(columns)), positionOf, faults: list };
}

/** Columns without their values: the positions stay in memory, the values, which may be secrets, do not. */
function withoutScalars({ scalars: _, ...positions }: Columns): Positions {
  return positions;
}
