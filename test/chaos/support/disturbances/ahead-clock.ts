/** Preloaded into a process: both clocks are ahead by POSTERN_TEST_AHEAD_MS, as on another machine. */

const aheadMs = Number(process.env.POSTERN_TEST_AHEAD_MS ?? 0);
const { now } = Date;
const monotonic = performance.now.bind(performance);

Date.now = () => now() + aheadMs;
performance.now = () => monotonic() + aheadMs;
