/** Caches results per item: in memory with a byte limit per model, and in Redis if configured. Copies keep no larger buffer in memory. */

import { Buffer } from 'node:buffer';
import { hash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { CacheSettings, Model } from '../../core/snapshot.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import type { Envelope, Result } from '../codecs/codec.ts';
import type { Found } from '../found.ts';
import type { SharedCache } from './shared-cache.ts';

export type ItemCache = ReturnType<typeof createItemCache>;

interface Drawer {
  readonly settings: CacheSettings;
  readonly items: LRUCache<string, Found>;
}

/** `sharedCacheOf` returns the shared cache, if configured; it is opened at the first use. */
export function createItemCache(sharedCacheOf: () => SharedCache | undefined) {
  const drawers = new Map<string, Drawer>();

  /** The cached items of a model. Items that were stored under other settings are dropped. */
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

/** Estimated bytes of a cached item besides its own bytes. */
const besideBytes = 400;

function bytesOf({ result, envelope }: Found): number {
  return result.bytes.length + envelope.head.length + envelope.tail.length + besideBytes;
}

/** The result with a copy of its bytes, which may be a slice of a long buffer. */
function cachedOf(found: Found, envelope: Envelope): Found {
  return { ...found, result: { ...found.result, bytes: Buffer.from(found.result.bytes) }, envelope };
}

function cachedEnvelope(envelope: Envelope): Envelope {
  return { ...envelope, head: Buffer.from(envelope.head), tail: Buffer.from(envelope.tail) };
}

const lengthBytes = 4;
const sumLength = 32;

/** Encodes an item for other processes: a checksum over the key and everything else, a description, and the bytes. */
function toStored(key: string, { result, envelope, counts, isShare, origin }: Found): Buffer {
  const { bytes, ...said } = result;
  const { head, tail, ...around } = envelope;
  const description = Buffer.from(
    JSON.stringify({ result: said, around, counts: [...counts], isShare, origin, lengths: [head.length, tail.length] }),
  );
  const length = Buffer.alloc(lengthBytes);
  length.writeUInt32BE(description.length);
  const content = Buffer.concat([length, description, head, tail, bytes]);
  return Buffer.concat([sumOf(key, content), content]);
}

/** Decodes an item; undefined where the bytes are truncated, changed, or stored for another key. */
function fromStored(key: string, stored: Buffer): Found | undefined {
  if (stored.length < sumLength + lengthBytes) return undefined;
  const content = stored.subarray(sumLength);
  if (!sumOf(key, content).equals(stored.subarray(0, sumLength))) return undefined;
  const from = lengthBytes + content.readUInt32BE();
  const read: unknown = JSON.parse(content.toString('utf8', lengthBytes, from));
  return isMapping(read) ? toFound(read as unknown as Stored, content.subarray(from)) : undefined;
}

interface Stored {
  readonly result: Omit<Result, 'bytes'>;
  readonly around: Omit<Envelope, 'head' | 'tail'>;
  readonly counts: readonly (readonly [string, string])[];
  /** Missing in items that an older version stored. */
  readonly isShare?: boolean;
  readonly origin: Found['origin'];
  readonly lengths: readonly [number, number];
}

function toFound(
  { result, around, counts, isShare = true, origin, lengths: [head, tail] }: Stored,
  bytes: Buffer,
): Found {
  return {
    result: { ...result, index: result.index, bytes: bytes.subarray(head + tail) },
    envelope: { ...around, head: bytes.subarray(0, head), tail: bytes.subarray(head, head + tail) },
    counts: new Map(counts),
    isShare,
    origin,
  };
}

function sumOf(key: string, content: Buffer): Buffer {
  return Buffer.from(hash('sha256', Buffer.concat([Buffer.from(key), content]), 'hex'), 'hex');
}
