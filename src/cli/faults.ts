/** Faults of a configuration: a command throws them, and they are printed one line each with its location. */

import type { FaultyConfiguration } from '../config/load.ts';
import type { Fault } from '../config/read/faults.ts';

/** More than one sentence speaks against it: a line for each. */
export class FaultsFound extends Error {
  override readonly name = 'FaultsFound';
  readonly faults: readonly Fault[];
  readonly file: string | undefined;

  constructor(faults: readonly Fault[], file: string | undefined) {
    super(`${faults.length} faults`);
    this.faults = faults;
    this.file = file;
  }
}

/** Throws the faults where there are any. */
export function faultless<Whole extends { readonly ok: true }>(found: Whole | FaultyConfiguration): Whole {
  if (found.ok) return found;
  throw new FaultsFound(found.faults, found.file);
}

export function printFaults(
  { file, faults }: Pick<FaultsFound, 'file' | 'faults'>,
  print: (line: string) => void,
): void {
  for (const { place: elsewhere, path, line, message } of faults) {
    const place = [elsewhere ?? file ?? 'configuration', ...(line === undefined ? [] : [String(line)])].join(':');
    print(path === '' ? `${place}  ${message}` : `${place}  ${path}  ${message}`);
  }
}
