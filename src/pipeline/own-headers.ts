/** Response headers that Postern adds, as lines of the head. */

import { performance } from 'node:perf_hooks';
import type { Reservation } from '../core/accounting/spending.ts';
import { wordFor } from '../core/cache-use.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer } from '../core/outcome.ts';
import { scoringOf } from '../core/scores.ts';
import type { ResolvedModel, Upstream } from '../core/snapshot.ts';
import { toHundredthsText } from '../lib/json/json-pieces.ts';
import { withMasks } from '../lib/secrets/secret-shapes.ts';
import { toFieldLines } from '../wire/head-writer.ts';
import { nameAt, rawAskedIn } from './calls/plan.ts';
import type { Question } from './question.ts';

export function ownLines(
  exchange: Exchange,
  { status, meantStatus = status, translated, ignored = translated?.ignored }: Answer,
  resolved: ResolvedModel,
  question: Question,
  { headers: rateHeaders }: Reservation,
): string {
  let lines = `x-request-id: ${exchange.clientRequestId ?? exchange.id}\r\n`;
  if (rateHeaders.length > 0) lines += toFieldLines(rateHeaders);
  if (!exchange.snapshot.server.diagnostics) return lines;
  const upstreamMs = exchange.firstByteAtMs - exchange.sentAtMs;
  const gatewayMs = performance.now() - exchange.startedMs - upstreamMs - exchange.queuedMs;
  const queue = exchange.queuedMs === 0 ? '' : `, queue;dur=${toHundredthsText(exchange.queuedMs)}`;
  lines +=
    `${upstreamLine(exchange.target?.upstream)}x-postern-attempts: ${exchange.attempts}\r\n` +
    `server-timing: gateway;dur=${toHundredthsText(gatewayMs)}${queue}, upstream;dur=${toHundredthsText(upstreamMs)}\r\n`;
  const headers: string[] = [];
  if (exchange.parts !== undefined) headers.push('x-postern-calls', String(exchange.parts.length));
  if (exchange.cacheUse !== undefined) headers.push('x-postern-cache', wordFor(exchange.cacheUse));
  if (translated !== undefined) headers.push('x-postern-translated', translated.by);
  if (translated?.isEstimated === true) headers.push('x-postern-usage', 'estimated');
  else if (exchange.isUsageAbout) headers.push('x-postern-usage', 'about');
  const { onlyWidth } = question;
  if (onlyWidth !== undefined) {
    headers.push(
      'x-postern-ignored',
      toList(['dimensions', ...(ignored ?? [])]),
      'x-postern-dimensions',
      `${onlyWidth}`,
    );
  } else if (ignored !== undefined && ignored.length > 0) headers.push('x-postern-ignored', toList(ignored));
  if (exchange.route?.row.yields === 'vectors' && exchange.target !== undefined) {
    // Each name matched by a pattern is its own vector space.
    const space = resolved.model.space ?? nameAt(exchange.target, resolved);
    headers.push('x-postern-space', encodeURI(withMasks(space).toWellFormed()));
  }
  if (question.role !== undefined) headers.push('x-postern-role', question.role);
  const scores = exchange.route?.row.yields === 'scores' ? exchange.target?.scores : undefined;
  if (scores !== undefined && meantStatus < 400) {
    headers.push('x-postern-scores', scoringOf(scores, rawAskedIn(question)).to ?? 'unknown');
  }
  return headers.length === 0 ? lines : lines + toFieldLines(headers);
}

const upstreamLines = new WeakMap<Upstream, string>();

/** Cached for each upstream. */
function upstreamLine(upstream: Upstream | undefined): string {
  if (upstream === undefined) return 'x-postern-upstream: \r\n';
  let line = upstreamLines.get(upstream);
  if (line === undefined) {
    line = toFieldLines(['x-postern-upstream', withMasks(upstream.id)]);
    upstreamLines.set(upstream, line);
  }
  return line;
}

const longestList = 1_000;

/** Clients choose these names, so they may be numerous and long. */
function toList(names: readonly string[]): string {
  let list = '';
  for (const name of names) {
    const next = (list === '' ? '' : ', ') + encodeURIComponent(name.slice(0, longestList).toWellFormed());
    if (list.length + next.length > longestList) return `${list}${list === '' ? '' : ', '}...`;
    list += next;
  }
  return list;
}
