/** Polls background responses until they end, then bills them by their usage. */

import type { Buffer } from 'node:buffer';
import type { Exchange } from '../../core/exchange.ts';
import type { Route } from '../../core/route.ts';
import { offerKey } from '../../core/snapshot.ts';
import { type BackgroundEnd, type BackgroundStore, backgroundStatuses } from '../../core/store/background-answers.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { readJson } from '../../lib/json/read-json.ts';
import { createUsageObserver } from '../../plan/usage/usage.ts';
import type { ObjectLocation } from './object-location.ts';
import { inTime } from './object-registry.ts';
import { callForOurselves, type OwnCallDeps, wholeOf } from './own-call.ts';
import { Poller, type Polling, type PollingDeps, type Reading } from './polling.ts';

export interface BackgroundDeps extends OwnCallDeps, PollingDeps {
  readonly store: BackgroundStore;
  readonly route: Route;
  bill(exchange: Exchange): void;
}

const longestMs = 24 * 3_600_000;

export class Background extends Poller<BackgroundEnd> {
  readonly #store: BackgroundStore;

  constructor(deps: BackgroundDeps) {
    const { store, route, bill } = deps;
    const what: Polling<BackgroundEnd> = {
      store,
      longestMs,
      routeOf: () => route,
      async read({ id, rowId, end }, location) {
        return end ?? readBackground({ id, requestId: rowId, route }, location, deps);
      },
      fillIn(exchange, { status, usage, written, bytes }) {
        exchange.usage = usage;
        exchange.written = written;
        exchange.responseBytes = bytes;
        exchange.outcome = outcomes[status];
        bill(exchange);
      },
    };
    super(what, deps);
    this.#store = store;
  }

  /** Whether a response may be deleted, because all its costs are recorded. */
  async mayGo(id: string, upstream: string): Promise<boolean> {
    const what = 'Whether it is still being made cannot be looked up just now';
    const answer = await inTime(this.#store.get(id, upstream), what);
    if (answer === undefined || answer.end !== undefined) return true;
    const state = await this.read(answer);
    if (typeof state === 'string') return state === 'gone';
    await inTime(this.#store.reportEnd(answer, state), what);
    return true;
  }
}

const outcomes = { completed: 'ok', incomplete: 'ok', failed: 'error', cancelled: 'aborted' } as const;

/** Longest response document that is read; a longer one is no answer with text. */
const longestBytes = 32 * 1024 * 1024;

async function readBackground(
  { id, requestId, route }: { readonly id: string; readonly requestId: string; readonly route: Route },
  location: ObjectLocation,
  deps: OwnCallDeps,
): Promise<Reading<BackgroundEnd>> {
  const offer = location.upstream.offers.get(offerKey(route.label, route.operation));
  if (offer === undefined) return 'unknown';
  const behind = `/${encodeURIComponent(id)}`;
  const { operation } = route;
  const answer = await callForOurselves({ method: 'GET', offer, behind, requestId, operation }, location, deps);
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
  const read = readJson(body.toString());
  return isMapping(read) && typeof read.status === 'string' ? read.status : undefined;
}
