/** Batches of requests: followed until they have ended, and billed by what their files hold then. */

import type { Bill } from '../../core/accounting/price.ts';
import type { Usage } from '../../core/accounting/usage.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { Answer } from '../../core/outcome.ts';
import type { Route } from '../../core/route.ts';
import type { BackgroundAnswer, BackgroundStore } from '../../core/store/background-answers.ts';
import type { KeptObjectStore } from '../../core/store/kept-objects.ts';
import { LineReader } from '../../lib/lines.ts';
import { isTurnOver, nextTurn } from '../../lib/turns.ts';
import { BatchCount } from './batch-count.ts';
import { recordOutputs } from './batch-outputs.ts';
import { Follower, type FollowingDeps, type Reading } from './following.ts';
import { type Said, saidIn, toDocument } from './kept-service.ts';
import { BrokenOff, callForOurselves, chunksOf, type OwnCallDeps, wholeOf } from './own-call.ts';
import type { Place } from './placing.ts';
import { type ObjectRegistry, ownerOf } from './registry.ts';

export interface BatchFollowingDeps extends FollowingDeps, OwnCallDeps {
  readonly store: BackgroundStore;
  readonly kept: Pick<KeptObjectStore, 'describe'>;
  readonly objects: Pick<ObjectRegistry, 'record'>;
  /** Of batches whose lines ask at a path. */
  readonly batchRoutes: ReadonlyMap<string, Route>;
  bill(exchange: Exchange): void;
}

/** What it came to. */
interface BatchEnd {
  readonly status: BatchStatus;
  readonly usage: Usage | null;
  /** Null where nothing was done. */
  readonly bill: Bill | null;
  readonly bytes: number;
}

/** With any other it goes on. */
const batchStatuses = ['completed', 'failed', 'expired', 'cancelled'] as const;
type BatchStatus = (typeof batchStatuses)[number];

const outcomes = { completed: 'ok', failed: 'error', expired: 'cut', cancelled: 'aborted' } as const;

/** The longest that any service takes is a week. */
const longestMs = 8 * 86_400_000;
const longestDocumentBytes = 1024 ** 2;
/** Of an answer in a file; what is longer is billed by the estimate. */
const longestLineBytes = 32 * 1024 ** 2;
/** For the whole of a file. */
const filePatienceMs = 3_600_000;

export type Batches = Follower<BatchEnd>;

export function createBatches(deps: BatchFollowingDeps): Batches {
  return new Follower<BatchEnd>(
    {
      store: deps.store,
      longestMs,
      routeOf: ({ asking }) => deps.batchRoutes.get(asking.batch?.path ?? ''),
      read: (answer, place, toExchange) => readBatch(answer, place, toExchange, deps),
      tell(exchange, { status, usage, bill, bytes }) {
        exchange.usage = usage;
        exchange.bill = bill;
        exchange.responseBytes = bytes;
        exchange.outcome = outcomes[status];
      },
    },
    deps,
  );
}

async function readBatch(
  answer: BackgroundAnswer,
  place: Place,
  toExchange: () => Promise<Exchange>,
  deps: BatchFollowingDeps,
): Promise<Reading<BatchEnd>> {
  const read = await readDocument(answer, place, place.upstream.batchesPath, answer.id, deps);
  if (typeof read === 'string') return read;
  const { said, text } = read;
  await describe({ kind: 'batch', id: answer.id, upstream: answer.upstream }, text, deps);
  const whose = { owner: ownerOf({ id: answer.key, project: answer.project }), ...answer };
  const files = await recordOutputs(said, whose, deps.objects, deps.clock);
  const status = statusIn(said);
  if (status === undefined) return 'running';
  // Something was done that is nowhere yet.
  if (files.length === 0 && doneIn(said) > 0) return 'unknown';
  const count = new BatchCount(await toExchange(), answer.asking, deps.bill);
  let bytes = 0;
  for (const id of files) {
    const file = await readDocument(answer, place, place.upstream.filesPath, id, deps);
    if (typeof file === 'string') return file;
    await describe({ kind: 'file', id, upstream: answer.upstream }, file.text, deps);
    const counted = await countFile(answer, place, id, count, deps);
    if (typeof counted === 'string') return counted;
    bytes += counted;
  }
  return { status, usage: count.usage, bill: count.bill, bytes };
}

async function describe(
  object: Parameters<KeptObjectStore['describe']>[0],
  text: string,
  { kept }: BatchFollowingDeps,
): Promise<void> {
  const document = toDocument(text);
  if (document !== undefined) await kept.describe(object, document);
}

type Missing = 'gone' | 'unknown';

interface Document {
  readonly said: Said;
  readonly text: string;
}

async function readDocument(
  answer: BackgroundAnswer,
  place: Place,
  path: string | undefined,
  id: string,
  deps: BatchFollowingDeps,
): Promise<Document | Missing> {
  const got = await get(answer, place, path, `/${encodeURIComponent(id)}`, deps);
  if (typeof got === 'string') return got;
  const body = await wholeOf(got, longestDocumentBytes);
  const text = body?.toString() ?? '';
  const said = saidIn(text);
  return said === undefined ? 'unknown' : { said, text };
}

/** Whose answer is anything but 200 says nothing; one that is not there is gone. */
async function get(
  { rowId, asking }: BackgroundAnswer,
  place: Place,
  path: string | undefined,
  behind: string,
  deps: BatchFollowingDeps,
  patienceMs?: number,
): Promise<Answer | Missing> {
  const operation = deps.batchRoutes.get(asking.batch?.path ?? '')?.operation;
  if (path === undefined || operation === undefined) return 'unknown';
  const call = { method: 'GET', offer: { path }, behind, requestId: rowId, operation } as const;
  const answer = await callForOurselves(patienceMs === undefined ? call : { ...call, patienceMs }, place, deps);
  if (answer?.status === 200) return answer;
  answer?.cancel();
  return answer?.status === 404 ? 'gone' : 'unknown';
}

/** In bytes. */
async function countFile(
  answer: BackgroundAnswer,
  place: Place,
  id: string,
  count: BatchCount,
  deps: BatchFollowingDeps,
): Promise<number | Missing> {
  const behind = `/${encodeURIComponent(id)}/content`;
  const got = await get(answer, place, place.upstream.filesPath, behind, deps, filePatienceMs);
  if (typeof got === 'string') return got;
  const reader = new LineReader(longestLineBytes);
  let bytes = 0;
  try {
    for await (const chunk of chunksOf(got)) {
      bytes += chunk.length;
      for (const line of reader.push(chunk)) {
        await count.take(line);
        if (isTurnOver()) await nextTurn();
      }
    }
  } catch (error) {
    if (error instanceof BrokenOff) return 'unknown';
    throw error;
  }
  const last = reader.end();
  if (last !== undefined) await count.take(last);
  return bytes;
}

const statusIn = ({ status }: Said): BatchStatus | undefined => batchStatuses.find((one) => one === status);

function doneIn({ request_counts: counts }: Said): number {
  const done = typeof counts === 'object' && counts !== null && 'completed' in counts ? counts.completed : 0;
  return typeof done === 'number' ? done : 0;
}
