/** Ways to make PostgreSQL unreachable, and to restore it. */

import { setTimeout as wait } from 'node:timers/promises';
import { Client } from 'pg';
import { codeOf } from '../../../../src/lib/thrown.ts';
import type { Postgres } from '../../../support/servers/postgres.ts';
import type { ChaosProxy } from './chaos-proxy.ts';

export interface Outage {
  readonly name: string;
  /** Connections that bypass the proxy still reach it. */
  readonly isOnlyCutOff?: boolean;
  begin(): Promise<void>;
  end(): Promise<void>;
}

/** `proxy` stands between the nodes and the server. */
export function createOutages(server: Postgres, proxy: ChaosProxy, url: string): Outage[] {
  const hogs = new Hogs(url);
  return [
    {
      name: 'cut off',
      isOnlyCutOff: true,
      async begin() {
        proxy.behave({ toServer: { ends: 'stall' }, toClient: { ends: 'stall' } }, { open: true });
      },
      // Those that were open stay silent for good, as after a firewall has forgotten them.
      async end() {
        proxy.behave({});
      },
    },
    {
      name: 'killed',
      // With it go all its connections, those that were silent as well.
      async begin() {
        await server.kill();
        await proxy.goDown();
      },
      async end() {
        await server.start();
        await proxy.comeUp();
      },
    },
    { name: 'hung', begin: async () => server.pause(), end: async () => server.resume() },
    { name: 'out of connections', begin: () => hogs.takeAll(), end: () => hogs.letGo() },
  ];
}

const mostRounds = 100;
const quietRounds = 4;
const betweenRoundsMs = 50;

/** Other clients that use up every connection. */
class Hogs {
  readonly #url: string;
  readonly #clients = new Set<Client>();

  constructor(url: string) {
    this.#url = url;
  }

  async takeAll(): Promise<void> {
    const first = await this.#take();
    if (first === undefined) throw new Error('not one connection is left for the test');
    let quiet = 0;
    for (let round = 0; round < mostRounds; round += 1) {
      const { rows } = await first.query(
        `select count(pg_terminate_backend(pid)) as count from pg_stat_activity where application_name = 'postern'`,
      );
      while ((await this.#take()) !== undefined);
      // A client that has only begun to connect has no name yet, and one that ends keeps its connection for a moment.
      quiet = Number(rows[0]?.count) === 0 ? quiet + 1 : 0;
      if (quiet === quietRounds) return;
      await wait(betweenRoundsMs);
    }
    throw new Error('the nodes always got a connection');
  }

  async letGo(): Promise<void> {
    for (const client of this.#clients) await client.end();
    this.#clients.clear();
  }

  /** Undefined where none is left. */
  async #take(): Promise<Client | undefined> {
    const client = new Client({ connectionString: this.#url, application_name: 'hog', connectionTimeoutMillis: 5_000 });
    client.on('error', () => undefined);
    try {
      await client.connect();
    } catch (error) {
      // Too many connections.
      if (codeOf(error) === '53300') return undefined;
      throw error;
    }
    this.#clients.add(client);
    return client;
  }
}
