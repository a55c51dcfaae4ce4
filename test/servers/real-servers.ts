/** The real servers to test: configured addresses by family and operation, and which are missing. */

import { type Family, isMadeHere, offersOf, standardOptions } from '../../src/core/family.ts';
import { type Operation, operations } from '../../src/core/operations/index.ts';
import { families } from '../../src/families/index.ts';

/** An operation of a family, and where it may be tried. */
export interface ServerKind {
  readonly family: Family;
  readonly operation: Operation;
  /** What names its address in the environment, for this operation alone. */
  readonly variable: string;
}

export interface RealServer extends ServerKind {
  /** With a path where the server has one of its own. */
  readonly url: URL;
  readonly model: string | undefined;
  readonly apiKey: string | undefined;
}

const prefix = 'TEST_SERVER';

/** Whatever goes over a wire. */
export function serverKinds(): ServerKind[] {
  return families.flatMap((family) => {
    const offers = offersOf(family, standardOptions(family));
    if (isMadeHere(offers)) return [];
    return operations
      .filter((operation) => offers.openai?.[operation] !== undefined)
      .map((operation) => ({ family, operation, variable: toVariable(family.id, operation) }));
  });
}

/** Those that people run themselves: without an address they are said to be missing. */
export function isSelfHosted({ baseUrl }: Family): boolean {
  return baseUrl !== undefined && new URL(baseUrl).hostname === '127.0.0.1';
}

type Environment = Readonly<Record<string, string | undefined>>;

/** `TEST_SERVER_TEI_RERANK` before `TEST_SERVER_TEI`; the same with `_MODEL` and `_KEY` behind them. */
export function serverAt(kind: ServerKind, env: Environment): RealServer | undefined {
  const wide = toVariable(kind.family.id);
  const read = (end: string): string | undefined => env[kind.variable + end] || env[wide + end] || undefined;
  const address = read('');
  if (address === undefined) return undefined;
  return { ...kind, url: new URL(address), model: read('_MODEL'), apiKey: read('_KEY') };
}

export function toVariable(...parts: readonly string[]): string {
  return [prefix, ...parts].join('_').toUpperCase().replaceAll('-', '_');
}
