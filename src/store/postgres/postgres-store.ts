/** Opens a PostgreSQL database as a store: checks that it is suitable, and migrates it. */

import { setTimeout as sleep } from 'node:timers/promises';
import { Kysely, PostgresAdapter, PostgresDialect, PostgresDriver, type PostgresPool, sql } from 'kysely';
import { Client, type ClientConfig } from 'pg';
import type { Store } from '../../core/store/store.ts';
import type { Clock } from '../../lib/clock.ts';
import { goBackTo, migrate, readMissing } from '../migrate.ts';
import type { Signal } from '../recording.ts';
import type { Schema } from '../schema.ts';
import { createStore } from '../store.ts';
import { StoreError } from '../store-error.ts';
import { lacksRights, type ServerFacts, StoreAwayError, whyUnfit } from './postgres-faults.ts';
import { createPostgresPool, hangUp, type PoolSettings, toClientConfig } from './postgres-pool.ts';

export interface PostgresOptions {
  readonly clock: Clock;
  readonly patienceMs?: number;
  readonly onRetry?: (sentence: string) => void;
}

/** Pool for statements that a request waits for. */
const quick: PoolSettings = { most: 4, connectMs: 1_000, statementMs: 1_000 };
/** Pool for draws from budgets: a request waits up to three seconds, and a later grant serves the next request. */
const lasting: PoolSettings = { most: 4, connectMs: 2_500, statementMs: 2_500 };
/** Pool for work that no request waits for: imports, lists, sums. */
const patient: PoolSettings = { most: 4, connectMs: 2_000, statementMs: 30_000 };
/** Pool for migrations; it has no statement timeout, because creating an index may take long. */
const unhurried: PoolSettings = { most: 1, connectMs: 2_000, statementMs: undefined };

const retryPauseMs = 1_000;
/** Number of the lock for migrations. Any constant would do; the process that holds the lock migrates alone. */
const migrationLock = 7_370_017_385_206_471;

export async function openPostgresStore(url: string, options: PostgresOptions): Promise<Store> {
  const storeName = nameOf(url);
  await whenThere(options, () => setUp(url, storeName));
  const poolOf = (settings: PoolSettings): PostgresPool => createPostgresPool(url, storeName, settings);
  const pools = [poolOf(patient), poolOf(quick), poolOf(lasting)] as const;
  const [db, hurried, money] = [toKysely(pools[0]), toKysely(pools[1]), toKysely(pools[2])];
  const signal = createPostgresSignal({ config: toClientConfig(url, { connectMs: 2_000, statementMs: 2_000 }) });
  return createStore({
    db,
    quick: hurried,
    money,
    clock: options.clock,
    signal,
    // The server recovers its own log.
    secure: async () => true,
    async close() {
      await Promise.all([signal.close(), ...pools.map((pool) => pool.end())]);
    },
  });
}

/** Migrates the database, or takes it back to a version; returns the migrations that ran or were set aside. */
export async function migratePostgres(url: string, backTo?: string): Promise<string[]> {
  const storeName = nameOf(url);
  if (backTo === undefined) return setUp(url, storeName);
  return withConnection(url, storeName, async (db) => {
    await checkServer(db, storeName);
    return alone(db, (transaction) => goBackTo(transaction, backTo, storeName));
  });
}

export async function readMissingOfPostgres(url: string): Promise<string[]> {
  const storeName = nameOf(url);
  return withConnection(url, storeName, async (db) => {
    await checkServer(db, storeName);
    return readMissing(db, storeName);
  });
}

/** The URL for messages: without its password. */
export function nameOf(url: string): string {
  const parsed = URL.parse(url);
  if (parsed === null) return 'The store in PostgreSQL';
  const host = parsed.searchParams.get('host') ?? parsed.hostname;
  const port = parsed.searchParams.get('port') ?? parsed.port;
  const at = host === '' ? '' : ` at ${host}${port === '' ? '' : `:${port}`}`;
  const database = parsed.pathname.slice(1);
  return `The store in PostgreSQL${at}${database === '' ? '' : ` (database "${database}")`}`;
}

async function setUp(url: string, storeName: string): Promise<string[]> {
  return withConnection(url, storeName, async (db) => {
    await checkServer(db, storeName);
    // Most starts find nothing to do: they lock nothing, and need no right to change tables.
    if ((await readMissing(db, storeName)).length === 0) return [];
    await checkRights(db, storeName);
    return alone(db, (transaction) => migrate(transaction, storeName));
  });
}

/** Runs the work in one process at a time: processes that start at the same time wait, and then find the work done. */
function alone<T>(db: Kysely<Schema>, work: (transaction: Kysely<Schema>) => Promise<T>): Promise<T> {
  return db.transaction().execute(async (transaction) => {
    await sql`select pg_advisory_xact_lock(${sql.lit(migrationLock)})`.execute(transaction);
    return work(transaction);
  });
}

async function checkServer(db: Kysely<Schema>, storeName: string): Promise<void> {
  const { rows } = await sql<ServerFacts>`
    select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
      pg_is_in_recovery() as "isStandby"`.execute(db);
  const unfit = rows[0] === undefined ? undefined : whyUnfit(rows[0], storeName);
  if (unfit !== undefined) throw new StoreError(unfit);
}

/** Checks the right to create tables. This comes first: after a failed statement the transaction gives no further reasons. */
async function checkRights(db: Kysely<Schema>, storeName: string): Promise<void> {
  const { rows } = await sql<{ may: boolean | null }>`
    select has_schema_privilege(current_schema(), 'CREATE') as may`.execute(db);
  if (rows[0]?.may !== true) throw new StoreError(lacksRights(storeName));
}

/** Calls again until the server is reachable or the time is over. Errors that will not go away are reported at once. */
async function whenThere<T>({ clock, patienceMs = 0, onRetry }: PostgresOptions, call: () => Promise<T>): Promise<T> {
  const deadlineMs = clock.monotonicMs() + patienceMs;
  for (;;) {
    try {
      return await call();
    } catch (thrown) {
      const leftMs = deadlineMs - clock.monotonicMs();
      if (!(thrown instanceof StoreAwayError) || leftMs <= 0) throw thrown;
      onRetry?.(`${thrown.message} Trying again for ${Math.ceil(leftMs / 1_000)} s.`);
      await sleep(Math.min(retryPauseMs, leftMs));
    }
  }
}

async function withConnection<T>(url: string, storeName: string, work: (db: Kysely<Schema>) => Promise<T>): Promise<T> {
  const pool = createPostgresPool(url, storeName, unhurried);
  try {
    return await work(toKysely(pool));
  } finally {
    await pool.end();
  }
}

function toKysely(pool: PostgresPool): Kysely<Schema> {
  const dialect = Object.assign(new PostgresDialect({ pool }), {
    createDriver: () => new CandidDriver({ pool }),
    createAdapter: () => new LockedAdapter(),
  });
  return new Kysely<Schema>({ dialect });
}

/** Ignores a failing rollback, which would hide its cause: Kysely has removed the connection by then, and throws the original error. */
class CandidDriver extends PostgresDriver {
  override rollbackTransaction(connection: Parameters<PostgresDriver['rollbackTransaction']>[0]): Promise<void> {
    return super.rollbackTransaction(connection).catch(() => undefined);
  }
}

/** Takes no lock of Kysely's, which would outlive the transaction: the migration already holds one that ends with it. */
class LockedAdapter extends PostgresAdapter {
  override async acquireMigrationLock(): Promise<void> {
    return undefined;
  }

  override async releaseMigrationLock(): Promise<void> {
    return undefined;
  }
}

const channel = 'postern_changes';

/** Settings of the notification of other nodes on the same PostgreSQL, which has its own connection. */
export interface SignalDeps {
  readonly config: ClientConfig;
  /** Pause before the first reconnect; it doubles each time. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
  readonly checkEveryMs?: number;
}

export interface PostgresSignal extends Signal {
  close(): Promise<void>;
}

export function createPostgresSignal(deps: SignalDeps): PostgresSignal {
  const listeners = new Set<Listener>();
  return {
    async raise(transaction) {
      await sql`select pg_notify(${channel}, '')`.execute(transaction);
    },
    listen(onChange) {
      const listener = new Listener(deps, onChange);
      listeners.add(listener);
      void listener.connect();
      return {
        async close() {
          listeners.delete(listener);
          await listener.close();
        },
      };
    },
    async close() {
      await Promise.all([...listeners].map((listener) => listener.close()));
      listeners.clear();
    },
  };
}

class Listener {
  readonly #deps: Required<SignalDeps>;
  readonly #onChange: () => void;
  #client: Client | undefined;
  #pauseMs: number;
  #timer: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(
    { firstPauseMs = 500, longestPauseMs = 15_000, checkEveryMs = 10_000, config }: SignalDeps,
    onChange: () => void,
  ) {
    this.#deps = { config, firstPauseMs, longestPauseMs, checkEveryMs };
    this.#onChange = onChange;
    this.#pauseMs = firstPauseMs;
  }

  async connect(): Promise<void> {
    const client = new Client(this.#deps.config);
    this.#client = client;
    client.on('notification', () => this.#onChange());
    // A broken connection ends, which is handled below.
    client.on('error', () => this.#lose(client));
    client.once('end', () => this.#lose(client));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch {
      // Listeners also poll: without the connection they only notice changes later. A reconnect follows.
      this.#lose(client);
      return;
    }
    if (client !== this.#client) return;
    this.#pauseMs = this.#deps.firstPauseMs;
    this.#timer = setInterval(() => void this.#check(client), this.#deps.checkEveryMs);
    this.#timer.unref();
    // Something may have changed during the disconnect.
    this.#onChange();
  }

  async #check(client: Client): Promise<void> {
    try {
      await client.query('select 1');
    } catch {
      this.#lose(client);
    }
  }

  #lose(client: Client): void {
    if (client !== this.#client) return;
    this.#client = undefined;
    clearTimeout(this.#timer);
    void end(client);
    if (this.#isClosed) return;
    this.#timer = setTimeout(() => void this.connect(), this.#pauseMs);
    this.#timer.unref();
    this.#pauseMs = Math.min(this.#pauseMs * 2, this.#deps.longestPauseMs);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#timer);
    const client = this.#client;
    this.#client = undefined;
    if (client !== undefined) await end(client);
  }
}

/** Closes a connection without waiting for long: the server may not answer any more. */
async function end(client: Client): Promise<void> {
  const timeout = setTimeout(() => hangUp(client), 500);
  try {
    await client.end();
  } catch {
    // It was never connected, or is closed already.
  } finally {
    clearTimeout(timeout);
  }
}
