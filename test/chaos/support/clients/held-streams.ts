/** Streams that continue until released, and what their clients received. */

import { toRequestBytes } from '../../../support/clients/raw-client.ts';
import { connect } from '../../../support/clients/raw-connection.ts';
import { startFakeUpstream } from '../../../support/upstreams/fake-upstream.ts';

export interface HeldStreams {
  readonly url: string;
  /** By the exchange's ID, in nano-dollars: a thousandth of a dollar each. */
  readonly charges: ReadonlyMap<string, number>;
  /** Asks so many times; resolves when all are over, to what was wrong with each: undefined where it came whole. */
  ask(port: number, key: string, count: number): Promise<(string | undefined)[]>;
  /** Resolves when so many have begun. */
  running(count: number): Promise<void>;
  /** All end, those that begin later as well. */
  release(): void;
  close(): Promise<void>;
}

const everyMs = 100;
const timeoutMs = 300_000;

export async function startHeldStreams(): Promise<HeldStreams> {
  const charges = new Map<string, number>();
  const released = Promise.withResolvers<void>();
  let isReleased = false;
  const upstream = await startFakeUpstream(async (request, reply) => {
    charges.set(request.header('x-request-id') ?? '', 1_000_000);
    await reply.head(200, [
      ['content-type', 'text/event-stream'],
      ['transfer-encoding', 'chunked'],
    ]);
    while (!isReleased && reply.open) {
      await reply.chunk('data: {"choices":[{"index":0,"text":"on "}]}\n\n');
      await Promise.race([reply.sleep(everyMs), released.promise]);
    }
    await reply.chunk('data: [DONE]\n\n');
    await reply.lastChunk();
  });

  async function askOnce(port: number, key: string): Promise<string | undefined> {
    const connection = await connect(port, { timeoutMs });
    try {
      const body = { model: 'held', prompt: 'go on', max_tokens: 16, stream: true };
      await connection.write(toRequestBytes({ path: '/v1/completions', headers: [['x-api-key', key]], body }));
      const { status, complete, body: answer } = await connection.nextResponse();
      if (status === 200 && complete && answer.includes('[DONE]')) return undefined;
      return `${status}, ${complete ? 'complete' : 'cut'}: ${answer.subarray(-80)}`;
    } finally {
      connection.destroy();
    }
  }

  return {
    url: upstream.url,
    charges,
    ask: (port, key, count) => Promise.all(Array.from({ length: count }, () => askOnce(port, key))),
    async running(count) {
      while (charges.size < count) await new Promise((resolve) => setTimeout(resolve, 10));
    },
    release() {
      isReleased = true;
      released.resolve();
    },
    close: () => upstream.close(),
  };
}
