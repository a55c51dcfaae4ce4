/** Shows numbers, money, sizes and times in one format everywhere, with a dash for unknown values. */

import { Tooltip, VisuallyHidden } from '@mantine/core';
import { type ReactNode, useSyncExternalStore } from 'react';
import {
  formatBytes,
  formatCompact,
  formatCount,
  formatDuration,
  formatMoney,
  formatRelative,
  formatTime,
} from './format.ts';

type Maybe<T> = T | null | undefined;

export const Nothing = ({ children = 'none' }: { readonly children?: string }) => (
  <span className="tone-quiet">
    <span aria-hidden="true">–</span>
    <VisuallyHidden>{children}</VisuallyHidden>
  </span>
);

interface CountProps {
  readonly value: Maybe<number>;
  /** Whether to show 1.2M instead of 1,234,567; the exact number is then in a tooltip. */
  readonly compact?: boolean;
}

export function Count({ value, compact = false }: CountProps) {
  if (value === null || value === undefined) return <Nothing />;
  if (!compact) return <Numeric>{formatCount(value)}</Numeric>;
  return <Numeric exact={formatCount(value)}>{formatCompact(value)}</Numeric>;
}

/** Shows money. `dollars` is decimal text; the exact amount is in a tooltip. */
export function Money({ dollars }: { readonly dollars: Maybe<string> }) {
  if (dollars === null || dollars === undefined) return <Nothing>unknown</Nothing>;
  return <Numeric exact={`$${dollars}`}>{formatMoney(dollars)}</Numeric>;
}

export function Bytes({ value }: { readonly value: Maybe<number> }) {
  if (value === null || value === undefined) return <Nothing />;
  return <Numeric exact={`${formatCount(value)} bytes`}>{formatBytes(value)}</Numeric>;
}

export function Duration({ ms }: { readonly ms: Maybe<number> }) {
  if (ms === null || ms === undefined) return <Nothing />;
  return <Numeric>{formatDuration(ms)}</Numeric>;
}

/** Shows a relative time; the exact time is in a tooltip. */
export function When({ at }: { readonly at: Maybe<string> }) {
  const nowMs = useNow();
  if (at === null || at === undefined) return <Nothing>never</Nothing>;
  return (
    <Tooltip label={formatTime(at)} openDelay={300} withinPortal>
      <time dateTime={at}>{formatRelative(at, nowMs)}</time>
    </Tooltip>
  );
}

const Numeric = ({ exact, children }: { readonly exact?: string; readonly children: ReactNode }) => (
  <span title={exact} className="numeric">
    {children}
  </span>
);

const everyMs = 15_000;

let nowMs = Date.now();
let timer: ReturnType<typeof setInterval> | undefined;
const listeners = new Set<() => void>();

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  if (timer === undefined) {
    // The clock was not updated while no component used it.
    nowMs = Date.now();
    timer = setInterval(() => {
      nowMs = Date.now();
      for (const one of listeners) one();
    }, everyMs);
  }
  return () => {
    listeners.delete(listener);
    if (listeners.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };
}

/** The present time, with a new render every 15 seconds. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => nowMs);
}
