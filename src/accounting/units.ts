/** What a bill is of beside tokens and search units, for its row. */

import { termNames } from '../core/accounting/price.ts';
import { readUnits, type Units } from '../core/accounting/units.ts';
import type { Exchange } from '../core/exchange.ts';

interface Counted {
  readonly seconds: number;
  readonly characters: number;
  readonly cacheWriteTokens: number;
}

/** As everybody is served; a row says nothing of it. */
const plainWords: ReadonlySet<unknown> = new Set([
  ...['auto', 'default', 'standard', 'standard_only', 'on_demand', 'ON_DEMAND', 'global', 'not_available'],
]);

function notableOf(units: Units): Readonly<Record<string, unknown>> {
  const notable: Record<string, unknown> = { ...units };
  for (const name of termNames) if (plainWords.has(units[name])) delete notable[name];
  return notable;
}

/** Most requests have none of it, and nothing is made for them. */
export function unitsOf(
  { seconds, characters, cacheWriteTokens }: Counted,
  images: number,
  parts: Units | undefined,
  { estimate, pictures }: Exchange,
): Units | undefined {
  if (parts === undefined && estimate?.terms === undefined && images + seconds + characters + cacheWriteTokens === 0) {
    return undefined;
  }
  return readUnits({
    ...notableOf({ ...estimate?.terms, ...parts }),
    cacheWriteTokens,
    seconds,
    characters,
    ...(images > 0 && {
      images,
      imageSize: pictures?.size ?? estimate?.picture?.size,
      imageQuality: pictures?.quality ?? estimate?.picture?.quality,
    }),
  });
}
