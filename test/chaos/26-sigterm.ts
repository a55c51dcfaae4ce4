/** Promise 26: a shutdown under load breaks no response, except what is unfinished at the deadline, visibly. */

import { setTimeout as wait } from 'node:timers/promises';
import { codeOf } from '../../src/lib/thrown.ts';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { connect, type RawConnection } from '../support/clients/raw-connection.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { type ChaosRig, definePromise, type Scale, within } from './promise.ts';
import { startLoad } from './support/clients/load.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';

interface Size {
  readonly rounds: number;
  readonly calmMs: number;
  readonly deadlineMs: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  long: { rounds: 5, calmMs: 3_000, deadlineMs: 6_000 },
  short: { rounds: 1, calmMs: 700, deadlineMs: 2_000 },
};

const busyClients = 40;
/** They rest for so long that they find their connection closed now and then. */
const leisurelyClients = 10;
const longestRestMs = 1_800;
const streams = 5;
const eventsAStream = 12;
const eventEveryMs = 100;
const endlessStreams = 2;
const delayMs = 300;
/** The gateway checks the clock a few times a second, and then has to close. */
const leaveMs = 1_000;

/** What went wrong, a line each, and what there was of the rest. */
class Tally {
  answered = 0;
  answeredAfterSignal = 0;
  turnedAway = 0;
  readonly failed: string[] = [];
  readonly brokenStreams: string[] = [];
  readonly uncutStreams: string[] = [];
  readonly badExits: string[] = [];
  worstEndMs = 0;
}

export default definePromise({
  no: 26,
  title: 'SIGTERM with 50 keep-alive clients, five times, streams running',
  async run(rig) {
    const { rounds, deadlineMs } = sizes[rig.scale];
    const tally = new Tally();
    const random = createRandom(rig.seed);
    for (let round = 0; round < rounds; round += 1) {
      rig.progress(`round ${round + 1} of ${rounds}`);
      await endOnce(rig, tally, random, round % 2 === 0);
    }
    const { answered, answeredAfterSignal, turnedAway, failed, brokenStreams, uncutStreams, badExits } = tally;
    return [
      {
        name: 'requests answered whole, of these after the signal',
        bar: 'some of each',
        measured: `${answered}, ${answeredAfterSignal} (${turnedAway} clients came too late, and were told before they had sent)`,
        met: answeredAfterSignal > 0,
      },
      none('failed requests', failed),
      none('streams that had time to end, and were cut', brokenStreams),
      none('endless streams that were not cut, or looked whole', uncutStreams),
      none('exits with a code other than 0, or with the wrong last word', badExits),
      within(`end of the process beyond the deadline of ${deadlineMs / 1_000} s`, tally.worstEndMs, leaveMs),
    ];
  },
});

async function endOnce(
  { t, scale, seed }: ChaosRig,
  tally: Tally,
  random: () => number,
  endless: boolean,
): Promise<void> {
  const { calmMs, deadlineMs } = sizes[scale];
  const upstream = await startFakeUpstream(createHandler(random));
  t.after(() => upstream.close());
  const gateway = await startGatewayProcess({ config: toConfig(upstream, deadlineMs) });
  t.after(() => gateway.stop());

  const load = startLoad(t, {
    port: gateway.port,
    requests: [toRequest(gateway, '/v1/embeddings', { model: 'm', input: 'x' })],
    connections: busyClients,
    pauseMs: 10,
    maxMs: calmMs + delayMs + deadlineMs + 5_000,
  });
  const leisurely = Array.from({ length: leisurelyClients }, (_, client) =>
    runLeisurely({ gateway, upstream, tally, random, name: `${seed}-${client}` }),
  );
  await wait(calmMs);
  const finite = await openStreams(gateway, streams, 'finite');
  const infinite = await openStreams(gateway, endless ? endlessStreams : 0, 'endless');

  const signalledMs = performance.now();
  const answeredBefore = load.answered;
  gateway.signal('SIGTERM');
  const exit = await gateway.exited;
  tally.worstEndMs = Math.max(tally.worstEndMs, performance.now() - signalledMs - delayMs - deadlineMs);

  const report = await load.stop();
  await Promise.all(leisurely);
  const good = report.statuses['200'] ?? 0;
  tally.answered += good;
  tally.answeredAfterSignal += good - answeredBefore;
  // A client that connects after the end is refused, and has lost nothing.
  if (report.broken > 0 || good !== report.answered) {
    const reasons = report.failures.filter((reason) => !reason.includes('ECONNREFUSED'));
    tally.failed.push(`${report.broken + report.answered - good} busy clients: ${reasons.slice(0, 3).join('; ')}`);
  }
  for (const stream of finite) {
    const { complete, body } = await stream.nextResponse();
    if (!complete || body.toString() !== wholeStream) tally.brokenStreams.push(body.toString());
  }
  for (const stream of infinite) {
    const { complete, closed } = await stream.nextResponse();
    if (complete || closed === 'open') tally.uncutStreams.push(`${closed}, ${complete ? 'complete' : 'cut'}`);
  }
  const lastWord = gateway.log().find(({ msg }) => msg === 'stopped')?.complete;
  if (exit.code !== 0 || lastWord !== !endless) tally.badExits.push(`${JSON.stringify(exit)}, complete: ${lastWord}`);
}

const wholeStream = Array.from({ length: eventsAStream }, (_, n) => `data: event ${n}\n\n`).join('');

function createHandler(random: () => number): Handler {
  return async (request, reply) => {
    const text = request.body.toString();
    if (text.includes('finite')) {
      const events = Array.from({ length: eventsAStream }, (_, n) => `event ${n}`);
      return reply.sse(events, { everyMs: eventEveryMs });
    }
    if (text.includes('endless')) {
      await reply.head(200, [
        ['content-type', 'text/event-stream'],
        ['transfer-encoding', 'chunked'],
      ]);
      for (let n = 0; reply.open; n += 1) {
        await reply.chunk(`data: event ${n}\n\n`);
        await reply.sleep(eventEveryMs);
      }
      return;
    }
    // Most at once, some slow enough to be running whenever the signal comes.
    await reply.sleep(random() < 0.05 ? 700 : random() * 20);
    return reply.json(200, { ok: true });
  };
}

function toConfig({ url }: FakeUpstream, deadlineMs: number): Readonly<Record<string, unknown>> {
  return {
    server: { drain: { delay: `${delayMs}ms`, deadline: `${deadlineMs}ms` } },
    upstreams: [{ id: 'up', family: 'openai', base_url: url, api_key: 'sk-upstream-key' }],
    models: [{ id: 'm', operations: ['embeddings', 'completions'], targets: [{ upstream: 'up' }] }],
  };
}

function toRequest(gateway: GatewayProcess, path: string, body: unknown): Buffer {
  return toRequestBytes({ path, headers: [['x-api-key', gateway.key]], body });
}

/** Resolves when the first event of each is here. */
function openStreams(gateway: GatewayProcess, count: number, kind: string): Promise<RawConnection[]> {
  const request = toRequest(gateway, '/v1/completions', { model: 'm', prompt: kind, stream: true });
  return Promise.all(
    Array.from({ length: count }, async () => {
      const connection = await connect(gateway.port, { timeoutMs: 30_000 });
      await connection.write(request);
      await connection.sees('event 0');
      return connection;
    }),
  );
}

interface Leisurely {
  readonly gateway: GatewayProcess;
  readonly upstream: FakeUpstream;
  readonly tally: Tally;
  readonly random: () => number;
  readonly name: string;
}

/**
 * A client with long pauses, which behaves like common ones: it keeps its connection, makes a new one where that was closed, and sends again what was
 * closed on unanswered, where the upstream has not seen it. It leaves when nobody listens any more.
 */
async function runLeisurely({ gateway, upstream, tally, random, name }: Leisurely): Promise<void> {
  let connection: KeptConnection | undefined;
  try {
    for (let turn = 0; ; turn += 1) {
      const input = `${name}-${turn}`;
      for (let answered = false; !answered; ) {
        if (connection === undefined || connection.closed) connection = await KeptConnection.open(gateway.port);
        if (connection === undefined) {
          tally.turnedAway += 1;
          return;
        }
        const answer = await connection.ask(toRequest(gateway, '/v1/embeddings', { model: 'm', input }));
        answered = answer.kind === 'whole';
        if (answered) tally.answered += 1;
        else if (answer.kind === 'bad' || upstream.requests.some(({ body }) => body.includes(`"${input}"`))) {
          tally.failed.push(`a leisurely client: ${answer.shown}`);
          return;
        }
      }
      await Promise.race([wait(random() * longestRestMs), gateway.exited]);
    }
  } finally {
    connection?.destroy();
  }
}

interface Answer {
  /** `nothing`: the connection was closed before a byte of an answer. */
  readonly kind: 'whole' | 'bad' | 'nothing';
  readonly shown: string;
}

/** A connection that knows when the server has closed it. */
class KeptConnection {
  closed = false;
  readonly #connection: RawConnection;

  constructor(connection: RawConnection) {
    this.#connection = connection;
    void connection.closed().then((state) => {
      this.closed = state !== 'open';
    });
  }

  /** Undefined if there is no listener any more. */
  static async open(port: number): Promise<KeptConnection | undefined> {
    try {
      return new KeptConnection(await connect(port, { timeoutMs: 30_000 }));
    } catch (error) {
      if (codeOf(error) === 'ECONNREFUSED') return undefined;
      throw error;
    }
  }

  async ask(request: Buffer): Promise<Answer> {
    const before = this.#connection.received().length;
    await this.#connection.write(request);
    const { status, statusLine, complete, closed, body } = await this.#connection.nextResponse();
    const shown = `${statusLine || 'no answer'}, ${closed}, ${body}`;
    if (status === 200 && complete) return { kind: 'whole', shown };
    return { kind: this.#connection.received().length === before && closed !== 'open' ? 'nothing' : 'bad', shown };
  }

  destroy(): void {
    this.#connection.destroy();
  }
}
