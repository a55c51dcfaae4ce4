/** Reads and writes the cache in Redis that all nodes share: one read per request, with a short timeout. */

import { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import type { Log } from '../../core/log.ts';
import { reasonOf } from '../../lib/thrown.ts';

export type SharedCache = ReturnType<typeof createRedisSharedCache>;

/** Timeout of one read, kept short because a miss costs less than a long wait. */
const readTimeoutMs = 100;
const connectTimeoutMs = 1_000;
const retryAfterMs = 1_000;
const prefix = 'postern:item:';
/** Limit of bytes on their way to Redis; beyond it, items are not written. */
const mostOnTheWayBytes = 64 * 1024 * 1024;

interface Client {
  connect(): Promise<unknown>;
  sendCommand(command: (string | Buffer)[], options?: unknown): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

export function createRedisSharedCache(url: string, log: Log) {
  let client: Client | undefined;
  /** A connection whose reply is overdue: it is not used again until the reply arrives. */
  let late: Client | undefined;
  let connecting: Promise<void> | undefined;
  let asBytes: unknown;
  let triedAtMs = Number.NEGATIVE_INFINITY;
  let onTheWayBytes = 0;
  let isReported = false;
  let isClosed = false;

  async function connect(): Promise<void> {
    triedAtMs = performance.now();
    let opened: Client | undefined;
    try {
      // The client is loaded only where Redis is configured.
      const { createClient, RESP_TYPES } = await import('@redis/client');
      asBytes = { typeMapping: { [RESP_TYPES.BLOB_STRING]: Buffer } };
      const created: Client = createClient({
        url,
        RESP: 2,
        disableOfflineQueue: true,
        disableClientInfo: true,
        commandOptions: { timeout: 0 },
        socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
      });
      opened = created;
      created.on('error', (error) => lose(created, error));
      await created.connect();
      if (isClosed) created.destroy();
      else client = created;
      isReported = false;
    } catch (error) {
      opened?.destroy();
      report(error);
    } finally {
      connecting = undefined;
    }
  }

  /** The connection; undefined while there is none, in which case one is opened in the background. */
  function connected(): Client | undefined {
    if (client !== undefined || isClosed) return client;
    if (connecting === undefined && performance.now() - triedAtMs >= retryAfterMs) connecting = connect();
    return undefined;
  }

  function lose(lost: Client, error: unknown): void {
    if (lost !== client) return;
    client = undefined;
    lost.destroy();
    report(error);
  }

  function report(error: unknown): void {
    if (isReported || isClosed) return;
    isReported = true;
    log.warn('redis unreachable for cache', { reason: reasonOf(error) });
  }

  connecting = connect();

  return {
    /** The values in the order of the keys; undefined for a miss or a timeout. */
    async read(keys: readonly string[]): Promise<readonly (Buffer | undefined)[]> {
      const none = keys.map(() => undefined);
      const asked = connected();
      if (asked === undefined || asked === late) return none;
      try {
        const replied = asked.sendCommand(['MGET', ...keys.map((key) => prefix + key)], asBytes);
        const isInTime = (): void => {
          if (late === asked) late = undefined;
        };
        replied.then(isInTime, isInTime);
        const reply = await withinPatience(replied, () => {
          late = asked;
        });
        return Array.isArray(reply) ? reply.map((one) => (Buffer.isBuffer(one) ? one : undefined)) : none;
      } catch (error) {
        lose(asked, error);
        return none;
      }
    },

    /** Starts writing and returns at once; failures are not reported to the caller. */
    write(entries: readonly (readonly [key: string, bytes: Buffer])[], ttlMs: number): void {
      const client = connected();
      if (client === undefined) return;
      for (const [key, bytes] of entries) {
        if (onTheWayBytes + bytes.length > mostOnTheWayBytes) return;
        onTheWayBytes += bytes.length;
        client
          .sendCommand(['SET', prefix + key, bytes, 'PX', String(ttlMs)])
          .catch((error: unknown) => lose(client, error))
          .finally(() => {
            onTheWayBytes -= bytes.length;
          });
      }
    },

    close(): void {
      isClosed = true;
      client?.destroy();
      client = undefined;
    },
  };
}

function withinPatience(reply: Promise<unknown>, onLate: () => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      onLate();
      resolve(undefined);
    }, readTimeoutMs);
    reply.then(resolve, reject).finally(() => clearTimeout(timer));
  });
}
