/** Creates PostgreSQL connections: sets pool size, timeouts, and value types. */

import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { Client, type ClientConfig, Pool, type PoolClient, types } from 'pg';
import { StoreError } from '../store-error.ts';
import { toStorableText } from '../stored-json.ts';
import { isConnectionLost, toPostgresError } from './postgres-faults.ts';

export interface PoolSettings {
  readonly most: number;
  /** Limit of the time to get a connection, new or pooled. */
  readonly connectMs: number;
  /** Limit of the time of one statement; undefined: no timeout. */
  readonly statementMs: number | undefined;
}

const applicationName = 'postern';
/** Limits how long a process that hangs within a transaction blocks others. */
const idleTransactionMs = 10_000;
/** How much longer the client waits than the server's own timeout, so that the server reports it and the connection stays usable. */
const graceMs = 250;
/** How long running statements may take to finish when the pool is closed. */
const farewellMs = 1_000;

const int8 = 20;
const numeric = 1700;

/** Connection settings, which include the URL's password. */
export function toClientConfig(url: string, { connectMs, statementMs }: Omit<PoolSettings, 'most'>): ClientConfig {
  return {
    connectionString: withSslMode(url),
    application_name: applicationName,
    connectionTimeoutMillis: connectMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: 10_000,
    idle_in_transaction_session_timeout: idleTransactionMs,
    ...(statementMs === undefined
      ? {}
      : { statement_timeout: statementMs, lock_timeout: statementMs, query_timeout: statementMs + graceMs }),
    types: { getTypeParser },
  };
}

/** Creates the pool for Kysely. Every fault becomes a sentence, and a connection in doubt is not used again. */
export function createPostgresPool(url: string, storeName: string, settings: PoolSettings): PostgresPool {
  const open = new Set<Client>();
  const idle = new IdleClients();
  class KnownClient extends Client {
    constructor(config?: ClientConfig) {
      super(config);
      open.add(this);
      this.once('end', () => {
        open.delete(this);
        idle.delete(this);
      });
      // While it is lent out the pool does not listen, and a connection that breaks between two statements would end the
      // process. Its user gets the error at the next statement.
      this.on('error', () => undefined);
    }
  }
  const pool = new Pool({
    ...toClientConfig(url, settings),
    Client: KnownClient,
    max: settings.most,
    idleTimeoutMillis: 30_000,
  });
  // The server ended an idle connection: the pool has removed it already.
  pool.on('error', () => undefined);
  return {
    options: {},
    async end() {
      // A second call does nothing.
      if (pool.ending) return;
      const timer = setTimeout(() => open.forEach(hangUp), farewellMs);
      try {
        await pool.end();
      } finally {
        clearTimeout(timer);
        // The pool forgets connections that are still being established; the server, and this process, would wait for them.
        open.forEach(hangUp);
      }
    },
    async connect() {
      if (pool.ending) throw new StoreError('The store is closed.');
      try {
        const client = await takeLiving(pool);
        idle.delete(client);
        return new GuardedClient(client, idle, storeName);
      } catch (thrown) {
        throw toPostgresError(thrown, storeName);
      }
    },
  };
}

/** Takes a connection that is not closed; the pool notices closed ones a moment later. */
async function takeLiving(pool: Pool): Promise<PoolClient> {
  for (;;) {
    const client = await pool.connect();
    if (!client.connection.stream.destroyed) return client;
    client.release(true);
  }
}

class IdleClients extends Set<Client> {
  /** Closes all idle connections. If one is lost, others may be too; behind a firewall that drops packets each would time out in turn. */
  hangUpAll(): void {
    for (const client of this) hangUp(client);
    this.clear();
  }
}

class GuardedClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  readonly #idle: IdleClients;
  readonly #storeName: string;
  #isLost = false;

  constructor(client: PoolClient, idle: IdleClients, storeName: string) {
    this.#client = client;
    this.#idle = idle;
    this.#storeName = storeName;
  }

  // The interface also knows cursors, which this store does not use: without one, none is ever passed.
  // biome-ignore lint/suspicious/noExplicitAny: the two forms of the interface have no result in common.
  query(sql: unknown, parameters?: readonly unknown[]): any {
    return this.#run(String(sql), parameters ?? []);
  }

  release(destroy = false): void {
    const isDone = destroy || this.#isLost;
    if (!isDone) this.#idle.add(this.#client);
    this.#client.release(isDone);
  }

  async #run(sql: string, parameters: readonly unknown[]): Promise<PostgresQueryResult<unknown>> {
    try {
      const { command, rowCount, rows } = await this.#client.query(
        sql,
        parameters.map((value) => (typeof value === 'string' ? toStorableText(value) : value)),
      );
      return { command: command as PostgresQueryResult<unknown>['command'], rowCount: rowCount ?? 0, rows };
    } catch (thrown) {
      if (isConnectionLost(thrown)) {
        this.#isLost = true;
        // Closed at once: waiting for the transaction's end would take another timeout.
        hangUp(this.#client);
        this.#idle.hangUpAll();
      }
      throw toPostgresError(thrown, this.#storeName);
    }
  }
}

/** Closes a connection without a message to the server, which does not answer any more. */
export function hangUp(client: Client): void {
  client.connection.stream.destroy();
}

/** Converts integers: those that JavaScript represents exactly become numbers, also in sums; larger ones become bigints. */
function getTypeParser(type: number, format?: 'text' | 'binary'): (text: string) => unknown {
  if (format === 'binary') return types.getTypeParser(type, 'binary') as (text: string) => unknown;
  if (type === int8) return toWhole;
  if (type === numeric) return (text) => (/^-?\d+$/.test(text) ? toWhole(text) : Number(text));
  return types.getTypeParser(type, 'text');
}

function toWhole(text: string): number | bigint {
  const number = Number(text);
  return Number.isSafeInteger(number) ? number : BigInt(text);
}

/** The URL with `sslmode` as PostgreSQL's own programs read it: `require` asks for TLS, only the `verify` modes check the certificate. */
function withSslMode(url: string): string {
  const mode = /[?&]sslmode=([^&#]*)/.exec(url)?.[1];
  if (mode === undefined || mode === 'disable') return url;
  if (!['require', 'verify-ca', 'verify-full'].includes(mode)) {
    throw new StoreError('"store": sslmode is one of disable, require, verify-ca and verify-full; write one of them.');
  }
  return /[?&]uselibpqcompat=/.test(url) ? url : url.replace('sslmode=', 'uselibpqcompat=true&sslmode=');
}
