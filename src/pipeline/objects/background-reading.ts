/** Asks an upstream how far an answer is that it makes in the background. */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import type { Answer, Call, Transport } from '../../core/outcome.ts';
import type { Route } from '../../core/route.ts';
import { offerKey } from '../../core/snapshot.ts';
import { type BackgroundEnd, backgroundStatuses } from '../../core/store/background-answers.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { behindPath, toPath } from '../calls/plan.ts';
import { uncompressed, upstreamHeaders, withoutHeader } from '../headers.ts';
import { createUsageObserver } from '../usage/usage.ts';
import type { Place } from './placing.ts';

/** `unknown`: nobody can say just now. */
export type BackgroundState = BackgroundEnd | 'running' | 'gone' | 'unknown';

export interface ReadingDeps {
  readonly transport: Transport;
  readonly installation: string;
}

/** What is longer is no answer that was made of text. */
const longestBytes = 32 * 1024 * 1024;
const patienceMs = 30_000;
const nobody = { get: () => undefined, has: () => false };

export async function readBackground(
  { id, requestId, route }: { readonly id: string; readonly requestId: string; readonly route: Route },
  { upstream, credential }: Place,
  { transport, installation }: ReadingDeps,
): Promise<BackgroundState> {
  const offer = upstream.offers.get(offerKey(route.label, route.operation));
  if (offer === undefined) return 'unknown';
  const sent = { id: requestId, loopMark: installation };
  const headers = withoutHeader(uncompressed(upstreamHeaders(sent, credential, upstream, nobody)), 'content-type');
  const call: Call = {
    method: 'GET',
    upstream,
    offer,
    path: behindPath(upstream.pathPrefix + toPath(offer, 'any'), `/${encodeURIComponent(id)}`),
    headers,
    body: Buffer.alloc(0),
    timeouts: upstream.timeouts[route.operation],
    deadlineMs: performance.now() + patienceMs,
    client: { gone: false, work: undefined },
    end: { over: () => undefined },
  };
  const outcome = await transport(call);
  if (outcome.kind !== 'answered') return 'unknown';
  const body = await whole(outcome.answer);
  if (outcome.answer.status === 404) return 'gone';
  return outcome.answer.status === 200 && body !== undefined ? stateIn(body, route) : 'unknown';
}

function whole(answer: Answer): Promise<Buffer | undefined> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let bytes = 0;
    answer.take({
      onChunk(chunk) {
        bytes += chunk.length;
        chunks.push(chunk);
        if (bytes <= longestBytes) return true;
        answer.cancel();
        resolve(undefined);
        return false;
      },
      onEnd: () => resolve(Buffer.concat(chunks)),
      onBroken: () => resolve(undefined),
    });
  });
}

async function stateIn(body: Buffer, { row }: Route): Promise<BackgroundState> {
  const said = readStatus(body);
  if (said === undefined) return 'unknown';
  const status = backgroundStatuses.find((one) => one === said);
  if (status === undefined) return 'running';
  const texts = row.written && { names: row.written, areMany: false };
  const observer = createUsageObserver('application/json', undefined, texts, row.countsIn);
  observer.push(body);
  const usage = await observer.finish();
  return { status, usage, written: observer.written(), bytes: body.length };
}

function readStatus(body: Buffer): string | undefined {
  try {
    const read: unknown = JSON.parse(body.toString());
    return isMapping(read) && typeof read.status === 'string' ? read.status : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}
