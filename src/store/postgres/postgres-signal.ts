/** How nodes on one PostgreSQL tell each other that something changed: a notification, on a connection of its own. */

import { sql } from 'kysely';
import { Client, type ClientConfig } from 'pg';
import type { Signal } from '../recording.ts';
import { hangUp } from './postgres-pool.ts';

const channel = 'postern_changes';

export interface SignalDeps {
  readonly config: ClientConfig;
  /** Until the first try after the connection broke; it doubles. */
  readonly firstPauseMs?: number;
  readonly longestPauseMs?: number;
  /** A connection that says nothing is asked now and then whether it is still there. */
  readonly checkEveryMs?: number;
}

export interface PostgresSignal extends Signal {
  /** Ends every listener. */
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
    // A broken connection ends, and that is dealt with below.
    client.on('error', () => this.#lose(client));
    client.once('end', () => this.#lose(client));
    try {
      await client.connect();
      await client.query(`listen ${channel}`);
    } catch {
      // Whoever listens also looks by itself: nothing is lost but time, and it is tried again.
      this.#lose(client);
      return;
    }
    if (client !== this.#client) return;
    this.#pauseMs = this.#deps.firstPauseMs;
    this.#timer = setInterval(() => void this.#check(client), this.#deps.checkEveryMs);
    this.#timer.unref();
    // Something may have changed while nobody listened.
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

/** Nobody waits for a server that does not answer any more. */
async function end(client: Client): Promise<void> {
  const timeout = setTimeout(() => hangUp(client), 500);
  try {
    await client.end();
  } catch {
    // It was never there, or is gone already.
  } finally {
    clearTimeout(timeout);
  }
}
