/** Clients that disconnect during their response: when the upstream noticed, and the lines of the log. */

import { setTimeout as wait } from 'node:timers/promises';
import { nowMs } from '../../../support/clients/http-message.ts';
import { toRequestBytes } from '../../../support/clients/raw-client.ts';
import { connect } from '../../../support/clients/raw-connection.ts';
import { type GatewayProcess, startGatewayProcess } from '../../../support/gateways/gateway-process.ts';
import { toDocument } from '../../../support/gateways/pair.ts';
import type { Reply } from '../../../support/upstreams/fake-reply.ts';
import { type FakeUpstream, startFakeUpstream } from '../../../support/upstreams/fake-upstream.ts';
import type { ChaosRig } from '../../promise.ts';
import { createRandom } from '../random.ts';
import { type AccessLine, readAccessLog } from '../readings/access-log.ts';
import { type LoadReport, startLoad } from './load.ts';

/** A moment at which clients leave. */
export interface Moment {
  readonly name: string;
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  /** The first bytes of the upstream, which may go on for as long as the client reads. */
  respond(reply: Reply): Promise<void>;
  /** What the client has seen of it when it leaves. */
  readonly seen: string;
}

export interface DepartureOptions {
  readonly moments: readonly [Moment, ...Moment[]];
  readonly count: number;
  /** Clients that are there at once. */
  readonly atOnce: number;
  /** Ordinary requests a second, from others, meanwhile. */
  readonly ratePerSecond: number;
}

export interface Departure {
  readonly id: string;
  readonly moment: Moment;
  readonly how: 'destroy' | 'reset' | 'finish';
  /** Between the client's leaving and the end of the call at the upstream; undefined where it did not end. */
  readonly closedAfterMs: number | undefined;
  /** Its lines in the access log; there must be one. */
  readonly lines: readonly AccessLine[];
}

export interface DepartureReport {
  readonly departures: readonly Departure[];
  readonly others: LoadReport;
  readonly crashed: boolean;
}

const waysToLeave = ['destroy', 'reset', 'finish'] as const;
/** A client may stay so much longer than it takes to see what it waits for. */
const longestStayMs = 400;
/** A call that goes on for so long after its client left goes on. */
const closingLimitMs = 10_000;
const idPattern = /"leaver-\d+"/;

export async function watchDepartures(rig: ChaosRig, options: DepartureOptions): Promise<DepartureReport> {
  const { t, progress } = rig;
  const calls = new Map<string, Call>();
  const upstream = await startUpstream(calls);
  t.after(() => upstream.close());
  const gateway = await startGatewayProcess({ config: toDocument(upstream.url) });
  t.after(() => gateway.stop());

  const others = startLoad(t, {
    port: gateway.port,
    requests: [toBytes(gateway, 'other', '/v1/embeddings', { input: 'x' })],
    connections: 20,
    ratePerSecond: options.ratePerSecond,
    maxMs: 300_000,
  });
  const departures: Omit<Departure, 'lines'>[] = [];
  const random = createRandom(rig.seed);
  let begun = 0;
  const work = async (): Promise<void> => {
    while (begun < options.count) {
      const moment = options.moments[begun % options.moments.length] ?? options.moments[0];
      const call = new Call(`leaver-${begun}`, moment, random());
      begun += 1;
      calls.set(call.id, call);
      departures.push(await leave(gateway, call));
      progress(`${departures.length} of ${options.count} clients left`);
    }
  };
  await Promise.all(Array.from({ length: options.atOnce }, work));

  const report = await others.stop();
  const log = await readAccessLog(gateway);
  return {
    departures: departures.map((departure) => ({ ...departure, lines: log.of(departure.id) })),
    others: report,
    crashed: log.crashed,
  };
}

/** One call as the upstream sees it. */
class Call {
  readonly id: string;
  readonly moment: Moment;
  /** In [0, 1): decides how, and how late, the client leaves. */
  readonly chance: number;
  readonly begun = Promise.withResolvers<void>();
  readonly closed = Promise.withResolvers<number>();

  constructor(id: string, moment: Moment, chance: number) {
    this.id = id;
    this.moment = moment;
    this.chance = chance;
  }
}

function startUpstream(calls: ReadonlyMap<string, Call>): Promise<FakeUpstream> {
  return startFakeUpstream(async ({ body }, reply) => {
    const id = idPattern.exec(body.toString())?.[0].slice(1, -1);
    const call = id === undefined ? undefined : calls.get(id);
    if (call === undefined) {
      await reply.json(200, { object: 'list', data: [{}] });
      return;
    }
    call.begun.resolve();
    void reply.clientClosed.then(() => call.closed.resolve(nowMs()));
    await call.moment.respond(reply);
    await reply.clientClosed;
  });
}

async function leave(gateway: GatewayProcess, { id, moment, chance, begun, closed }: Call) {
  const connection = await connect(gateway.port);
  await connection.write(toBytes(gateway, id, moment.path, moment.body));
  await begun.promise;
  await connection.sees(moment.seen);
  await wait(chance * longestStayMs);
  const how = waysToLeave[Math.floor(chance * 1000) % waysToLeave.length] ?? 'destroy';
  const leftAtMs = nowMs();
  connection[how]();
  const closedAtMs = await Promise.race([closed.promise, wait(closingLimitMs, undefined, { ref: false })]);
  connection.destroy();
  return { id, moment, how, closedAfterMs: closedAtMs === undefined ? undefined : closedAtMs - leftAtMs };
}

function toBytes(gateway: GatewayProcess, id: string, path: string, body: object): Buffer {
  return toRequestBytes({
    path,
    headers: [
      ['Authorization', `Bearer ${gateway.key}`],
      ['X-Request-Id', id],
    ],
    body: { model: 'm', user: id, ...body },
  });
}
