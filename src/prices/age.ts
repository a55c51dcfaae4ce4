/** How old a list of prices is: makers change theirs a few times a year, and nobody tells Postern. */

const dayMs = 86_400_000;
/** Older ones are told with their age wherever they are shown. */
const oldAfterDays = 180;

/** `", 386 days old"`, or nothing while it is young. */
export function ageText(asOf: string, nowMs: number): string {
  const days = Math.floor((nowMs - Date.parse(`${asOf}T00:00:00Z`)) / dayMs);
  return days > oldAfterDays ? `, ${days} days old` : '';
}
