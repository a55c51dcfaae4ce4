/** Asks an upstream how far an answer is that it makes in the background. */

import type { Buffer } from 'node:buffer';
import type { Route } from '../../core/route.ts';
import { offerKey } from '../../core/snapshot.ts';
import { type BackgroundEnd, backgroundStatuses } from '../../core/store/background-answers.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { createUsageObserver } from '../usage/usage.ts';
import type { Reading } from './following.ts';
import { callForOurselves, type OwnCallDeps, wholeOf } from './own-call.ts';
import type { Place } from './placing.ts';

/** What is longer is no answer that was made of text. */
const longestBytes = 32 * 1024 * 1024;

export async function readBackground(
  { id, requestId, route }: { readonly id: string; readonly requestId: string; readonly route: Route },
  place: Place,
  deps: OwnCallDeps,
): Promise<Reading<BackgroundEnd>> {
  const offer = place.upstream.offers.get(offerKey(route.label, route.operation));
  if (offer === undefined) return 'unknown';
  const behind = `/${encodeURIComponent(id)}`;
  const { operation } = route;
  const answer = await callForOurselves({ method: 'GET', offer, behind, requestId, operation }, place, deps);
  if (answer === undefined) return 'unknown';
  const body = await wholeOf(answer, longestBytes);
  if (answer.status === 404) return 'gone';
  return answer.status === 200 && body !== undefined ? stateIn(body, route) : 'unknown';
}

async function stateIn(body: Buffer, { row }: Route): Promise<Reading<BackgroundEnd>> {
  const said = readStatus(body);
  if (said === undefined) return 'unknown';
  const status = backgroundStatuses.find((one) => one === said);
  if (status === undefined) return 'running';
  const texts = row.written && { names: row.written, areMany: false };
  const observer = createUsageObserver('application/json', undefined, texts, row, true);
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
