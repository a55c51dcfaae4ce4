/** Sends upstream calls of the gateway's own, such as polls, which have no client. */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { Allowance, readWhole } from '../../answers/whole-answer.ts';
import type { Offer } from '../../core/family.ts';
import type { Operation } from '../../core/operations/index.ts';
import type { Answer, Call, Transport } from '../../core/outcome.ts';
import { behindPath, toPath } from '../../plan/planned-call.ts';
import { uncompressed, upstreamHeaders, withoutHeader } from '../../plan/upstream-head.ts';
import type { ObjectLocation } from './object-location.ts';

export interface OwnCallDeps {
  readonly transport: Transport;
  readonly installation: string;
}

interface OwnCall {
  readonly method: 'GET' | 'POST';
  readonly offer: Offer;
  /** Appended to the path of the upstream. */
  readonly behind: string;
  readonly requestId: string;
  readonly operation: Operation;
  readonly patienceMs?: number | undefined;
}

const standardPatienceMs = 30_000;
const nobody = { get: () => undefined, has: () => false };

export async function callForOurselves(
  { method, offer, behind, requestId, operation, patienceMs = standardPatienceMs }: OwnCall,
  { upstream, credential }: ObjectLocation,
  { transport, installation }: OwnCallDeps,
): Promise<Answer | undefined> {
  const sent = { id: requestId, loopMark: installation };
  const call: Call = {
    method,
    upstream,
    offer,
    path: behindPath(upstream.pathPrefix + toPath(offer, 'any'), behind),
    headers: withoutHeader(uncompressed(upstreamHeaders(sent, credential, upstream, nobody)), 'content-type'),
    body: Buffer.alloc(0),
    timeouts: upstream.timeouts[operation],
    deadlineMs: performance.now() + patienceMs,
    client: { gone: false, work: undefined },
    end: { over: () => undefined },
  };
  const outcome = await transport(call);
  return outcome.kind === 'answered' ? outcome.answer : undefined;
}

/** Reads a whole body; undefined where it broke off, or is longer. */
export async function wholeOf(answer: Answer, longestBytes: number): Promise<Buffer | undefined> {
  const whole = await readWhole(answer, new Allowance(longestBytes));
  return 'body' in whole ? whole.body : undefined;
}

/** Yields a body in chunks as received, with back-pressure. Throws where it breaks off. */
export async function* chunksOf(answer: Answer): AsyncGenerator<Buffer, void, undefined> {
  let chunks: Buffer[] = [];
  let isOver = false;
  let broken: string | undefined;
  let more = Promise.withResolvers<void>();
  answer.take({
    onChunk(chunk) {
      chunks.push(chunk);
      more.resolve();
      return false;
    },
    onEnd() {
      isOver = true;
      more.resolve();
    },
    onBroken({ message }) {
      broken = message;
      more.resolve();
    },
  });
  try {
    for (;;) {
      await more.promise;
      more = Promise.withResolvers<void>();
      const some = chunks;
      chunks = [];
      yield* some;
      if (broken !== undefined) throw new BrokenOff(broken);
      if (isOver && chunks.length === 0) return;
      if (!isOver) answer.resume();
    }
  } finally {
    if (!isOver) answer.cancel();
  }
}

export class BrokenOff extends Error {}
