/** The result of parsing a configuration text: its values in columns, or its faults. Plain data that threads can exchange. */

import type { Columns } from './columns.ts';
import type { Path, Position } from './faults.ts';
import { readPlain } from './plain-source.ts';
import { readYaml } from './yaml-source.ts';

export interface SourceText {
  /** Undefined where the text cannot be read. */
  readonly columns: Columns | undefined;
  readonly faults: readonly SourceFault[];
}

export interface SourceFault {
  readonly path: Path;
  readonly message: string;
  readonly position?: Position | undefined;
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
