/** A gateway in this process on a free port, with a key and any configuration. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { bill } from '../../../src/accounting/billing.ts';
import { loadConfiguration } from '../../../src/config/load.ts';
import type { Exchange } from '../../../src/core/exchange.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import type { Store } from '../../../src/core/store/store.ts';
import { families } from '../../../src/families/index.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { takenPaths } from '../../../src/routes/index.ts';
import { openAccounting } from '../../../src/serve/accounting.ts';
import { type App, type AppDeps, createApp } from '../../../src/serve/app.ts';
import { openStore } from '../../../src/store/open-store.ts';
import type { ProcessLog } from '../../../src/telemetry/log.ts';
import { type RawRequest, type RawResponse, request } from '../clients/raw-client.ts';

export const testKey = 'test-key-with-enough-characters';

/** What a gateway ends with: a test, or whatever else calls back when it is over. */
export interface Scope {
  after(end: () => Promise<unknown>): void;
}

/** A configuration document; `server.port`, the store and a key are filled in. */
export type RigDocument = Readonly<Record<string, unknown>>;

interface Warning {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

export interface Rig {
  readonly port: number;
  readonly url: string;
  /** What it was started with. */
  readonly document: RigDocument;
  readonly app: App;
  readonly store: Store;
  /** Every exchange that has been settled, in order. */
  readonly settled: readonly Exchange[];
  /** What the log warned of, in order. */
  readonly warnings: readonly Warning[];
  /** What the log was given for the level `debug`, in order. */
  readonly steps: readonly Warning[];
  /** Waits until so many exchanges are settled, and gives the last of them. */
  exchange(count?: number): Promise<Exchange>;
  /** A request with the test's key; `body` may be bytes, text or a value to be written as JSON. */
  post(path: string, body: unknown, more?: Partial<RawRequest>): Promise<RawResponse>;
  get(path: string, more?: Partial<RawRequest>): Promise<RawResponse>;
  compile(document: RigDocument): Promise<Snapshot>;
}

export async function startRig(
  t: Scope,
  document: RigDocument,
  env: Record<string, string> = {},
  parts: Partial<
    Pick<
      AppDeps,
      | 'ledger'
      | 'spending'
      | 'ledgerState'
      | 'bill'
      | 'meter'
      | 'tracer'
      | 'backgroundEveryMs'
      | 'endpointLookUp'
      | 'isDirect'
    >
  > = {},
): Promise<Rig> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-rig-'));
  let generation = 0;

  async function compile(wanted: RigDocument): Promise<Snapshot> {
    generation += 1;
    const file = join(directory, `postern-${generation}.json`);
    // A busy machine is no reason to refuse the requests of a test.
    const shedding = { loop_delay: '60s' };
    const server = { host: '127.0.0.1', port: 0, shedding, ...(wanted.server as object | undefined) };
    const keys = wanted.keys ?? [{ id: 'test', secret: testKey }];
    await writeFile(file, JSON.stringify({ store: 'sqlite::memory:', ...wanted, server, keys }));
    const loaded = await loadConfiguration({
      configPath: file,
      env,
      cwd: directory,
      families,
      loadTakenPaths: async () => takenPaths,
    });
    if (!loaded.ok) throw new Error(`configuration: ${JSON.stringify(loaded.faults)}`);
    return loaded.snapshot;
  }

  const snapshot = await compile(document);
  const store = await openStore(snapshot.store, { cwd: directory });
  const settled: Exchange[] = [];
  const warnings: Warning[] = [];
  const steps: Warning[] = [];
  let wake = (): void => {};
  const log: ProcessLog = {
    debug: (message, fields) => void steps.push({ message, fields }),
    info: () => {},
    warn: (message, fields = {}) => void warnings.push({ message, fields }),
    error: () => {},
    flush: async () => {},
    close: () => {},
    follow: () => {},
    reopen: () => {},
    request(exchange) {
      settled.push(exchange);
      wake();
    },
  };
  const clock = systemClock;
  const accounting = await openAccounting({
    snapshot,
    store,
    log,
    clock,
    random: Math.random,
    cwd: directory,
    proxyFor: () => undefined,
  });
  const { spending, ledger, ledgerState } = accounting;
  const installation = await store.settings.installation();
  const installedAtMs = await store.settings.installedAtMs();
  const app = createApp({
    snapshot,
    store,
    log,
    clock,
    installation,
    installedAtMs,
    spending,
    ledger,
    ledgerState,
    bill,
    cwd: directory,
    isDirect: process.env.POSTERN_DIRECT !== 'off',
    ...parts,
  });
  const { tcp } = await app.listen();
  const port = tcp?.port ?? 0;
  t.after(async () => {
    await app.close();
    await accounting.close();
    await store.close();
    await rm(directory, { recursive: true, force: true });
  });

  async function ask(
    method: string,
    path: string,
    body: Buffer | undefined,
    more: Partial<RawRequest>,
  ): Promise<RawResponse> {
    const type: [string, string][] = body === undefined ? [] : [['Content-Type', 'application/json']];
    const headers = more.headers ?? [['Authorization', `Bearer ${testKey}`], ...type];
    return request({ port, method, path, ...(body === undefined ? {} : { body }), ...more, headers });
  }

  return {
    port,
    url: `http://127.0.0.1:${port}`,
    document,
    app,
    store,
    settled,
    warnings,
    steps,
    async exchange(count = 1) {
      while (settled.length < count) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const last = settled[count - 1];
      if (last === undefined) throw new Error('no exchange was settled');
      return last;
    },
    post: (path, body, more = {}) => ask('POST', path, toBytes(body), more),
    get: (path, more = {}) => ask('GET', path, undefined, more),
    compile,
  };
}

function toBytes(body: unknown): Buffer {
  if (Buffer.isBuffer(body)) return body;
  return Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
}
