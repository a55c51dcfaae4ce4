/** Sums the usage of a batch from its output files: each line is billed like a response, and the batch by the sum. */

import type { Buffer } from 'node:buffer';
import {
  type Bill,
  billCounts,
  estimateOfEach,
  type HostedTools,
  type RequestEstimate,
} from '../../core/accounting/price.ts';
import { sumOfUnits } from '../../core/accounting/units.ts';
import { type Usage, usageCounts } from '../../core/accounting/usage.ts';
import { Exchange } from '../../core/exchange.ts';
import { compileWatchedKeys, type JsonField, scanJsonOfAnyLength, type WatchedKeys } from '../../lib/json/json-scan.ts';
import type { Line } from '../../lib/lines.ts';
import { recordOf } from '../../lib/record-of.ts';
import { createUsageObserver } from '../../plan/usage/usage.ts';
import { usageIn } from '../../plan/usage/usage-reader.ts';

const watchedLine = compileWatchedKeys(['response']);
const watchedResponse = compileWatchedKeys(['status_code', 'body']);

const SPACE = 0x20;

export class BatchCount {
  usage: Usage | null = null;
  /** The batch's bill; null where no line was processed. */
  bill: Bill | null = null;
  readonly #whole: Exchange;
  readonly #estimate: RequestEstimate;
  readonly #bill: (exchange: Exchange) => void;
  #done = 0;

  constructor(whole: Exchange, estimate: RequestEstimate, bill: (exchange: Exchange) => void) {
    this.#whole = whole;
    this.#estimate = estimate;
    this.#bill = bill;
  }

  async take({ bytes }: Line): Promise<void> {
    if (bytes === undefined) {
      this.#add(null, undefined);
      return;
    }
    if (bytes.every((byte) => byte <= SPACE)) return;
    const response = await fieldIn(bytes, watchedLine, 'response');
    if (response?.kind !== 'object') return;
    const said = bytes.subarray(response.start, response.end);
    const status = await fieldIn(said, watchedResponse, 'status_code');
    const body = await fieldIn(said, watchedResponse, 'body');
    if (body?.kind !== 'object' || isError(said, status)) return;
    const answer = said.subarray(body.start, body.end);
    this.#add(this.#usageOf(answer), answer);
  }

  /** Reads a line's usage; tool calls are counted only where there may be some. */
  #usageOf(answer: Buffer): Usage | null {
    const row = this.#whole.route?.row;
    if (this.#estimate.tools === undefined || row === undefined) return usageIn(answer);
    const observer = createUsageObserver('application/json', undefined, undefined, row, true);
    observer.push(answer);
    const usage = observer.finish();
    return usage instanceof Promise ? usageIn(answer) : usage;
  }

  /** Adds a line to the sums; `answer` is undefined where it is too long to be read. */
  #add(usage: Usage | null, answer: Buffer | undefined): void {
    const whole = this.#whole;
    const { lines = 1, path = '' } = this.#estimate.batch ?? {};
    const one = new Exchange(whole.id, undefined, whole.snapshot, whole.startedAtMs, whole.startedMs);
    const estimate = estimateOfLine(this.#estimate, lines, this.#done, path);
    this.#done += 1;
    const { key, route, modelId, target } = whole;
    Object.assign(one, { key, route, modelId, target });
    // The line's own request size is unknown: reported usage is trusted.
    one.estimate = usage === null ? estimate : { ...estimate, likelyInputTokens: 0 };
    one.usage = usage;
    one.status = 200;
    one.attempts = 1;
    one.outcome = 'ok';
    one.responseBytes = answer?.length ?? Number.MAX_SAFE_INTEGER;
    if (answer !== undefined && (usage?.completionTokens ?? null) === null) one.written = writtenIn(answer, one);
    this.#bill(one);
    this.usage = sumOfUsage(this.usage, usage);
    this.bill = one.bill && (this.bill === null ? one.bill : sumOfBills(this.bill, one.bill));
  }
}

async function fieldIn(bytes: Buffer, watched: WatchedKeys, name: string): Promise<JsonField | undefined> {
  const scan = await scanJsonOfAnyLength(bytes, watched);
  return scan.ok ? scan.fields.get(name) : undefined;
}

function isError(said: Buffer, status: JsonField | undefined): boolean {
  if (status?.kind !== 'number') return false;
  const code = Number(said.toString('latin1', status.start, status.end));
  return code < 200 || code >= 300;
}

function writtenIn(answer: Buffer, { route }: Exchange): Exchange['written'] {
  const names = route?.row.written;
  if (names === undefined) return undefined;
  const observer = createUsageObserver('application/json', undefined, { names, areMany: true }, route?.row);
  observer.push(answer);
  observer.finish();
  return observer.written();
}

const plus = (one: number | null | undefined, other: number | null | undefined): number | null =>
  one === null || one === undefined ? (other ?? null) : one + (other ?? 0);

function sumOfUsage(sum: Usage | null, one: Usage | null): Usage | null {
  if (sum === null || one === null) return sum ?? one;
  const units = sumOfUnits(sum.units, one.units);
  return {
    ...recordOf(usageCounts, (name) => plus(sum[name], one[name])),
    ...(units !== undefined && { units }),
  };
}

function sumOfBills(sum: Bill, one: Bill): Bill {
  const units = sumOfUnits(sum.units, one.units);
  return {
    ...recordOf(billCounts, (name) => sum[name] + one[name]),
    ...(units !== undefined && { units }),
    isEstimated: sum.isEstimated || one.isEstimated,
    costNanos: sum.costNanos === null || one.costNanos === null ? null : sum.costNanos + one.costNanos,
  };
}

export function addEstimate(sum: RequestEstimate, one: RequestEstimate): RequestEstimate {
  const unbounded = sum.unbounded ?? one.unbounded;
  const tools = addTools(sum.tools, one.tools);
  return {
    ...estimateOfEach((name) => sum[name] + one[name]),
    isStream: false,
    ...(tools !== undefined && { tools }),
    ...(unbounded !== undefined && { unbounded }),
  };
}

function addTools(sum: HostedTools | undefined, one: HostedTools | undefined): HostedTools | undefined {
  if (sum === undefined || one === undefined) return sum ?? one;
  const kinds = [...new Set([...sum.kinds, ...one.kinds])];
  const most = sum.most === undefined || one.most === undefined ? undefined : sum.most + one.most;
  return { kinds, most, ...(sum.areSure === true && one.areSure === true && { areSure: true }) };
}

/** Tools that surely run, though no answer shows it: all lines of a batch must agree on them. */
export const sureToolsOf = ({ tools }: RequestEstimate): string =>
  tools?.areSure === true ? tools.kinds.toSorted().join(' ') : '';

/** The estimate of line `no` (from 0) for its bill; the shares of all lines add up to the batch's. */
function estimateOfLine(whole: RequestEstimate, lines: number, no: number, path: string): RequestEstimate {
  const share = (all: number): number => Math.floor(((no + 1) * all) / lines) - Math.floor((no * all) / lines);
  return {
    ...estimateOfEach((name) => share(whole[name])),
    isStream: false,
    ...(whole.tools !== undefined && {
      tools: { ...whole.tools, most: whole.tools.most === undefined ? undefined : share(whole.tools.most) },
    }),
    batch: { path, lines: 1 },
  };
}
