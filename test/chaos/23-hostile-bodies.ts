/** Promise 23: no body blocks the event loop, and each gets the documented response. */

import { createHash } from 'node:crypto';
import { createServer } from 'node:http';
import type { TestContext } from 'node:test';
import { toRequestBytes } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { toDocument } from '../support/gateways/pair.ts';
import { atMost, definePromise, type Figure, within } from './promise.ts';
import {
  deepBodies,
  type HostileBody,
  longBodies,
  minced,
  packedBodies,
  twistedBodies,
} from './support/hostile/hostile-bodies.ts';
import { createEventLoopMeter } from './support/readings/event-loop.ts';
import { none } from './support/readings/findings.ts';

const MiB = 1024 ** 2;
/** So many clients send the same body at once, so many times. */
const scales = {
  long: { limitBytes: 32 * MiB, mincedBytes: 2 * MiB, rounds: 2, clients: 2 },
  short: { limitBytes: 10 * MiB, mincedBytes: MiB / 2, rounds: 1, clients: 1 },
} as const;

const answerTimeoutMs = 60_000;
const warmUpRounds = 30;
/** Several times what one such body takes, and far less than a multiple of its pieces. */
const mincedMegabytes = 50;
const rssLookMs = 10;

export default definePromise({
  no: 23,
  title: 'bodies that are designed to block the event loop',
  async run({ t, scale, progress }) {
    const { limitBytes, mincedBytes, rounds, clients } = scales[scale];
    const url = await startDigester(t);
    const meter = await createEventLoopMeter(t);
    const gateway = await startGatewayProcess({
      env: meter.env,
      config: {
        ...toDocument(url),
        models: [{ id: 'm', space: 's', targets: [{ upstream: 'up', model: 'theirs' }] }],
        server: { body_limit: `${limitBytes / MiB}MiB` },
      },
    });
    t.after(() => gateway.stop());

    const wrong: string[] = [];
    /** The worst of them, each measured while it alone is sent. */
    async function measure(name: string, bodies: readonly HostileBody[], times: number): Promise<Figure[]> {
      const worst = { p99: { ms: 0, of: '' }, longest: { ms: 0, of: '' } };
      for (const body of bodies) {
        progress(`${name}: ${body.name}`);
        const request = toRequest(body, gateway.key);
        const wanted = body.forwarded === undefined ? undefined : digestOf(body.forwarded);
        await meter.read(gateway);
        const one = async (): Promise<void> => {
          for (let round = 0; round < times; round += 1)
            wrong.push(...(await faultsOf(gateway, body, request, wanted)));
        };
        await Promise.all(Array.from({ length: clients }, one));
        const { p99Ms, maxMs } = await meter.read(gateway);
        if (p99Ms > worst.p99.ms) worst.p99 = { ms: p99Ms, of: body.name };
        if (maxMs > worst.longest.ms) worst.longest = { ms: maxMs, of: body.name };
      }
      return [
        withCause(within(`${name}: event-loop delay, p99`, worst.p99.ms, 50), worst.p99.of),
        withCause(within(`${name}: event-loop delay, longest`, worst.longest.ms, 100), worst.longest.of),
      ];
    }

    await measure('warm-up', twistedBodies, warmUpRounds);
    const figures = [
      ...(await measure(`${limitBytes / MiB} MiB`, longBodies(limitBytes), rounds)),
      ...(await measure('deep', deepBodies, rounds)),
      ...(await measure('duplicate model, __proto__', twistedBodies, 10 * rounds)),
      ...(await measure('compressed', packedBodies(limitBytes), rounds)),
    ];

    const rss = await watchRss(gateway);
    figures.push(...(await measure('in pieces', [minced(mincedBytes)], 1)));
    const grownMegabytes = Math.round((await rss.stop()) / 1e6);
    return [
      ...figures,
      atMost(
        `in pieces: memory for ${clients} bodies of ${mincedBytes / 1024} KiB`,
        grownMegabytes,
        mincedMegabytes,
        'MB',
      ),
      none('bodies answered or forwarded otherwise than the contract says', wrong),
    ];
  },
});

function withCause(figure: Figure, cause: string): Figure {
  return { ...figure, measured: `${figure.measured} (${cause})` };
}

function toRequest({ bytes, coding, chunked }: HostileBody, key: string): Buffer {
  return toRequestBytes({
    path: '/v1/embeddings',
    headers: [
      ['Authorization', `Bearer ${key}`],
      ...(coding === undefined ? [] : [['Content-Encoding', coding] as const]),
      ...(chunked === undefined ? [] : [['Transfer-Encoding', 'chunked'] as const]),
    ],
    body: bytes,
  });
}

async function faultsOf(
  gateway: GatewayProcess,
  body: HostileBody,
  request: Buffer,
  wanted: string | undefined,
): Promise<string[]> {
  const connection = await connect(gateway.port, { timeoutMs: answerTimeoutMs });
  try {
    await connection.write(request);
    const answer = await connection.nextResponse();
    const said = answer.body.toString();
    if (body.outcome !== 200) {
      const isRefused = answer.status >= 400 && answer.status < 500 && said.includes(`"code":"${body.outcome}"`);
      return isRefused ? [] : [`${body.name}: ${answer.status} ${said}, not ${body.outcome}`];
    }
    const isIntact = answer.status === 200 && said === wanted;
    return isIntact ? [] : [`${body.name}: ${answer.status} ${said}`];
  } finally {
    connection.destroy();
  }
}

/** An upstream that answers with the digest of what it got, and keeps nothing of it. */
async function startDigester(t: TestContext): Promise<string> {
  const server = createServer((request, response) => {
    const hash = createHash('sha256');
    request.on('data', (bytes: Buffer) => hash.update(bytes));
    request.on('end', () => response.end(`{"digest":"${hash.digest('hex')}"}`));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new TypeError('no port');
  return `http://127.0.0.1:${address.port}`;
}

function digestOf(bytes: Buffer): string {
  return `{"digest":"${createHash('sha256').update(bytes).digest('hex')}"}`;
}

/** By how many bytes the gateway grew at most, from now until asked. */
async function watchRss(gateway: GatewayProcess): Promise<{ stop(): Promise<number> }> {
  const startBytes = await gateway.rssBytes();
  let highestBytes = startBytes;
  const look = async (): Promise<void> => {
    highestBytes = Math.max(highestBytes, await gateway.rssBytes());
  };
  const timer = setInterval(() => void look(), rssLookMs);
  return {
    async stop() {
      clearInterval(timer);
      await look();
      return highestBytes - startBytes;
    },
  };
}
