/** An upstream that bills: it answers all routes, reports usage, and records the cost of each request. */

import type { Reply } from '../../../support/upstreams/fake-reply.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../../../support/upstreams/fake-upstream.ts';

/** In nano-dollars, as `paidModels` has them in dollars. */
const nanosPer = { embedInput: 2_000, completeInput: 1_000, completeOutput: 4_000, search: 2_000_000, check: 100_000 };

/** The models that it serves, one for each route, for a configuration. */
export function paidModels(upstream: string): readonly Readonly<Record<string, unknown>>[] {
  const targets = [{ upstream }];
  return [
    { id: 'embed', operations: ['embeddings'], price: { input: 2 }, targets },
    { id: 'complete', operations: ['completions'], price: { input: 1, output: 4 }, targets },
    { id: 'rank', operations: ['rerank'], price: { search_unit: 0.002 }, targets },
    { id: 'check', operations: ['moderations'], price: { request: 0.0001 }, targets },
  ];
}

export const paidModelIds = ['embed', 'complete', 'rank', 'check'] as const;

export interface PaidUpstream {
  readonly url: string;
  /** By the exchange's ID: what all the calls of it that came here cost, answered to the end or not. */
  readonly charges: ReadonlyMap<string, number>;
  /** Every call, those of one exchange that came twice too. */
  readonly calls: number;
  close(): Promise<void>;
}

const eventsAStream = 6;

export async function startPaidUpstream(random: () => number): Promise<PaidUpstream> {
  const charges = new Map<string, number>();
  let calls = 0;
  const upstream: FakeUpstream = await startFakeUpstream();
  // At its head: what was begun to be sent counts as seen.
  upstream.respondWith(
    (request, reply) => {
      const id = request.header('x-request-id');
      if (id === undefined) throw new Error('a call came without x-request-id');
      calls += 1;
      const { nanos, answer } = answers(request.path, random);
      charges.set(id, (charges.get(id) ?? 0) + nanos);
      return answer(reply);
    },
    { at: 'head' },
  );
  return {
    url: upstream.url,
    charges,
    get calls() {
      return calls;
    },
    close: () => upstream.close(),
  };
}

interface PaidAnswer {
  readonly nanos: number;
  answer(reply: Reply): ReturnType<Handler>;
}

function answers(path: string, random: () => number): PaidAnswer {
  const inputTokens = 1 + Math.floor(random() * 40);
  const outputTokens = 1 + Math.floor(random() * 16);
  const delayMs = random() * 12;
  const after = (value: unknown) => async (reply: Reply) => {
    await reply.sleep(delayMs);
    return reply.json(200, value);
  };
  switch (path) {
    case '/embeddings':
      return {
        nanos: inputTokens * nanosPer.embedInput,
        answer: after({
          object: 'list',
          data: [{ object: 'embedding', index: 0, embedding: [0.5, -0.5] }],
          usage: { prompt_tokens: inputTokens, total_tokens: inputTokens },
        }),
      };
    case '/rerank':
      return {
        nanos: nanosPer.search,
        answer: after({
          id: 'r',
          results: [0, 1].map((index) => ({ index, relevance_score: 0.5 })),
          meta: { billed_units: { search_units: 1 } },
        }),
      };
    case '/moderations':
      return { nanos: nanosPer.check, answer: after({ id: 'm', model: 'check', results: [{ flagged: false }] }) };
    case '/completions':
      return {
        nanos: inputTokens * nanosPer.completeInput + outputTokens * nanosPer.completeOutput,
        answer: (reply) => stream(reply, inputTokens, outputTokens, random),
      };
    default:
      throw new Error(`a call to ${path}`);
  }
}

async function stream(reply: Reply, inputTokens: number, outputTokens: number, random: () => number): Promise<void> {
  const usage = {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
  };
  const words = Array.from({ length: eventsAStream }, (_, n) => ({
    object: 'text_completion',
    choices: [{ index: 0, text: `word ${n} ` }],
  }));
  return reply.sse([...words, { object: 'text_completion', choices: [], usage }, '[DONE]'], {
    everyMs: 2 + Math.floor(random() * 20),
  });
}
