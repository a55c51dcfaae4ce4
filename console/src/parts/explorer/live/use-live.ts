/** React hook for the console's single live feed. */

import { useSyncExternalStore } from 'react';
import { expired, send } from '../../api/client.ts';
import { createLiveFeed, type LiveState } from './live-feed.ts';

const feed = createLiveFeed({
  open: (signal) => send('GET /api/live', { signal, headers: { accept: 'text/event-stream' } }),
  isHidden: () => document.visibilityState === 'hidden',
  onSight(listener) {
    document.addEventListener('visibilitychange', listener);
    window.addEventListener('online', listener);
    // The member signed in again.
    const endExpired = expired.subscribe(() => {
      if (!expired.get()) listener();
    });
    return () => {
      document.removeEventListener('visibilitychange', listener);
      window.removeEventListener('online', listener);
      endExpired();
    };
  },
  random: Math.random,
});

export const pauseLive = feed.pause;

/** The live state. The component renders again with each sample: for small components only. */
export function useLive(): LiveState {
  return useSyncExternalStore(feed.subscribe, feed.get);
}

/** A part of the live state. The component renders again only if this value changes, which must be primitive. */
export function useLivePart<T extends string | number | boolean>(pick: (state: LiveState) => T): T {
  return useSyncExternalStore(feed.subscribe, () => pick(feed.get()));
}
