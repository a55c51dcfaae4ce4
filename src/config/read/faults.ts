/** A fault of a configuration: its location, and what to write instead. */

import type { FieldFault } from '../../core/field-fault.ts';
import { withMasks } from '../../lib/secrets/secret-shapes.ts';

/**
 * A first step with a colon and a space in it names something that does not stand in the file, such as
 * `store: upstream "openai" (version 3)`; the steps after it are inside of that.
 */
export type Path = readonly (string | number)[];

export interface Position {
  readonly line: number;
  readonly column: number;
  /** Where it stands, if not in the configuration file itself, and what it is called there. */
  readonly place?: string;
  readonly pathThere?: Path;
}

export interface Fault {
  /** Where it stands, if not in the configuration file: another file, or such as `store: upstream "openai" (version 3)`. */
  readonly place?: string;
  /** Such as `models[0].targets[1].upstream`; empty for the file as a whole. */
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  /** What came, what is wanted. Never a secret. */
  readonly message: string;
}

export interface FaultList {
  /** Where the value stands is looked up, unless it is told. */
  add(path: Path, message: string, position?: Position): void;
  /** Says nothing more about a value that something was said about already. */
  hush(path: Path): void;
  /** In the order of the file. */
  all(): Fault[];
}

export function toPathText(path: Path): string {
  let text = '';
  for (const [index, step] of path.entries()) {
    if (index === 0 && typeof step === 'string' && step.includes(': ')) {
      return path.length === 1 ? step : `${step} ${toPathText(path.slice(1))}`;
    }
    if (typeof step === 'number') text += `[${step}]`;
    else if (/^[A-Za-z_$][\w$-]*$/.test(step)) text += text === '' ? step : `.${step}`;
    else text += `[${JSON.stringify(step)}]`;
  }
  return text;
}

/** Without what looks like a secret, which may stand in a name that the message repeats. */
export function withMaskedFault(fault: Fault): Fault {
  const { place, path, message } = fault;
  return { ...fault, ...(place && { place: withMasks(place) }), path: withMasks(path), message: withMasks(message) };
}

export function createFaultList(positionOf: (path: Path) => Position | undefined): FaultList {
  const faults: Fault[] = [];
  const hushed = new Set<string>();
  const seen = new Set<string>();
  return {
    add(path, message, position = positionOf(path)) {
      const text = toPathText(path);
      const key = `${text} ${position?.line} ${message}`;
      if (hushed.has(text) || seen.has(key)) return;
      seen.add(key);
      const at = position && { line: position.line, column: position.column };
      faults.push({ path: text, ...at, message });
    },
    hush(path) {
      hushed.add(toPathText(path));
    },
    all() {
      return faults
        .toSorted((a, b) => (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
        .map(withMaskedFault);
    },
  };
}

/** `; did you mean visible?`, or nothing. */
export function suggestion(near: string | undefined): string {
  return near === undefined ? '' : `; did you mean ${near}?`;
}

/** Of a document that stands in no file: where in it, and nothing more. */
export function toFieldFaults(faults: FaultList): FieldFault[] {
  return faults.all().map(({ path, message }) => ({ path, message }));
}
