/** Collects faults of a configuration: where each one is, and what to write instead. */

import { withMasks } from '../../lib/secrets/secret-shapes.ts';

/** The steps to a value. A first step with ": " names a place outside the file, such as `store: upstream "openai" (version 3)`. */
export type Path = readonly (string | number)[];

export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface Fault {
  /** Where the fault is, if not in the configuration file: another file, or a place such as `store: upstream "openai" (version 3)`. */
  readonly origin?: string;
  /** The path of the value, such as `models[0].targets[1].upstream`; empty for the file as a whole. */
  readonly path: string;
  readonly line?: number;
  readonly column?: number;
  /** What the value is and what is expected. Never contains a secret. */
  readonly message: string;
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

/** A warning of a value that is valid but perhaps not meant. The text follows the path, such as `: this key has expired`. */
export interface Warning {
  readonly path: Path;
  readonly text: string;
}

export interface Locator {
  /** The position of the value at a path, or of the nearest value around it. */
  positionOf(path: Path): Position | undefined;
  /** How faults name the value at a path: its origin, and the path there. */
  nameOf(path: Path): Pick<Fault, 'origin'> & { readonly path: Path };
  /** All origins, in the order in which their faults are listed. */
  readonly origins: readonly string[];
}

export const unlocated: Locator = { positionOf: () => undefined, nameOf: (path) => ({ path }), origins: [] };

export const locatorFor = (origin: string, positionOf: Locator['positionOf']): Locator => ({
  positionOf,
  nameOf: (path) => ({ origin, path }),
  origins: [origin],
});

/** Collects faults by the paths of their values; the positions are looked up at the end. */
export class FaultList {
  readonly #added: { readonly path: Path; readonly message: string }[] = [];
  readonly #located: Fault[] = [];
  readonly #hushed = new Set<string>();
  /** How often something was reported, whether it was suppressed or not. */
  reports = 0;

  add(path: Path, message: string): void {
    this.reports += 1;
    if (!this.#hushed.has(toPathText(path))) this.#added.push({ path, message });
  }

  /** Adds faults whose positions are known; one without an origin gets that of the list. */
  put(...faults: readonly Fault[]): void {
    this.#located.push(...faults);
  }

  hush(path: Path): void {
    this.reports += 1;
    this.#hushed.add(toPathText(path));
  }

  /** Each fault once, in the order of the file and then of the other origins. */
  all(locator: Locator = unlocated): Fault[] {
    if (this.#added.length === 0 && this.#located.length === 0) return [];
    const { positionOf, nameOf, origins } = locator;
    const found = this.#added.map(({ path, message }): Fault => {
      const { path: named, ...origin } = nameOf(path);
      return { ...origin, path: toPathText(named), ...positionOf(path), message };
    });
    const { path: _, ...standard } = nameOf([]);
    const located = this.#located.map((fault): Fault => ({ ...standard, ...fault }));
    const different = new Map([...located, ...found].map((fault) => [JSON.stringify(fault), fault]));
    const ranks = new Map<string | undefined, number>([undefined, ...origins].map((origin, rank) => [origin, rank]));
    const rankOf = ({ origin }: Fault): number => ranks.get(origin) ?? ranks.size;
    return [...different.values()]
      .toSorted((a, b) => rankOf(a) - rankOf(b) || (a.line ?? 0) - (b.line ?? 0) || (a.column ?? 0) - (b.column ?? 0))
      .map(withMaskedFault);
  }
}

/** Masks texts in a fault that look like secrets, which a name in it may contain. */
function withMaskedFault(fault: Fault): Fault {
  const { origin, path, message } = fault;
  return { ...fault, ...(origin && { origin: withMasks(origin) }), path: withMasks(path), message: withMasks(message) };
}
