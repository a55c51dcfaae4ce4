/** Writes the response headers that Postern adds, as lines of the head. */

import { performance } from 'node:perf_hooks';
import type { Reservation } from '../core/accounting/spending.ts';
import { wordFor } from '../core/cache-use.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer } from '../core/outcome.ts';
import { scoringOf } from '../core/scores.ts';
import type { ResolvedModel, Upstream } from '../core/snapshot.ts';
import { toHundredthsText } from '../lib/json/json-pieces.ts';
import { withMasks } from '../lib/secrets/secret-shapes.ts';
import { nameAt, rawAskedIn } from '../plan/planned-call.ts';
import type { Question } from '../plan/question.ts';
import { toFieldLines } from '../wire/head-writer.ts';

export function ownLines(
  exchange: Exchange,
  { status, meantStatus = status, translated, ignored = translated?.ignored }: Answer,
  resolved: ResolvedModel,
  question: Question,
  { rateLines }: Reservation,
): string {
  const { target, route } = exchange;
  const requestId = `x-request-id: ${exchange.clientRequestId ?? exchange.id}`;
  if (!exchange.snapshot.server.diagnostics) return `${requestId}\r\n${rateLines}`;
  const upstreamMs = exchange.firstByteAtMs - exchange.sentAtMs;
  const gatewayMs = performance.now() - exchange.startedMs - upstreamMs - exchange.queuedMs;
  const queue = exchange.queuedMs === 0 ? '' : `, queue;dur=${toHundredthsText(exchange.queuedMs)}`;
  let lines = `${requestId}${callLines(target?.upstream, exchange.attempts)}${toHundredthsText(gatewayMs)}${queue}, upstream;dur=${toHundredthsText(upstreamMs)}\r\n${rateLines}`;
  if (exchange.parts !== undefined) lines += `x-postern-calls: ${exchange.parts.length}\r\n`;
  if (exchange.cacheUse !== undefined) lines += `x-postern-cache: ${wordFor(exchange.cacheUse)}\r\n`;
  if (translated !== undefined) lines += toFieldLines(['x-postern-translated', translated.by]);
  if (translated?.isEstimated === true) lines += 'x-postern-usage: estimated\r\n';
  else if (exchange.isUsageAbout) lines += 'x-postern-usage: about\r\n';
  const { onlyWidth } = question;
  if (onlyWidth !== undefined) {
    lines += `x-postern-ignored: ${toList(['dimensions', ...(ignored ?? [])])}\r\nx-postern-dimensions: ${onlyWidth}\r\n`;
  } else if (ignored !== undefined && ignored.length > 0) lines += `x-postern-ignored: ${toList(ignored)}\r\n`;
  if (route?.row.yields === 'vectors' && target !== undefined) {
    // Where the model is a pattern, each name that it matches is a vector space of its own.
    lines += spaceLine(resolved.model.space ?? nameAt(target, resolved));
  }
  if (question.role !== undefined) lines += `x-postern-role: ${question.role}\r\n`;
  const scores = route?.row.yields === 'scores' ? target?.scores : undefined;
  if (scores !== undefined && meantStatus < 400) {
    lines += `x-postern-scores: ${scoringOf(scores, rawAskedIn(question)).to ?? 'unknown'}\r\n`;
  }
  return lines;
}

/** Limit of remembered vector spaces: clients may choose their names where a model has a pattern. */
const mostSpaces = 1_000;
const spaceLines = new Map<string, string>();

function spaceLine(space: string): string {
  const known = spaceLines.get(space);
  if (known !== undefined) return known;
  const line = `x-postern-space: ${encodeURI(withMasks(space).toWellFormed())}\r\n`;
  if (spaceLines.size >= mostSpaces) spaceLines.clear();
  spaceLines.set(space, line);
  return line;
}

const linesOfFirstCall = new WeakMap<Upstream, string>();

/** Header lines about the calls, ending in the middle of `server-timing`. Cached for one call, the usual number. */
function callLines(upstream: Upstream | undefined, attempts: number): string {
  const known = upstream && attempts === 1 ? linesOfFirstCall.get(upstream) : undefined;
  if (known !== undefined) return known;
  const line =
    upstream === undefined ? 'x-postern-upstream: \r\n' : toFieldLines(['x-postern-upstream', withMasks(upstream.id)]);
  const lines = `\r\n${line}x-postern-attempts: ${attempts}\r\nserver-timing: gateway;dur=`;
  if (upstream !== undefined && attempts === 1) linesOfFirstCall.set(upstream, lines);
  return lines;
}

const longestList = 1_000;

/** Joins names into a header value of limited length: clients choose the names, so they may be numerous and long. */
function toList(names: readonly string[]): string {
  let list = '';
  for (const name of names) {
    const next = (list === '' ? '' : ', ') + encodeURIComponent(name.slice(0, longestList).toWellFormed());
    if (list.length + next.length > longestList) return `${list}${list === '' ? '' : ', '}...`;
    list += next;
  }
  return list;
}
