/** Cache of results per item: in memory with a byte limit per model, and in Redis if configured. */

import type { Buffer } from 'node:buffer';
import { LRUCache } from 'lru-cache';
import type { CacheSettings, Model } from '../../core/snapshot.ts';
import type { Found } from '../found.ts';
import { bytesOf, cachedEnvelope, cachedOf, fromStored, toStored } from './cached-item.ts';
import type { SharedCache } from './shared-cache.ts';

export type ItemCache = ReturnType<typeof createItemCache>;

interface Drawer {
  readonly settings: CacheSettings;
  readonly items: LRUCache<string, Found>;
}

/** `sharedCacheOf`: the shared cache, if configured, opened at the first use. */
export function createItemCache(sharedCacheOf: () => SharedCache | undefined) {
  const drawers = new Map<string, Drawer>();

  /** Entries stored under other settings are dropped. */
  function drawerOf({ id }: Model, settings: CacheSettings): Drawer {
    const known = drawers.get(id);
    if (known !== undefined && isSame(known.settings, settings)) return known;
    const items = new LRUCache<string, Found>({
      maxSize: settings.maxBytes,
      sizeCalculation: bytesOf,
      ttl: settings.ttlMs,
    });
    const drawer = { settings, items };
    drawers.set(id, drawer);
    return drawer;
  }

  return {
    /** The known items, by their keys. */
    async read(model: Model, settings: CacheSettings, keys: readonly string[]): Promise<ReadonlyMap<string, Found>> {
      const { items } = drawerOf(model, settings);
      const known = new Map<string, Found>();
      const missing: string[] = [];
      for (const key of keys) {
        const found = items.get(key);
        if (found === undefined) missing.push(key);
        else known.set(key, found);
      }
      const sharedCache = missing.length === 0 ? undefined : sharedCacheOf();
      if (sharedCache === undefined) return known;
      const stored = await sharedCache.read(missing);
      for (const [index, key] of missing.entries()) {
        const bytes = stored[index];
        const found = bytes && fromStored(key, bytes);
        if (found === undefined) continue;
        known.set(key, found);
        items.set(key, found);
      }
      return known;
    },

    write(model: Model, settings: CacheSettings, found: ReadonlyMap<string, Found>): void {
      const { items } = drawerOf(model, settings);
      const sharedCache = sharedCacheOf();
      let last: Found['envelope'] | undefined;
      let copy: Found['envelope'] | undefined;
      const stored: [string, Buffer][] = [];
      for (const [key, one] of found) {
        if (copy === undefined || one.envelope !== last) {
          last = one.envelope;
          copy = cachedEnvelope(one.envelope);
        }
        items.set(key, cachedOf(one, copy));
        if (sharedCache !== undefined) stored.push([key, toStored(key, one)]);
      }
      sharedCache?.write(stored, settings.ttlMs);
    },

    forget: (modelId: string): void => void drawers.delete(modelId),

    state(): { readonly items: number; readonly bytes: number } {
      let items = 0;
      let bytes = 0;
      for (const drawer of drawers.values()) {
        items += drawer.items.size;
        bytes += drawer.items.calculatedSize;
      }
      return { items, bytes };
    },
  };
}

const isSame = (a: CacheSettings, b: CacheSettings): boolean =>
  a.ttlMs === b.ttlMs && a.maxBytes === b.maxBytes && a.scope === b.scope;
