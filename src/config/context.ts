/** What every step of the compilation is given: the families, what was read from files, and where to put what it finds. */

import type { Family } from '../core/family.ts';
import type { FaultList, Path, Position } from './faults.ts';
import { toPathText } from './faults.ts';
import type { SideFiles } from './side-files.ts';
import type { Substitution } from './substitute.ts';

export interface CompileContext {
  readonly families: readonly Family[];
  readonly sideFiles: SideFiles;
  readonly nowMs: number;
  readonly faults: FaultList;
  readonly positionOf: (path: Path) => Position | undefined;
  readonly isSubstituted: Substitution['isSubstituted'];
  /** Legal, and perhaps not meant. */
  readonly warnings: string[];
  /** What is set and has no effect in this version. */
  readonly notices: string[];
}

/** A name for a message; what came from the environment is not repeated. */
export function quoted(context: CompileContext, path: Path, name: string): string {
  return context.isSubstituted(path) ? 'this name' : JSON.stringify(name);
}

/** Hands out names once: the second claim is a fault that says where the first one stands. */
export function createClaims(context: CompileContext): (name: string, path: Path) => boolean {
  const claimed = new Map<string, Path>();
  return (name, path) => {
    const first = claimed.get(name);
    if (first === undefined) {
      claimed.set(name, path);
      return true;
    }
    const line = context.positionOf(first)?.line;
    const place = toPathText(first) + (line === undefined ? '' : ` (line ${line})`);
    context.faults.add(path, `${quoted(context, path, name)} is taken by ${place}; each name stands for one thing`);
    return false;
  };
}
