/** A yes or no that the whole console looks at: set by whoever finds out, seen by whoever shows it. */

import { useSyncExternalStore } from 'react';

export interface Flag {
  get(): boolean;
  set(value: boolean): void;
  subscribe(listener: () => void): () => void;
}

function createFlag(): Flag {
  let value = false;
  const listeners = new Set<() => void>();
  return {
    get: () => value,
    set(next) {
      if (next === value) return;
      value = next;
      for (const listener of listeners) listener();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

export function useFlag(flag: Flag): boolean {
  return useSyncExternalStore(flag.subscribe, flag.get);
}

/** The gateway did not answer the last time it was asked. */
export const unreachable = createFlag();

/** The session has ended while its member was at work: it is asked for again above the page. */
export const expired = createFlag();
