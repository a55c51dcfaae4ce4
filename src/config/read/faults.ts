/** A fault of a configuration: its location, and what to write instead. */

import { withMasks } from '../../lib/secrets/secret-shapes.ts';

/** A first step with ": " names something outside the file, such as `store: upstream "openai" (version 3)`; further steps are within it. */
export type Path = readonly (string | number)[];

export interface Position {
  readonly line: number;
  readonly column: number;
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

/** A valid value that is perhaps not meant. The text follows the path, such as `: this key has expired`. */
export interface Warning {
  readonly path: Path;
  readonly text: string;
}

/** Where values are written. */
export interface Locator {
  /** Of the value, or of the nearest one around it. */
  positionOf(path: Path): Position | undefined;
  /** How faults name it: the origin, and the path there. */
  nameOf(path: Path): Pick<Fault, 'origin'> & { readonly path: Path };
  /** All origins, in the order of their faults. */
  readonly origins: readonly string[];
}

export const unlocated: Locator = { positionOf: () => undefined, nameOf: (path) => ({ path }), origins: [] };

export const locatorFor = (origin: string, positionOf: Locator['positionOf']): Locator => ({
  positionOf,
  nameOf: (path) => ({ origin, path }),
  origins: [origin],
});

/** Faults by their paths: where they are is looked up in the end. */
export class FaultList {
  readonly #added: { readonly path: Path; readonly message: string }[] = [];
  readonly #located: Fault[] = [];
  readonly #hushed = new Set<string>();
  /** How often anything was reported, suppressed or not. */
  reports = 0;

  add(path: Path, message: string): void {
    this.reports += 1;
    if (!this.#hushed.has(toPathText(path))) this.#added.push({ path, message });
  }

  /** Faults of which the position is known; without an origin, that of the list applies. */
  put(...faults: readonly Fault[]): void {
    this.#located.push(...faults);
  }

  /** Suppresses further faults of a value that has one already. */
  hush(path: Path): void {
    this.reports += 1;
    this.#hushed.add(toPathText(path));
  }

  /** Each once, in the order of the file and of the other origins. */
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

/** Masks texts that look like secrets, which a repeated name may contain. */
function withMaskedFault(fault: Fault): Fault {
  const { origin, path, message } = fault;
  return { ...fault, ...(origin && { origin: withMasks(origin) }), path: withMasks(path), message: withMasks(message) };
}
