/** Promise 19: every malformed request is refused, none of it is forwarded, and service continues. */

import { setTimeout as wait } from 'node:timers/promises';
import { send } from '../support/clients/raw-client.ts';
import { connect, type RawConnection } from '../support/clients/raw-connection.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { toDocument } from '../support/gateways/pair.ts';
import { testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { atMost, definePromise } from './promise.ts';
import { type SpoiledRequest, spoiledRequests } from './support/hostile/spoiled-requests.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';

const counts = { long: 20_000, short: 1_200 } as const;
const clients = 16;
const answerTimeoutMs = 10_000;
const longestPauseMs = 3;

export default definePromise({
  no: 19,
  title: 'malformed requests',
  async run({ t, scale, seed, progress }) {
    const upstream = await startFakeUpstream();
    t.after(() => upstream.close());
    const gateway = await startGatewayProcess({
      config: {
        ...toDocument(upstream.url),
        keys: [{ id: 'test', secret: testKey }],
        server: { timeouts: { headers: '2s', request: '2s' } },
      },
    });
    t.after(() => gateway.stop());
    let hasExited = false;
    void gateway.exited.then(() => {
      hasExited = true;
    });

    const random = createRandom(seed);
    const requests = spoiledRequests(counts[scale], random);
    const left = requests.map((request) => ({ request, segments: toSegments(request.bytes, random) }));
    const notRefused: string[] = [];
    const work = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined && !hasExited; next = left.pop()) {
        const outcome = await outcomeOf(gateway.port, next.request, next.segments);
        if (outcome !== 'refused') notRefused.push(`${outcome}: ${next.request.name}, ${shown(next.request)}`);
        progress(`${left.length} malformed requests are left`);
      }
    };
    await Promise.all(Array.from({ length: clients }, work));
    const { receivedBytes } = upstream;
    const { accepted } = upstream.connections();

    // What makes them malformed is their one oddity: without it they are served.
    const notServed: string[] = [];
    const sample = requests.filter(({ whole }) => whole !== undefined).slice(0, 200);
    for (const { whole, name } of sample) {
      if (hasExited || whole === undefined) break;
      const { status, body } = await send(gateway.port, whole);
      if (status !== 200) notServed.push(`${status} ${body}: ${name}, ${whole.toString('latin1')}`);
    }

    const faults = gateway.log().filter(({ level, error }) => Number(level) >= 50 || error === 'internal_error');
    return [
      none(`malformed requests not refused with 4xx or a close, of ${requests.length}`, notRefused),
      atMost('bytes that reached the upstream', receivedBytes, 0),
      atMost('connections to the upstream', accepted, 0),
      atMost('crashes', hasExited ? 1 : 0, 0),
      none('internal errors and words on standard error', [
        ...faults.map((line) => JSON.stringify(line)),
        ...(gateway.stderr() === '' ? [] : [gateway.stderr()]),
      ]),
      none(`the same requests without their oddity, not served, of ${sample.length}`, notServed),
    ];
  },
});

interface Segment {
  readonly bytes: Buffer;
  readonly pauseMs: number;
}

/** A parser may see a thing otherwise when it arrives in parts. */
function toSegments(bytes: Buffer, random: () => number): Segment[] {
  const parts = random() < 0.5 ? 1 : 2 + Math.floor(random() * 3);
  const ends = Array.from({ length: parts - 1 }, () => Math.floor(random() * bytes.length));
  return [...ends, bytes.length]
    .sort((a, b) => a - b)
    .map((end, index, all) => ({
      bytes: bytes.subarray(all[index - 1] ?? 0, end),
      pauseMs: random() * longestPauseMs,
    }));
}

async function outcomeOf(port: number, { cut }: SpoiledRequest, segments: readonly Segment[]): Promise<string> {
  const connection = await connect(port, { timeoutMs: answerTimeoutMs });
  try {
    for (const [index, { bytes, pauseMs }] of segments.entries()) {
      if (index > 0) await wait(pauseMs);
      await connection.write(bytes);
    }
    if (cut) connection.finish();
    return await readOutcome(connection);
  } finally {
    connection.destroy();
  }
}

async function readOutcome(connection: RawConnection): Promise<string> {
  const { status, closed } = await connection.nextResponse();
  const statusLines =
    connection
      .received()
      .toString('latin1')
      .match(/HTTP\/1\.1 \d{3} /g) ?? [];
  if (statusLines.length > 1) return `several answers (${statusLines.join(', ')})`;
  if (status === 0) return closed === 'open' ? 'silence' : 'refused';
  return status >= 400 && status < 500 ? 'refused' : `status ${status}`;
}

function shown({ bytes }: SpoiledRequest): string {
  return JSON.stringify(bytes.toString('latin1'));
}
