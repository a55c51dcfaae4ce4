/**
 * Streams samples of the gateway, one per second, and keeps five minutes. It pauses while the page is hidden or nobody subscribes, and reconnects
 * with growing delays.
 */

import type { LiveEvent, LiveSample, LiveUpstream } from '../../../../../src/admin/contract.ts';
import { createSseReader } from '../../api/sse.ts';

type LiveStatus = 'connecting' | 'live' | 'lost' | 'idle';

export interface LiveState {
  readonly status: LiveStatus;
  readonly isPaused: boolean;
  /** Whether the gateway answers, but its workers do not. */
  readonly isBehind: boolean;
  /** Samples, the oldest first. */
  readonly samples: readonly LiveSample[];
  readonly upstreams: readonly LiveUpstream[];
}

export interface LiveFeed {
  subscribe(listener: () => void): () => void;
  /** The present state; the same object until something changes. */
  get(): LiveState;
  /** Pauses or continues the display; samples that were received meanwhile appear when it continues. */
  pause(isPaused: boolean): void;
}

export interface LiveFeedDeps {
  open(signal: AbortSignal): Promise<Response>;
  isHidden(): boolean;
  /** Calls the listener when the page is hidden or shown, or a reconnect may succeed; returns a function that removes it. */
  onSight(listener: () => void): () => void;
  random(): number;
  readonly later?: (work: () => void, ms: number) => () => void;
}

export const shownMs = 5 * 60_000;
const firstWaitMs = 1_000;
const longestWaitMs = 15_000;
/** Silence after which the connection counts as lost: there is a sample every second, and a heartbeat every 15 s. */
const silenceMs = 20_000;

export function createLiveFeed({ open, isHidden, onSight, random, later = laterByTimer }: LiveFeedDeps): LiveFeed {
  const listeners = new Set<() => void>();
  let state: LiveState = { status: 'idle', isPaused: false, isBehind: false, samples: [], upstreams: [] };
  let shown = state;
  let connection: AbortController | undefined;
  let cancelRetry: (() => void) | undefined;
  let endSight: (() => void) | undefined;
  let failures = 0;

  function set(more: Partial<LiveState>): void {
    state = { ...state, ...more };
    const { status, isPaused, isBehind } = state;
    shown = isPaused ? { ...shown, status, isPaused, isBehind } : state;
    for (const listener of listeners) listener();
  }

  function begin(): void {
    if (connection !== undefined || listeners.size === 0 || isHidden()) return;
    cancelRetry?.();
    cancelRetry = undefined;
    const mine = new AbortController();
    connection = mine;
    if (state.status === 'idle') set({ status: 'connecting' });
    void follow(mine).catch(() => lose(mine));
  }

  async function follow(mine: AbortController): Promise<void> {
    const response = await open(mine.signal);
    if (response.body === null) throw new Error('the stream has no body');
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    const events = createSseReader();
    for (;;) {
      const { done, value } = await within(reader.read(), mine);
      if (mine.signal.aborted) return;
      if (done) throw new Error('the stream ended');
      for (const text of events.push(value)) take(JSON.parse(text) as LiveEvent);
    }
  }

  function within<T>(work: Promise<T>, mine: AbortController): Promise<T> {
    const cancel = later(() => mine.abort(), silenceMs);
    return work.finally(cancel);
  }

  function take({ isHistory, samples, upstreams, isBehind }: LiveEvent): void {
    failures = 0;
    const first = samples[0]?.at;
    // A restarted gateway has no history; the console keeps its own.
    const kept = isHistory && first !== undefined ? state.samples.filter(({ at }) => at < first) : state.samples;
    const fresh = isHistory ? samples : samples.filter(({ at }) => at > (kept.at(-1)?.at ?? ''));
    set({
      status: 'live',
      isBehind,
      samples: trim([...kept, ...fresh]),
      ...(isHistory && upstreams.length === 0 ? {} : { upstreams }),
    });
  }

  function lose(mine: AbortController): void {
    if (connection !== mine) return;
    connection = undefined;
    mine.abort();
    if (listeners.size === 0 || isHidden()) return;
    set({ status: 'lost' });
    const waitMs = Math.min(longestWaitMs, firstWaitMs * 2 ** failures);
    failures += 1;
    cancelRetry = later(begin, waitMs * (0.5 + random() / 2));
  }

  function end(): void {
    cancelRetry?.();
    cancelRetry = undefined;
    connection?.abort();
    connection = undefined;
  }

  function look(): void {
    if (isHidden()) {
      end();
      set({ status: 'idle' });
    } else begin();
  }

  return {
    subscribe(listener) {
      listeners.add(listener);
      endSight ??= onSight(look);
      begin();
      return () => {
        listeners.delete(listener);
        if (listeners.size > 0) return;
        endSight?.();
        endSight = undefined;
        end();
        state = { ...state, status: 'idle' };
      };
    },
    get: () => shown,
    pause(isPaused) {
      set({ isPaused });
    },
  };
}

function trim(samples: readonly LiveSample[]): readonly LiveSample[] {
  const last = samples.at(-1);
  if (last === undefined) return samples;
  const from = new Date(Date.parse(last.at) - shownMs).toISOString();
  return samples.filter(({ at }) => at > from);
}

function laterByTimer(work: () => void, ms: number): () => void {
  const timer = setTimeout(work, ms);
  return () => clearTimeout(timer);
}
