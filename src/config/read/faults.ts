/** A fault of a configuration: its location, and what to write instead. */

import type { FieldFault } from '../../core/field-fault.ts';
import { withMasks } from '../../lib/secrets/secret-shapes.ts';

/** A first step with ": " names something outside the file, such as `store: upstream "openai" (version 3)`; further steps are within it. */
export type Path = readonly (string | number)[];

export interface Position {
  readonly line: number;
  readonly column: number;
  /** Its position, if not in the configuration file itself, and its name there. */
  readonly origin?: string;
  readonly pathThere?: Path;
}

export interface Fault {
  /** Where it is, if not in the configuration file: another file, or such as `store: upstream "openai" (version 3)`. */
  readonly origin?: string;
  /** Such as `models[0].targets[1].upstream`; empty for the file as a whole. */
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  /** The value and what is expected. Never a secret. */
  readonly message: string;
}

export interface FaultList {
  /** The value's position is looked up unless it is given. */
  add(path: Path, message: string, position?: Position): void;
  /** Suppresses further faults of a value that has one already. */
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

/** Masks texts that look like secrets, which a repeated name may contain. */
export function withMaskedFault(fault: Fault): Fault {
  const { origin, path, message } = fault;
  return { ...fault, ...(origin && { origin: withMasks(origin) }), path: withMasks(path), message: withMasks(message) };
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

/** `; did you mean visible?`, or empty. */
export function suggestion(near: string | undefined): string {
  return near === undefined ? '' : `; did you mean ${near}?`;
}

/** For a document outside of files: only the path within it. */
export function toFieldFaults(faults: FaultList): FieldFault[] {
  return faults.all().map(({ path, message }) => ({ path, message }));
}
