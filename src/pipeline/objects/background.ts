/** Answers that upstreams make in the background: followed until their end was read, and billed by that. */

import type { Reservation } from '../../core/accounting/spending.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { Route } from '../../core/route.ts';
import type { BackgroundEnd, BackgroundStore } from '../../core/store/background-answers.ts';
import { readBackground } from './background-reading.ts';
import { Follower, type FollowingDeps } from './following.ts';
import type { OwnCallDeps } from './own-call.ts';
import { inTime } from './registry.ts';

export interface BackgroundDeps extends OwnCallDeps, FollowingDeps {
  readonly store: BackgroundStore;
  readonly route: Route;
  bill(exchange: Exchange): void;
}

export interface Background {
  /** Before its client sees it. */
  begin(exchange: Exchange, id: string): Promise<void>;
  /** Once its own exchange is over. */
  takeOver(exchange: Exchange, reservation: Reservation | undefined): void;
  /** Whether nothing of it is owed any more that is not written down: it may go. */
  mayGo(id: string, upstream: string): Promise<boolean>;
  start(): void;
  /** So many are in the hands of this process. */
  readonly count: number;
  close(): Promise<void>;
}

const longestMs = 24 * 3_600_000;

export function createBackground(deps: BackgroundDeps): Background {
  const { store, route, bill } = deps;
  const follower = new Follower<BackgroundEnd>(
    {
      store,
      longestMs,
      routeOf: () => route,
      async read({ id, rowId, end }, place) {
        return end ?? readBackground({ id, requestId: rowId, route }, place, deps);
      },
      tell(exchange, { status, usage, written, bytes }) {
        exchange.usage = usage;
        exchange.written = written;
        exchange.responseBytes = bytes;
        exchange.outcome = outcomes[status];
        bill(exchange);
      },
    },
    deps,
  );
  return {
    begin: (exchange, id) => follower.begin(exchange, id),
    takeOver: (exchange, reservation) => follower.takeOver(exchange, reservation),
    start: () => follower.start(),
    close: () => follower.close(),
    get count() {
      return follower.count;
    },
    async mayGo(id, upstream) {
      const what = 'Whether it is still being made cannot be looked up just now';
      const answer = await inTime(store.get(id, upstream), what);
      if (answer === undefined || answer.end !== undefined) return true;
      const state = await follower.read(answer);
      if (typeof state === 'string') return state === 'gone';
      await inTime(store.tellEnd(answer, state), what);
      return true;
    },
  };
}

const outcomes = { completed: 'ok', incomplete: 'ok', failed: 'error', cancelled: 'aborted' } as const;
