/** Promise 11: a client that leaves before its response is complete ends the upstream call, and the log records it. */

import type { HeaderField } from '../support/clients/http-message.ts';
import { atMost, definePromise } from './promise.ts';
import { type Departure, type Moment, watchDepartures } from './support/clients/departures.ts';
import { createViolations } from './support/readings/findings.ts';

const promised: HeaderField[] = [
  ['Content-Type', 'application/json'],
  ['Content-Length', '1000'],
];

const waiting: Moment = {
  name: 'waiting for the head',
  path: '/v1/rerank',
  body: { query: 'q', documents: ['d'] },
  respond: async () => {},
  seen: '',
};

const inTheBody: Moment = {
  name: 'in the body',
  path: '/v1/embeddings',
  body: { input: 'x' },
  async respond(reply) {
    await reply.head(200, promised);
    await reply.raw('{"object":"list","data":[');
  },
  seen: '"data":[',
};

const inAnError: Moment = {
  name: 'in an error that is held back',
  path: '/v1/completions',
  body: { prompt: 'x' },
  async respond(reply) {
    await reply.head(500, promised);
    await reply.raw('{"error":');
  },
  seen: '',
};

/** What the client was sent of a status; nothing where no head had come. */
const statuses = new Map([
  [waiting, 499],
  [inTheBody, 200],
  [inAnError, 499],
]);

/** Much longer than a machine takes to notify one process of another. */
const promptlyMs = 1_000;

export default definePromise({
  no: 11,
  title: 'a client disconnects before a response without streaming is complete, under load',
  async run(rig) {
    const count = rig.scale === 'long' ? 1_500 : 120;
    const { departures, others, crashed } = await watchDepartures(rig, {
      moments: [waiting, inTheBody, inAnError],
      count,
      atOnce: 40,
      ratePerSecond: 200,
    });
    const goingOn = createViolations(`calls to the upstream that went on for ${promptlyMs / 1000} s`);
    const untold = createViolations('requests whose one outcome in the log does not say that the client left');
    for (const departure of departures) {
      const { id, how, moment, closedAfterMs = Number.POSITIVE_INFINITY } = departure;
      const description = `${id}, ${moment.name}, ${how}`;
      if (closedAfterMs > promptlyMs) goingOn.add(`${description}: ${closedAfterMs} ms`);
      if (!isLogged(departure)) untold.add(`${description}: ${JSON.stringify(departure.lines)}`);
    }
    return [
      goingOn.outOf(departures.length),
      untold.outOf(departures.length),
      atMost('requests of others that failed meanwhile', others.sent - (others.statuses[200] ?? 0), 0),
      atMost('crashes', crashed ? 1 : 0, 0),
    ];
  },
});

function isLogged({ moment, lines }: Departure): boolean {
  const [line, ...more] = lines;
  if (line === undefined || more.length > 0) return false;
  return line.client_gone === true && line.error === 'client_closed' && line.status === statuses.get(moment);
}
