/** Measures clients beside each page of the console: windows without it and with it take turns, as a shared machine drifts. */

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { toTable } from '../src/cli/output.ts';
import type { ImportedRow } from '../src/core/store/ledger.ts';
import type { Store } from '../src/core/store/store.ts';
import { type Spread, spreadRows } from '../test/support/ledger/ledger-rows.ts';
import type { Children } from './children.ts';
import type { LoadTask, OwnResult } from './load.ts';
import { median } from './measurement.ts';
import { toParts } from './requests.ts';

interface PageCall {
  readonly path: string;
  /** `query` of the calls that follow: the page reads a list to its end. */
  readonly next?: readonly string[];
  /** Written there by PUT; `$count` in the path is another number each time. */
  readonly body?: object;
  /** Undefined: asked once, when the page opens. */
  readonly everyMs?: number;
  readonly isStream?: boolean;
}

const second = 1_000;
const dayMs = 86_400 * second;
/** Of every page. */
const shell: readonly PageCall[] = [{ path: '/api/configuration', everyMs: 10 * second }];
const traffic = (by: string): PageCall => ({
  path: `/api/series?by=${by}&from=${new Date(Date.now() - dayMs).toISOString()}&step=1d&top=50`,
  everyMs: 30 * second,
});

/** What each page asks, and how often: see `refetchInterval` in console/src. Upstreams are read to the end, 200 at a time. */
const pages: Readonly<Record<string, readonly PageCall[]>> = {
  overview: [
    { path: '/api/now', everyMs: 5 * second },
    { path: '/api/notices', everyMs: 10 * second },
  ],
  'explorer, live': [
    { path: '/api/ledger/choices' },
    { path: '/api/ledger?limit=50' },
    { path: '/api/live', isStream: true },
    { path: '/api/ledger/tail', isStream: true },
    { path: '/api/series?compare=before&top=8', everyMs: 5 * second },
  ],
  'explorer, by model': [
    { path: '/api/ledger/choices' },
    { path: '/api/ledger?limit=50' },
    { path: '/api/series?by=model,upstream&compare=before&top=8&heatmap=true', everyMs: 5 * second },
  ],
  models: [{ path: '/api/models?limit=100', everyMs: 5 * second }, traffic('model')],
  upstreams: [
    {
      path: '/api/upstreams?limit=200',
      next: ['&before=upstream-277', '&before=upstream-457'],
      everyMs: 3 * second,
    },
    traffic('upstream'),
  ],
  keys: [
    { path: '/api/keys?limit=50', everyMs: 15 * second },
    { path: '/api/projects', everyMs: 15 * second },
    { path: '/api/usage?by=key,day', everyMs: 60 * second },
  ],
  // No page: somebody creates models by a script.
  'writes of models': [
    {
      path: '/api/models/written-$count',
      body: { operations: ['rerank'], targets: [{ upstream: 'upstream-7' }] },
      everyMs: second / 10,
    },
  ],
};

const storedRows = 100_000;
const rowsAtOnce = 2_000;

type Sizes = Pick<Spread, 'models' | 'upstreams' | 'keys' | 'projects'>;

/** Rows of the last day. */
export async function fillLedger({ ledger, series }: Store, sizes: Sizes): Promise<void> {
  const nowMs = Date.now();
  let batch: ImportedRow[] = [];
  let offset = 0;
  for (const row of spreadRows({ ...sizes, fromMs: nowMs - dayMs, toMs: nowMs, rows: storedRows })) {
    offset += 1;
    batch.push({ row, accounts: [] });
    if (batch.length < rowsAtOnce && offset < storedRows) continue;
    await ledger.import('bench', batch, { segment: 1, offset });
    batch = [];
  }
  while (await series.tend(90 * dayMs, nowMs));
}

export interface Beside {
  readonly children: Children;
  readonly directory: string;
  readonly port: number;
  readonly rate: number;
  readonly seconds: number;
  readonly rounds: number;
  readonly only: readonly string[] | undefined;
  readonly models: readonly string[];
  readonly keys: readonly string[];
  /** Asks, or writes `body`, and drops the answer; a stream until the signal. */
  ask(path: string, signal: AbortSignal | undefined, body?: object): Promise<void>;
  /** How long the event loop of the gateway was held since the start, in CPU milliseconds. */
  readHeld(): readonly number[];
  mainThreadMs(): number;
  /** How long the main thread had no core. */
  waitedMs(): number;
}

interface Window extends OwnResult {
  readonly heldMs: number;
  /** Of the gateway's main thread, in a second. */
  readonly mainMs: number;
  /** How long it had no core, in a second: other programs and threads had it. */
  readonly waitedMs: number;
}

export async function measureBeside(beside: Beside): Promise<void> {
  const chosen = Object.entries(pages).filter(([name]) => beside.only?.some((part) => name.includes(part)) ?? true);
  const found = new Map(chosen.map(([name]): [string, (readonly [Window, Window])[]] => [name, []]));
  const taskFile = writeTask(beside);
  const windowOf = async (calls: readonly PageCall[]): Promise<Window> => {
    const before = beside.readHeld().length;
    const [usedMs, waitedMs] = [beside.mainThreadMs(), beside.waitedMs()];
    const over = new AbortController();
    const open = calls.map((call) => use(beside, call, over.signal));
    const output = await beside.children.run(process.execPath, [ownClient, taskFile], 'load', beside.seconds * 3_000);
    over.abort();
    await Promise.all(open);
    const result: OwnResult = JSON.parse(output.trimEnd().split('\n').at(-1) ?? '');
    return {
      ...result,
      mainMs: (beside.mainThreadMs() - usedMs) / result.seconds,
      waitedMs: (beside.waitedMs() - waitedMs) / result.seconds,
      heldMs: Math.max(0, ...beside.readHeld().slice(before)),
    };
  };
  await windowOf([]);
  for (let round = 0; round < beside.rounds; round++) {
    for (const [name, calls] of chosen) {
      const closed = await windowOf([]);
      const opened = await windowOf([...shell, ...calls]);
      found.get(name)?.push([closed, opened]);
      for (const { p50Us, p99Us, longestUs, ...more } of [closed, opened])
        console.error([name, ...[p50Us, p99Us, longestUs].map(toMs), JSON.stringify(more)].join('  '));
    }
  }
  const rows = [...found].map(([name, pairs]) => {
    const of = (pick: (one: Window) => number) =>
      [0, 1].map((side) => (median(pairs.map((pair) => pick(pair[side as 0 | 1]))) ?? 0).toFixed(1)).join(', ');
    const moved = median(pairs.map(([closed, opened]) => (opened.p99Us - closed.p99Us) / 1_000)) ?? 0;
    const held = [0, 1].map((side) => Math.max(...pairs.map((pair) => pair[side as 0 | 1].heldMs)).toFixed(0));
    const failed = pairs.flat().reduce((sum, { errors }) => sum + Object.values(errors).reduce((a, b) => a + b, 0), 0);
    return [
      name,
      of(({ p50Us }) => p50Us / 1_000),
      of(({ p99Us }) => p99Us / 1_000),
      moved.toFixed(1),
      of(({ longestUs }) => longestUs / 1_000),
      held.join(', '),
      of(({ mainMs }) => mainMs),
      of(({ waitedMs }) => waitedMs),
      String(failed),
    ];
  });
  const heads = [
    'PAGE',
    'P50 MS',
    'P99 MS',
    'P99 MOVES',
    'LONGEST MS',
    'LOOP HELD MS',
    'MAIN THREAD MS/S',
    'WITHOUT CORE MS/S',
    'FAILED',
  ];
  for (const line of toTable(heads, rows)) console.log(line);
  console.log('Without the page, and beside it: medians of the windows; of the loop held, the longest, in CPU time.');
}

const ownClient = fileURLToPath(new URL('load-client.ts', import.meta.url));

const toMs = (us: number): string => (us / 1_000).toFixed(1);

/** As long as the page is open. A call that is late does not make others: the page waits for its answer. */
async function use(beside: Beside, { path, next = [], body, everyMs, isStream = false }: PageCall, over: AbortSignal) {
  do {
    const asked = performance.now();
    writes += 1;
    await beside.ask(path.replace('$count', String(writes)), isStream ? over : undefined, body);
    for (const query of next) await beside.ask(path + query, undefined);
    if (everyMs === undefined) return;
    await wait(Math.max(0, everyMs - (performance.now() - asked)), undefined, { signal: over }).catch(() => undefined);
  } while (!over.aborted);
}

let writes = 0;

const firstCounter = 1_000_000_000;

/** Rerank requests of ten documents; models and keys take turns. */
function writeTask({ directory, port, rate, seconds, models, keys }: Beside): string {
  const documents = Array.from({ length: 10 }, (_, index) => `document ${index} of a few words`);
  const parts = models.map((model, index) => {
    const body = Buffer.from(JSON.stringify({ model, query: String(firstCounter), documents }));
    const counterAt = body.indexOf(String(firstCounter));
    const key = keys[index % keys.length] ?? '';
    const requests = { port, path: '/v1/rerank', body, bodyType: 'application/json', counterAt, firstCounter };
    return toParts({ ...requests, keys: [key] });
  });
  const restFile = join(directory, 'request-rest');
  writeFileSync(restFile, parts[0]?.rest ?? '');
  const file = join(directory, 'task.json');
  const openings = parts.flatMap((part) => part.openings);
  const task: LoadTask = { port, rate, connections: 64, length: { seconds }, firstCounter, openings, restFile };
  writeFileSync(file, JSON.stringify(task));
  return file;
}
