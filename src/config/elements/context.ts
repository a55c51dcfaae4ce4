/** Defines the input that all compilation steps share: families, contents of files, and functions to report faults and warnings. */

import type { Family } from '../../core/family.ts';
import { mayBeMatched } from '../../core/model-name.ts';
import type { TakenPath } from '../../core/paths.ts';
import { type NearestName, nearestName, toHint } from '../../lib/nearest-name.ts';
import { type FaultList, type Locator, type Path, toPathText, type Warning } from '../read/faults.ts';
import type { SideFiles } from '../read/side-files.ts';
import type { Substitution } from '../read/substitute.ts';

export interface CompileContext {
  readonly families: readonly Family[];
  /** The paths that the gateway's routes already use, as routes write them. */
  readonly takenPaths: readonly TakenPath[];
  readonly sideFiles: SideFiles;
  readonly nowMs: number;
  readonly availableBytes: number;
  /** Number of whole processors that this process may use. */
  readonly availableCores: number;
  /** True in Kubernetes, where a pod that is ending still gets requests for a moment. */
  readonly isInKubernetes: boolean;
  readonly faults: FaultList;
  readonly locator: Locator;
  readonly isSubstituted: Substitution['isSubstituted'];
  readonly warnings: Warning[];
}

export interface Entry<T> {
  readonly path: Path;
  readonly value: T;
  readonly createdAtMs?: number | undefined;
}

export type Reporting = Pick<CompileContext, 'faults' | 'locator' | 'isSubstituted' | 'warnings'>;

/** The location of a value in the configuration, through which faults and warnings about it are reported. */
export class Location<C extends Reporting = CompileContext> {
  readonly context: C;
  readonly path: Path;

  constructor(context: C, path: Path) {
    this.context = context;
    this.path = path;
  }

  at(...steps: Path): Location<C> {
    return new Location(this.context, [...this.path, ...steps]);
  }

  fault(message: string): void {
    this.context.faults.add(this.path, message);
  }

  /** Warns about a value that is valid but perhaps not meant. `text` follows the path, such as `: this key has expired`. */
  warn(text: string): void {
    this.context.warnings.push({ path: this.path, text });
  }

  /** The name as messages show it: one that comes from the environment is not repeated. */
  quoted(name: string): string {
    return this.context.isSubstituted(this.path) ? 'this name' : JSON.stringify(name);
  }

  /** Reports a name that nothing has, with the most similar known name as a hint, or else with `otherwise`. */
  unknown(what: string, name: string, known: Iterable<string> | NearestName, otherwise?: string): void {
    const near = typeof known === 'function' ? known(name) : nearestName(name, known);
    this.fault(`${what} ${this.quoted(name)}${toHint(near, otherwise)}`);
  }

  /** The location for messages, such as `models[0].id (line 5)` or `models[0].id (conf.d/search.yaml, line 5)`. */
  inWords(): string {
    const { positionOf, nameOf } = this.context.locator;
    const position = positionOf(this.path);
    if (position === undefined) return toPathText(this.path);
    const { origin, path } = nameOf(this.path);
    return `${toPathText(path)} (${origin === undefined ? '' : `${origin}, `}line ${position.line})`;
  }
}

export function inFileToo(inFile: Location<Reporting>): string {
  return `is declared by the configuration file too: ${inFile.inWords()}; the file manages it, so change it there, or take it out of one of the two`;
}

export function checkStars(name: string, location: Location<Reporting>): void {
  if (name.indexOf('*') !== name.lastIndexOf('*')) location.fault('holds more than one *; a pattern has one');
}

/** Reports a pattern of a model or an upstream with more than one `*`, and warns of one that no name can match. */
export function checkPattern(name: string, location: Location): void {
  checkStars(name, location);
  if (!name.includes('*') || mayBeMatched(name.replaceAll('*', 'x'))) return;
  location.warn(
    ': no name can match it, as what a pattern stands for has no empty, . or .. segment between slashes and no ?, #, % or \\; write such a name out, as a model of its own',
  );
}

/** The text of a file that the configuration names; reports a fault where it cannot be read. */
export function readSideFile(file: string, location: Location): string | undefined {
  const content = location.context.sideFiles.content(file);
  if ('text' in content) return content.text;
  location.fault(`the file cannot be used: ${content.reason}`);
  return undefined;
}

/** Returns a function that remembers where each name stood first, and returns that place from the second time on. */
export function createFirsts<At>(): (name: string, at: At) => At | undefined {
  const firsts = new Map<string, At>();
  return (name, at) => {
    const first = firsts.get(name);
    if (first === undefined) firsts.set(name, at);
    return first;
  };
}

/** Returns a function that reports a name used twice, with the first location. `steps`: from the element to its name. */
export function createClaims(): (name: string, element: Location, ...steps: Path) => boolean {
  const firstOf = createFirsts<{ readonly element: Location; readonly steps: Path }>();
  return (name, element, ...steps) => {
    const first = firstOf(name, { element, steps });
    if (first === undefined) return true;
    const location = element.at(...steps);
    const taken = first.element.at(...first.steps).inWords();
    location.fault(`${location.quoted(name)} is taken by ${taken}; each name stands for one thing`);
    return false;
  };
}

export function managerOf([root = '']: Path): 'file' | 'store' {
  return typeof root === 'string' && root.includes(': ') ? 'store' : 'file';
}
