/** Parses the text of a configuration file, YAML or JSON, into plain values with positions. Depth and size are limited. */

import { atOnce } from '../../lib/time-slices.ts';
import { type Columns, type Positions, positionIn, type SourceText, toTree } from './columns.ts';
import { createFaultList, type FaultList, type Path, type Position } from './faults.ts';
import { readPlain } from './plain-source.ts';
import { readYaml } from './yaml-source.ts';

export interface Source {
  /** Undefined where the text cannot be read. Mappings inherit nothing, so that no key means more than itself. */
  readonly tree: unknown;
  /** Of the value, or of what is nearest around it. */
  positionOf(path: Path): Position | undefined;
  /** Holds what is wrong so far, and takes what is found later. */
  readonly faults: FaultList;
}

export interface FilePosition {
  readonly file: string;
  readonly line: number;
}

/** `file`: where all of it is that stands nowhere else; undefined where there is none. */
export function filePositionIn(
  { positionOf }: Pick<Source, 'positionOf'>,
  path: Path,
  file: string | undefined,
): FilePosition | undefined {
  const position = positionOf(path);
  const place = position?.place ?? file;
  return place === undefined || position === undefined ? undefined : { file: place, line: position.line };
}

const bounds = {
  deepest: 32,
  /** What aliases unfold to counts, so that a few lines cannot become millions. */
  mostValues: 200_000,
};

export function readSourceText(text: string): SourceText {
  const columns = readPlain(text, bounds);
  return columns === undefined ? readYaml(text, bounds) : { columns, faults: [] };
}

export const parseSource = (text: string): Source => atOnce(toSource(readSourceText(text)));

/** Every `yield` is a place to stop at. */
export function* toSource({ columns, faults }: SourceText): Generator<undefined, Source, undefined> {
  const places = columns && withoutScalars(columns);
  const positionOf = (path: Path): Position | undefined => places && positionIn(places, path);
  const list = createFaultList(positionOf);
  for (const { path, message, position } of faults) list.add(path, message, position);
  return { tree: columns && (yield* toTree(columns)), positionOf, faults: list };
}

/** Places outlive what was read: the secrets in it need not. */
function withoutScalars({ scalars: _, ...places }: Columns): Positions {
  return places;
}
