/** Repeats work with a pause between the end of a run and the start of the next, so that no two run at a time. */

export type Repeated = ReturnType<typeof repeat>;

/** Starts repeating `work`, which must not reject. `firstMs`: pause before the first run, which begins at once where it is 0. */
export function repeat(work: () => unknown, pauseMs: number | (() => number), firstMs = toMs(pauseMs)) {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();
  let isRunning = false;
  let isAskedAgain = false;
  let isClosed = false;

  function now(): void {
    if (isClosed) return;
    isAskedAgain = isRunning;
    if (isRunning) return;
    clearTimeout(timer);
    isRunning = true;
    running = run();
  }

  async function run(): Promise<void> {
    await work();
    isRunning = false;
    if (isAskedAgain) now();
    else wait(toMs(pauseMs));
  }

  function wait(ms: number): void {
    if (!isClosed) timer = setTimeout(now, ms).unref();
  }

  if (firstMs === 0) now();
  else wait(firstMs);
  return {
    /** Begins a run at once, or another one as soon as the present one has ended. */
    now,
    get isRunning(): boolean {
      return isRunning;
    },
    /** Begins no run any more; resolves when the present one has ended. */
    async close(): Promise<void> {
      isClosed = true;
      clearTimeout(timer);
      await running;
    },
  };
}

const toMs = (ms: number | (() => number)): number => (typeof ms === 'number' ? ms : ms());
