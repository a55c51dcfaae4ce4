/** A span of time, as a query gives it. */

import * as z from 'zod';

const dayMs = 86_400_000;
const time = /^\d{4}-\d{2}-\d{2}(T\d{2}:\d{2}(:\d{2}(\.\d{1,9})?)?(Z|[+-]\d{2}:\d{2}))?$/;

const asked = z.string().max(40);

/** A time, or the beginning of a day in UTC. */
export const fromTime = asked
  .transform((text, issues) => toTime(text, issues))
  .optional()
  .meta({ description: 'A time such as 2026-11-21T09:00Z, or a day in UTC such as 2026-11-21.' });

/** A time, or the end of a day in UTC. */
export const toTimeOf = asked
  .transform((text, issues) => toTime(text, issues) + (text.length === 'yyyy-mm-dd'.length ? dayMs : 0))
  .optional()
  .meta({ description: 'Before this time; a day in UTC is included whole.' });

function toTime(text: string, issues: z.RefinementCtx): number {
  const ms = time.test(text) ? Date.parse(text) : Number.NaN;
  if (ms >= 0 && isRealDay(text)) return ms;
  issues.addIssue(`"${text}" is no time since 1970; write it such as 2026-11-21 or 2026-11-21T09:00Z.`);
  return z.NEVER;
}

/** There is no 30th of February, whatever a date makes of it. */
function isRealDay(text: string): boolean {
  const day = text.slice(0, 'yyyy-mm-dd'.length);
  const ms = Date.parse(day);
  return Number.isFinite(ms) && new Date(ms).toISOString().startsWith(day);
}

interface Span {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** Says it of `from`, the one that is more often wrong. */
export function checkSpan({ from, to }: Span, issues: z.RefinementCtx): void {
  if (from !== undefined && to !== undefined && from >= to) {
    issues.addIssue({ code: 'custom', path: ['from'], message: '"from" has to be before "to".' });
  }
}
