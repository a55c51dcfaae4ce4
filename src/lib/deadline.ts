/** An answer that is waited for no longer than a time. */

/** Where it does not come in time the wait ends with the error, and whoever works on it goes on. */
export async function beforeDeadline<T>(answer: Promise<T>, timeoutMs: number, toError: () => Error): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(toError()), timeoutMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
