/** PostgreSQL connections: pool size, timeouts, and value types. */

import type { PostgresPool, PostgresPoolClient, PostgresQueryResult } from 'kysely';
import { Client, type ClientConfig, Pool, type PoolClient, types } from 'pg';
import { StoreError } from '../store-error.ts';
import { toStorableText } from '../stored-json.ts';
import { isConnectionLost, toPostgresError } from './postgres-faults.ts';

export interface PoolSettings {
  readonly most: number;
  /** To get a connection, a new one or one that is given back. */
  readonly connectMs: number;
  /** For one statement; undefined where it takes what it takes. */
  readonly statementMs: number | undefined;
}

const applicationName = 'postern';
/** A process that stands still in the middle of a transaction holds up nobody for longer. */
const idleTransactionMs = 10_000;
/** The server gives up first, and says so: the connection stays good. */
const graceMs = 250;
/** At the end, what is under way may end as well. */
const farewellMs = 1_000;

const int8 = 20;
const numeric = 1700;

/** What a connection needs to know; the URL with its password stays in here. */
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

/** For Kysely. Whatever goes wrong comes out as a sentence, and a connection that is in doubt is not used again. */
export function createPostgresPool(url: string, place: string, settings: PoolSettings): PostgresPool {
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
      // process. Whoever has it is told at the next statement.
      this.on('error', () => undefined);
    }
  }
  const pool = new Pool({
    ...toClientConfig(url, settings),
    Client: KnownClient,
    max: settings.most,
    idleTimeoutMillis: 30_000,
  });
  // A connection that nobody uses was ended from the other side: the pool has put it away already.
  pool.on('error', () => undefined);
  return {
    options: {},
    async end() {
      // A second time is no mistake.
      if (pool.ending) return;
      const timer = setTimeout(() => open.forEach(hangUp), farewellMs);
      try {
        await pool.end();
      } finally {
        clearTimeout(timer);
        // The pool forgets those that never got as far as to be of use; the server would wait for them, and so would we.
        open.forEach(hangUp);
      }
    },
    async connect() {
      if (pool.ending) throw new StoreError('The store is closed.');
      try {
        const client = await takeLiving(pool);
        idle.delete(client);
        return new GuardedClient(client, idle, place);
      } catch (thrown) {
        throw toPostgresError(thrown, place);
      }
    },
  };
}

/** The pool hears a moment later of those that were hung up. */
async function takeLiving(pool: Pool): Promise<PoolClient> {
  for (;;) {
    const client = await pool.connect();
    if (!client.connection.stream.destroyed) return client;
    client.release(true);
  }
}

/** Those that nobody uses just now. */
class IdleClients extends Set<Client> {
  /** One was lost: so may be the others, and behind a wall that swallows everything each would be waited for in its turn. */
  hangUpAll(): void {
    for (const client of this) hangUp(client);
    this.clear();
  }
}

class GuardedClient implements PostgresPoolClient {
  readonly #client: PoolClient;
  readonly #idle: IdleClients;
  readonly #place: string;
  #isLost = false;

  constructor(client: PoolClient, idle: IdleClients, place: string) {
    this.#client = client;
    this.#idle = idle;
    this.#place = place;
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
        // At once: the end of a transaction would be waited for as long again.
        hangUp(this.#client);
        this.#idle.hangUpAll();
      }
      throw toPostgresError(thrown, this.#place);
    }
  }
}

/** Without a word: for a server that does not answer any more. */
export function hangUp(client: Client): void {
  client.connection.stream.destroy();
}

/** Whole numbers that a JavaScript number holds exactly become one, as sums of them do; larger ones become a bigint. */
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

/** As PostgreSQL's own programs read it: `require` asks for TLS, and only the two `verify` modes look at the certificate. */
function withSslMode(url: string): string {
  const mode = /[?&]sslmode=([^&#]*)/.exec(url)?.[1];
  if (mode === undefined || mode === 'disable') return url;
  if (!['require', 'verify-ca', 'verify-full'].includes(mode)) {
    throw new StoreError('"store": sslmode is one of disable, require, verify-ca and verify-full; write one of them.');
  }
  return /[?&]uselibpqcompat=/.test(url) ? url : url.replace('sslmode=', 'uselibpqcompat=true&sslmode=');
}
