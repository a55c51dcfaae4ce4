/** Reads message, stack and code of a thrown value of any type. */

/** The message of a thrown value. An error for several addresses has messages in its parts. */
export function reasonOf(thrown: unknown): string {
  if (thrown instanceof AggregateError && thrown.message === '') return thrown.errors.map(reasonOf).join(', ');
  return thrown instanceof Error ? thrown.message : String(thrown);
}

export function traceOf(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
}

/** The operating system's error name, such as ENOSPC; undefined where there is none. */
export function codeOf(thrown: unknown): string | undefined {
  return thrown instanceof Error && 'code' in thrown && typeof thrown.code === 'string' ? thrown.code : undefined;
}
