/** Waits for a promise up to a time limit. */

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

/** Resolves when it is done, or after that time; rejects where it fails before. */
export async function orAfter(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
