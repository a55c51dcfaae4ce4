/** Rates as people read them: two digits below a hundred, whole numbers above. */

import { formatCompact, formatCount } from '../../parts/words/format.ts';

export function formatRate(value: number): string {
  if (value >= 1_000) return formatCompact(value);
  return formatCount(value >= 100 ? Math.round(value) : Number(value.toPrecision(2)));
}
