/** Reads message and code of a thrown value of any type. */

/** Its message. Where each of several addresses was tried, the whole says nothing and its parts do. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(reasonOf).join(', ');
  return thrown instanceof Error ? thrown.message : String(thrown);
}

/** Its message and where it came from, for faults of our own. */
export function traceOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

/** The system's name of it, such as ENOSPC. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
