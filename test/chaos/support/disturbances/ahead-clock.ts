/** Loaded into a process before anything else: both of its clocks are ahead by POSTERN_TEST_AHEAD_MS, as those of a machine of its own may be. */

const aheadMs = Number(process.env.POSTERN_TEST_AHEAD_MS ?? 0);
const { now } = Date;
const monotonic = performance.now.bind(performance);

Date.now = () => now() + aheadMs;
performance.now = () => monotonic() + aheadMs;
