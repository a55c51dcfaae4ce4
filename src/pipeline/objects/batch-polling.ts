/** Polls batches until they end, then bills them by their output files. */

import type { Bill } from '../../core/accounting/price.ts';
import type { Usage } from '../../core/accounting/usage.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { Answer } from '../../core/outcome.ts';
import type { Route } from '../../core/route.ts';
import type { BackgroundAnswer, BackgroundStore } from '../../core/store/background-answers.ts';
import type { StoredObjectStore } from '../../core/store/stored-objects.ts';
import { LineReader } from '../../lib/lines.ts';
import { isSliceOver, nextSlice } from '../../lib/time-slices.ts';
import { BatchCount } from './batch-count.ts';
import type { ObjectLocation } from './object-location.ts';
import { type ObjectRegistry, ownerOf } from './object-registry.ts';
import { recordOutputs, type Said, saidIn, toDocument } from './object-service.ts';

import { BrokenOff, callForOurselves, chunksOf, type OwnCallDeps, wholeOf } from './own-call.ts';
import { Poller, type PollingDeps, type Reading } from './polling.ts';

export interface BatchPollingDeps extends PollingDeps, OwnCallDeps {
  readonly store: BackgroundStore;
  readonly stored: Pick<StoredObjectStore, 'describe'>;
  readonly objects: Pick<ObjectRegistry, 'record'>;
  /** Routes for batches, by the path of the lines. */
  readonly batchRoutes: ReadonlyMap<string, Route>;
  bill(exchange: Exchange): void;
}

interface BatchEnd {
  readonly status: BatchStatus;
  readonly usage: Usage | null;
  /** The batch's bill; null where no line was processed. */
  readonly bill: Bill | null;
  readonly bytes: number;
}

/** Final statuses of a batch; with any other status it continues. */
const batchStatuses = ['completed', 'failed', 'expired', 'cancelled'] as const;
type BatchStatus = (typeof batchStatuses)[number];

const outcomes = { completed: 'ok', failed: 'error', expired: 'cut', cancelled: 'aborted' } as const;

/** How long the end of a batch may stay unknown: no service takes longer than a week. */
const longestMs = 8 * 86_400_000;
const longestDocumentBytes = 1024 ** 2;
/** Longest line in an output file that is read; a longer one is billed by its estimate. */
const longestLineBytes = 32 * 1024 ** 2;
const wholeFileTimeoutMs = 3_600_000;

export type Batches = Poller<BatchEnd>;

export function createBatches(deps: BatchPollingDeps): Batches {
  return new Poller<BatchEnd>(
    {
      store: deps.store,
      longestMs,
      routeOf: ({ estimate }) => deps.batchRoutes.get(estimate.batch?.path ?? ''),
      read: (answer, location, toExchange) => readBatch({ ...deps, answer, location }, toExchange),
      fillIn(exchange, { status, usage, bill, bytes }) {
        exchange.usage = usage;
        exchange.bill = bill;
        exchange.responseBytes = bytes;
        exchange.outcome = outcomes[status];
      },
    },
    deps,
  );
}

interface Poll extends BatchPollingDeps {
  readonly answer: BackgroundAnswer;
  readonly location: ObjectLocation;
}

async function readBatch(poll: Poll, toExchange: () => Promise<Exchange>): Promise<Reading<BatchEnd>> {
  const { answer, location, objects, clock, bill } = poll;
  const { batchesPath, filesPath } = location.upstream;
  const said = await readDocument(poll, 'batch', batchesPath, answer.id);
  if (typeof said === 'string') return said;
  const owned = { owner: ownerOf({ id: answer.key, project: answer.project }), ...answer };
  const files = await recordOutputs(said, owned, objects, clock);
  const status = statusIn(said);
  if (status === undefined) return 'running';
  // Lines were processed, but their output is missing so far.
  if (files.length === 0 && doneIn(said) > 0) return 'unknown';
  const count = new BatchCount(await toExchange(), answer.estimate, bill);
  let bytes = 0;
  for (const id of files) {
    const file = await readDocument(poll, 'file', filesPath, id);
    if (typeof file === 'string') return file;
    const counted = await countFile(poll, id, count);
    if (typeof counted === 'string') return counted;
    bytes += counted;
  }
  return { status, usage: count.usage, bill: count.bill, bytes };
}

type Missing = 'gone' | 'unknown';

/** Reads the document of a batch or a file, and stores it for lists. */
async function readDocument(
  poll: Poll,
  kind: 'batch' | 'file',
  path: string | undefined,
  id: string,
): Promise<Said | Missing> {
  const got = await get(poll, path, `/${encodeURIComponent(id)}`);
  if (typeof got === 'string') return got;
  const body = await wholeOf(got, longestDocumentBytes);
  const text = body?.toString() ?? '';
  const said = saidIn(text);
  if (said === undefined) return 'unknown';
  const document = toDocument(text);
  if (document !== undefined) await poll.stored.describe({ kind, id, upstream: poll.answer.upstream }, document);
  return said;
}

/** Reads a document of the upstream: `unknown` for any status but 200, `gone` for 404. */
async function get(
  poll: Poll,
  path: string | undefined,
  behind: string,
  patienceMs?: number,
): Promise<Answer | Missing> {
  const { rowId, estimate } = poll.answer;
  const operation = poll.batchRoutes.get(estimate.batch?.path ?? '')?.operation;
  if (path === undefined || operation === undefined) return 'unknown';
  const call = { method: 'GET', offer: { path }, behind, requestId: rowId, operation, patienceMs } as const;
  const answer = await callForOurselves(call, poll.location, poll);
  if (answer?.status === 200) return answer;
  answer?.cancel();
  return answer?.status === 404 ? 'gone' : 'unknown';
}

/** Counts the lines of an output file; returns how many bytes were read. */
async function countFile(poll: Poll, id: string, count: BatchCount): Promise<number | Missing> {
  const behind = `/${encodeURIComponent(id)}/content`;
  const got = await get(poll, poll.location.upstream.filesPath, behind, wholeFileTimeoutMs);
  if (typeof got === 'string') return got;
  const reader = new LineReader(longestLineBytes);
  let bytes = 0;
  try {
    for await (const chunk of chunksOf(got)) {
      bytes += chunk.length;
      for (const line of reader.push(chunk)) {
        await count.take(line);
        if (isSliceOver()) await nextSlice();
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
