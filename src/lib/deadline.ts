/** Waits for a promise up to a time limit. */

/** Waits for an answer; rejects with the error after the time, while the work continues. */
export async function beforeDeadline<T>(answer: Promise<T>, timeoutMs: number, toError: () => Error): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(toError()), timeoutMs);
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Waits until the work is done, or that time has passed; rejects where it fails before. */
export async function orAfter(work: Promise<unknown>, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, ms);
  try {
    await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
