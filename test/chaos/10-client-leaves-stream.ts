/** Promise 10: a client that leaves its stream ends the upstream call at once, and the log records it. */

import type { Reply } from '../support/upstreams/fake-reply.ts';
import { atMost, definePromise, within } from './promise.ts';
import { type Moment, watchDepartures } from './support/clients/departures.ts';
import { createViolations } from './support/readings/findings.ts';
import { latencyOf } from './support/readings/latency.ts';

const eventIntervalMs = 20;

/** Goes on for as long as somebody listens. */
async function stream(reply: Reply): Promise<void> {
  await reply.head(200, [
    ['Content-Type', 'text/event-stream'],
    ['Transfer-Encoding', 'chunked'],
  ]);
  for (let i = 0; reply.open; i += 1) {
    await reply.chunk(`data: {"id":"c","choices":[{"text":"word ${i}","index":0}]}\n\n`);
    await reply.sleep(eventIntervalMs);
  }
}

const inTheStream: Moment = {
  name: 'in the stream',
  path: '/v1/completions',
  body: { prompt: 'x', stream: true },
  respond: stream,
  seen: 'word 1',
};

export default definePromise({
  no: 10,
  title: 'a client disconnects in the middle of a stream, under load',
  async run(rig) {
    const count = rig.scale === 'long' ? 2_000 : 120;
    const { departures, others, crashed } = await watchDepartures(rig, {
      moments: [inTheStream],
      count,
      atOnce: 40,
      ratePerSecond: 200,
    });
    const goingOn = createViolations('calls to the upstream that went on');
    const untold = createViolations('streams whose one outcome in the log does not say that the client left');
    const timesMs: number[] = [];
    for (const { id, how, closedAfterMs, lines } of departures) {
      timesMs.push(closedAfterMs ?? Number.POSITIVE_INFINITY);
      if (closedAfterMs === undefined) goingOn.add(`${id}, ${how}`);
      const [line] = lines;
      const isLogged = line?.client_gone === true && line.error === 'client_closed' && line.cut === undefined;
      if (lines.length !== 1 || !isLogged) untold.add(`${id}, ${how}: ${JSON.stringify(lines)}`);
    }
    const { p50Ms, p99Ms } = latencyOf(timesMs);
    const closed = within('upstream connection closed after the client left, p99', p99Ms, 50);
    return [
      { ...closed, measured: `${closed.measured} (median ${p50Ms.toFixed(1)} ms)` },
      goingOn.outOf(departures.length),
      untold.outOf(departures.length),
      atMost('requests of others that failed meanwhile', others.sent - (others.statuses[200] ?? 0), 0),
      atMost('crashes', crashed ? 1 : 0, 0),
    ];
  },
});
