/** What `--limit`, `--budget` and `--metadata` say, put upon what a key has: `name=value`, and nothing behind it takes away. */

import { budgetPeriods, measures, rateWindows } from '../../core/caps.ts';
import type { KeyTermsDocument } from '../../core/key.ts';
import { UserFault } from '../../core/user-fault.ts';
import { nearestName } from '../../lib/nearest-name.ts';

type Pairs = ReadonlyMap<string, string>;

const limitNames = [
  ...measures.flatMap((measure) => rateWindows.map((window) => `${measure}_per_${window}`)),
  'concurrency',
];

/** The term as it is from now on. `before`: what there is, which stays where nothing is said of it. */
export const pairedTerms: Readonly<
  Record<
    'limits' | 'budgets' | 'metadata',
    (pairs: Pairs, before: KeyTermsDocument | undefined, drops: boolean) => unknown
  >
> = {
  limits(pairs, before, drops) {
    checkTaken('limit', pairs, limitNames, before);
    const given = [...pairs].filter(isSet).map(([name, value]) => [name, toNumber(value)]);
    return { ...kept(before?.limits, pairs, drops), ...Object.fromEntries(given) };
  },

  budgets(pairs, before, drops) {
    checkTaken('budget', pairs, budgetPeriods, before);
    const stays = drops ? [] : (before?.budgets ?? []).filter(({ every }) => !pairs.has(every));
    return [...stays, ...[...pairs].filter(isSet).map(toBudget)];
  },

  metadata: (pairs, before, drops) => ({
    ...kept(before?.metadata, pairs, drops),
    ...Object.fromEntries([...pairs].filter(isSet)),
  }),
};

const isSet = ([, value]: readonly [string, string]): boolean => value !== '';

function kept<T>(before: Readonly<Record<string, T>> = {}, pairs: Pairs, drops: boolean): Record<string, T> {
  return Object.fromEntries(Object.entries(before).filter(([name]) => !drops && !pairs.has(name)));
}

function toNumber(text: string): number | string {
  return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) : text;
}

/** `50` or `50:80%,100%`. */
function toBudget([every, value]: readonly [string, string]): Record<string, unknown> {
  const [amount = '', alerts, ...rest] = value.split(':');
  if (rest.length > 0) {
    throw new UserFault(`--budget ${every}: "${value}" has more than one colon; write it such as ${every}=50:80%,100%`);
  }
  const listed = alerts?.split(',').map((alert) => alert.trim());
  return { every, amount: amount.trim(), ...(listed !== undefined && { alerts: listed }) };
}

/** What is taken away must have a name that can be there at all; where there was nothing, there is nothing to take. */
function checkTaken(
  option: string,
  pairs: Pairs,
  known: readonly string[],
  before: KeyTermsDocument | undefined,
): void {
  for (const [name, value] of pairs) {
    if (value !== '') continue;
    if (before === undefined) throw new UserFault(`--${option} ${name}: has no value; write it such as ${name}=50`);
    if (known.includes(name)) continue;
    const near = nearestName(name, known);
    throw new UserFault(
      `--${option}: there is no ${option} "${name}"${near === undefined ? ` (there are ${known.join(', ')})` : `; did you mean ${near}?`}`,
    );
  }
}

/** `name=value`, each name once. */
export function readPairs(option: string, given: unknown): Pairs {
  const pairs = new Map<string, string>();
  for (const text of Array.isArray(given) ? given : []) {
    const [, name, value = ''] = /^([^=]*[^=\s])\s*=([\s\S]*)$/.exec(String(text).trim()) ?? [];
    if (name === undefined) {
      throw new UserFault(`--${option}: "${String(text)}" is not written as name=value`);
    }
    if (pairs.has(name)) throw new UserFault(`--${option} ${name}: is given twice; keep one of the two`);
    pairs.set(name, value.trim());
  }
  return pairs;
}
