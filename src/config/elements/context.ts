/** Shared input of every compilation step: families, file contents, and functions to report faults and warnings. */

import type { Family } from '../../core/family.ts';
import { mayBeMatched } from '../../core/model-name.ts';
import type { TakenPath } from '../../core/paths.ts';
import type { FaultList, Path, Position } from '../read/faults.ts';
import { toPathText } from '../read/faults.ts';
import type { SideFiles } from '../read/side-files.ts';
import type { Substitution } from '../read/substitute.ts';

export interface CompileContext {
  readonly families: readonly Family[];
  /** Paths that mean something already, as routes spell them. */
  readonly takenPaths: readonly TakenPath[];
  readonly sideFiles: SideFiles;
  readonly nowMs: number;
  /** The memory that the process may have. */
  readonly availableBytes: number;
  /** How much of the machine's processors, as whole ones. */
  readonly availableCores: number;
  /** Endpoints of a pod that ends are taken out of use a moment after its signal. */
  readonly isInKubernetes: boolean;
  readonly faults: FaultList;
  readonly positionOf: (path: Path) => Position | undefined;
  readonly isSubstituted: Substitution['isSubstituted'];
  /** Legal, and perhaps not meant. */
  readonly warnings: string[];
}

/** An element of one of the lists. */
export interface Entry<T> {
  readonly path: Path;
  readonly value: T;
  /** When the store got it; undefined in the file. */
  readonly createdAtMs?: number | undefined;
}

/** A name for a message; what came from the environment is not repeated. */
export function quoted(context: CompileContext, path: Path, name: string): string {
  return context.isSubstituted(path) ? 'this name' : JSON.stringify(name);
}

/** A pattern has one `*` at most. */
export function checkStars(name: string, path: Path, { faults }: Pick<CompileContext, 'faults'>): void {
  if (name.indexOf('*') !== name.lastIndexOf('*')) faults.add(path, 'holds more than one *; a pattern has one');
}

/** Of a model's or an upstream's pattern: whether any name can come of it. */
export function checkPattern(name: string, path: Path, context: CompileContext): void {
  checkStars(name, path, context);
  if (!name.includes('*') || mayBeMatched(name.replaceAll('*', 'x'))) return;
  context.warnings.push(
    `${toPathText(path)}: no name can match it, as what a pattern stands for has no empty, . or .. segment between slashes and no ?, #, % or \\; write such a name out, as a model of its own`,
  );
}

/** The text of a file that the configuration names, or a fault. */
export function readSideFile(file: string, path: Path, { sideFiles, faults }: CompileContext): string | undefined {
  const content = sideFiles.content(file);
  if ('text' in content) return content.text;
  faults.add(path, `the file cannot be used: ${content.reason}`);
  return undefined;
}

/** `models[0].id (line 5)`, or `models[0].id (conf.d/search.yaml, line 5)`. */
export function locationOf(path: Path, { positionOf }: Pick<CompileContext, 'positionOf'>): string {
  const position = positionOf(path);
  if (position === undefined) return toPathText(path);
  const file = position.place === undefined ? '' : `${position.place}, `;
  return `${toPathText(position.pathThere ?? path)} (${file}line ${position.line})`;
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
    const taken = `${quoted(context, path, name)} is taken by ${locationOf(first, context)}`;
    context.faults.add(path, `${taken}; each name stands for one thing`);
    return false;
  };
}

/** Whether what stands there is managed by the file, or by the store. */
export function managerOf([root = '']: Path): 'file' | 'store' {
  return typeof root === 'string' && root.includes(': ') ? 'store' : 'file';
}
