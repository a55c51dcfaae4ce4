/** Promise 33: SQL and pattern metacharacters in every input are stored, matched and refused as plain text. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { modelName } from '../../src/config/elements/fields.ts';
import { mayBeMatched } from '../../src/core/model-name.ts';
import { openStore } from '../../src/store/open-store.ts';
import { send } from '../support/clients/raw-client.ts';
import { type GatewayProcess, startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { runPostern } from '../support/gateways/postern-command.ts';
import { hostileTexts } from '../support/json/hostile-texts.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { type ChaosRig, definePromise, type Figure, type Scale, within } from './promise.ts';
import { createCommandLine } from './support/command-line.ts';
import { toCommands, toRequests } from './support/hostile/hostile-inputs.ts';
import { callStore } from './support/hostile/hostile-store-calls.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';
import { readMetric } from './support/readings/metric.ts';
import { inEachStore, type StoreLocation } from './support/secrets/store-locations.ts';

interface Size {
  /** Of those that are known; the rest are drawn by chance. */
  readonly known: number;
  /** Made of what is dangerous, by chance, beside those that are known. */
  readonly random: number;
  /** Texts that each command is run with; they are many, and slow. */
  readonly commands: number;
  /** Commands in processes of their own. */
  readonly processes: number;
}

const sizes: Readonly<Record<Scale, Size>> = {
  long: { known: Number.POSITIVE_INFINITY, random: 60, commands: 40, processes: 40 },
  short: { known: 4, random: 2, commands: 3, processes: 1 },
};

/** Never left out. */
const worst: readonly string[] = ["'; DROP TABLE keys; --", '%', 'a\0b', '_', '\\', 'k'.repeat(100_000)];

const clientKey = 'the-client-key-with-enough-characters';
const barsMs = { requests: 1_000, commands: 1_000, calls: 1_000 };
const importLimitMs = 20_000;
/** What of a model's name the ledger keeps. */
const keptCharacters = 256;

const more: readonly string[] = [
  "'; select pg_sleep(20); --",
  "' || pg_sleep(20)::text || '",
  '1 and 1=(select count(*) from generate_series(1,100000000))',
  "' union all select digest from keys --",
  "x'; update keys set revoked_at = 1; --",
  '$$; drop table ledger; $$',
  "E'\\\\x27'",
  "''''",
  '%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%%a',
  '\\%\\_',
  '-- comment',
  '\u2028\u2029\u202e\ufeff',
  'é e\u0301',
  '\u0000',
  '\x7f\x1b[2J',
  '\udc00\ud800',
  '%'.repeat(100_000),
  "'".repeat(100_000),
];

const pieces = [
  "'",
  '"',
  '`',
  '\\',
  '%',
  '_',
  ';',
  '--',
  '/*',
  '*/',
  '\0',
  '\ud83d',
  '🗝',
  '$1',
  '?',
  ':a',
  ' ',
  ')',
  '(',
  '||',
  'or',
  '=',
  'x',
];

export default definePromise({
  no: 33,
  title: 'SQL metacharacters in every input',
  async run(rig) {
    const random = createRandom(rig.seed);
    const directory = await mkdtemp(join(tmpdir(), 'postern-hostile-'));
    rig.t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
    const { known, random: made } = sizes[rig.scale];
    const shuffled = [...hostileTexts, ...more].map((text) => ({ text, at: random() })).sort((a, b) => a.at - b.at);
    const texts = [
      ...new Set([...worst, ...shuffled.slice(0, known).map(({ text }) => text), ...makeTexts(made, random)]),
    ];
    return inEachStore(rig.t, { file: join(directory, 'postern.db') }, (location) =>
      attack(rig, directory, location, texts),
    );
  },
});

function makeTexts(count: number, random: () => number): string[] {
  return Array.from({ length: count }, () =>
    Array.from({ length: 1 + Math.floor(random() * 12) }, () => pieces[Math.floor(random() * pieces.length)]).join(''),
  );
}

/** Which one took longest. */
class Slowest {
  #ms = 0;
  #what = '';

  note(what: string, ms: number): void {
    if (ms < this.#ms) return;
    this.#ms = ms;
    this.#what = what;
  }

  within(name: string, barMs: number): Figure {
    const figure = within(name, this.#ms, barMs);
    return { ...figure, measured: `${figure.measured}: ${this.#what.replaceAll(/\P{ASCII}|\p{Cc}/gu, '·')}` };
  }
}

/** What went on in one store. */
interface Attack {
  readonly rig: ChaosRig;
  readonly location: StoreLocation;
  readonly directory: string;
  readonly configFile: string;
  readonly gateway: GatewayProcess;
  readonly texts: readonly string[];
  /** Models that are written out, for no pattern may match them. */
  readonly named: ReadonlySet<string>;
  /** Accepted requests by their model in the ledger. */
  readonly accepted: Map<string, number>;
  readonly slowest: { readonly requests: Slowest; readonly commands: Slowest };
}

async function attack(
  rig: ChaosRig,
  root: string,
  location: StoreLocation,
  texts: readonly string[],
): Promise<Figure[]> {
  const upstream = await startFakeUpstream(answerAsAsked);
  rig.t.after(() => upstream.close());
  const directory = await mkdtemp(join(root, `${location.name}-`));
  const named = namesOf(texts);
  const config = toConfig(location, upstream, directory, named);
  const configFile = join(directory, 'postern.json');
  await writeFile(configFile, JSON.stringify(config));
  const gateway = await startGatewayProcess({ config });
  rig.t.after(() => gateway.stop());
  const slowest = { requests: new Slowest(), commands: new Slowest() };
  const all: Attack = { rig, location, directory, configFile, gateway, texts, named, accepted: new Map(), slowest };

  const before = await describeTables(location);
  const requests = await sendAll(all);
  const isImported = await becomesImported(gateway);
  const misread = isImported ? await compareSums(all) : ['the journal is not in the store yet'];
  const commands = await runAll(all);
  rig.progress(`${location.name}: the store is called directly`);
  const store = await openStore(location.url, { cwd: directory });
  const calls = await callStore(store, texts).finally(() => store.close());
  const after = await describeTables(location);
  const internal = await readMetric(gateway, 'postern_errors_total', 'code="internal_error"');
  const complaints = gateway.log().filter(({ level }) => level === 'error');
  const verified = await createCommandLine({ cwd: directory })('ledger', 'verify', '--config', configFile);
  return [
    none(
      'requests without an answer, with a 5xx, or refused though their model is written out',
      requests.faults,
      `${requests.count} sent, ${sumOf(all.accepted)} accepted`,
    ),
    none('errors that the gateway says of itself', [
      ...(internal === 0 ? [] : [`${internal} internal errors`]),
      ...complaints.map((line) => JSON.stringify(line)),
    ]),
    none(
      'rows that stay in the journal, sums and filters that find others than the rows named',
      [...misread, ...(verified.code === 0 ? [] : [verified.output + verified.errors])],
      `${all.accepted.size} names`,
    ),
    none('commands that fail by our fault', commands.faults, `${commands.count} run`),
    none('calls of the store that fail, or find what was not asked for', calls.faults, `${calls.count} made`),
    none('tables that are others than before, or hold other keys than were made', [
      ...(before === after ? [] : [`${before} became ${after}`]),
      ...(await countKeys(location, commands.made + calls.made)),
    ]),
    slowest.requests.within('slowest request', barsMs.requests),
    slowest.commands.within('slowest command', barsMs.commands),
    within('slowest call of the store', calls.slowestMs, barsMs.calls),
  ];
}

/** Answers with the content of the request's `say`, as an error and as usage. */
const answerAsAsked: Handler = (entry, reply) => {
  const asked: unknown = JSON.parse(entry.body.toString());
  const { say, usage } = asked as { say?: string; usage?: unknown };
  if (say !== undefined) return reply.json(400, { error: { message: say, type: say, code: say, param: say } });
  return reply.json(200, { usage: usage ?? { prompt_tokens: 1, total_tokens: 1 } });
};

/** Of the requested models, those that a configuration may name and a pattern may not match. */
function namesOf(texts: readonly string[]): ReadonlySet<string> {
  const asked = texts.flatMap((text) => toRequests(text, clientKey)).flatMap(({ model }) => model ?? []);
  const written = modelName();
  return new Set(asked.filter((name) => !name.includes('*') && !mayBeMatched(name) && written.safeParse(name).success));
}

/** As a configuration has it, where `%_%` by itself would be taken for another program's variable: the fallback of one that nobody set. */
const toText = (name: string): string =>
  name.includes('}') ? name.replaceAll('${', '$${') : `\${NOBODY_SET_THIS:-${name}}`;

function toConfig(
  location: StoreLocation,
  upstream: FakeUpstream,
  directory: string,
  named: ReadonlySet<string>,
): Readonly<Record<string, unknown>> {
  const budgets = [{ every: 'total', amount: 1_000 }];
  return {
    server: { port: 0, max_header_size: '256KiB' },
    console: { port: 0 },
    store: location.url,
    ledger: { journal: join(directory, 'journal') },
    keys: [{ id: 'client', secret: clientKey, budgets, limits: { requests_per_minute: 1_000_000 } }],
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
    models: ['*', ...[...named].map(toText)].map((id) => ({
      ...{ id, operations: ['embeddings'], price: { input: 1 }, budgets },
      targets: [{ upstream: 'up', model: id }],
    })),
  };
}

interface Outcome {
  readonly count: number;
  readonly faults: readonly string[];
}

async function sendAll({ rig, location, gateway, texts, named, accepted, slowest }: Attack): Promise<Outcome> {
  const faults: string[] = [];
  const waiting = texts.flatMap((text) => toRequests(text, clientKey));
  const count = waiting.length;
  const sendSome = async (): Promise<void> => {
    for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
      const { what, bytes, model } = next;
      const startedMs = performance.now();
      const { status, complete, body } = await send(gateway.port, bytes, { timeoutMs: 30_000 });
      slowest.requests.note(what, performance.now() - startedMs);
      const isRefused = status !== 200 && model !== undefined && named.has(model);
      if (!complete || status < 200 || status >= 500 || isRefused)
        faults.push(`${what}: ${status} ${body.toString().slice(0, 200)}`);
      if (status === 200 && model !== undefined) {
        const kept = model.slice(0, keptCharacters).toWellFormed();
        accepted.set(kept, (accepted.get(kept) ?? 0) + 1);
      }
      rig.progress(`${location.name}: ${waiting.length} requests are left`);
    }
  };
  await Promise.all([sendSome(), sendSome(), sendSome(), sendSome()]);
  return { count, faults };
}

async function becomesImported(gateway: GatewayProcess): Promise<boolean> {
  for (const endMs = performance.now() + importLimitMs; performance.now() < endMs; await wait(50)) {
    if ((await readMetric(gateway, 'postern_journal_bytes')) === 0) return true;
  }
  return false;
}

/** Each name finds its own requests, and `%` not all of them. */
async function compareSums({ directory, configFile, accepted, rig, location }: Attack): Promise<string[]> {
  const found: string[] = [];
  const postern = createCommandLine({ cwd: directory });
  const endMs = performance.now() + importLimitMs;
  for (const [model, count] of accepted) {
    rig.progress(`${location.name}: what was used is asked for`);
    // The command line removes the spaces around a name.
    if (model.trim() !== model) continue;
    const readCount = async (): Promise<unknown> => {
      const summed = await postern('usage', `--model=${model}`, '--outcome=ok', '--json', '--config', configFile);
      return summed.code === 0 ? JSON.parse(summed.output).total.requests : summed.errors;
    };
    let requests = await readCount();
    // A row may come into the journal a moment after its answer was read, and after the journal was seen empty.
    while (requests !== count && performance.now() < endMs) {
      await wait(50);
      requests = await readCount();
    }
    if (requests !== count) found.push(`usage of ${JSON.stringify(model)}: ${requests}, and ${count} were answered`);
    const listed = await postern(
      ...['ledger', 'tail', `--model=${model}`, '--outcome=ok', '--limit=100000', '--json'],
      '--config',
      configFile,
    );
    const rows = listed.output.split('\n').filter((line) => line !== '');
    if (listed.code !== 0 || rows.length !== count)
      found.push(`rows of ${JSON.stringify(model)}: ${rows.length}, not ${count}`);
  }
  return found;
}

async function runAll({
  rig,
  location,
  directory,
  configFile,
  texts,
  slowest,
}: Attack): Promise<Outcome & { made: number }> {
  const faults: string[] = [];
  const postern = createCommandLine({ cwd: directory });
  const file = join(directory, 'hostile.json');
  let count = 0;
  let made = 0;
  const all = [];
  for (const text of texts.slice(0, sizes[rig.scale].commands)) {
    for (const { args, content } of toCommands(text, file)) {
      if (content !== undefined) await writeFile(file, content);
      const startedMs = performance.now();
      const { code, errors } = await postern(...args, '--config', configFile);
      slowest.commands.note(args.join(' ').slice(0, 60), performance.now() - startedMs);
      count += 1;
      if (code === 2) faults.push(`${args.join(' ').slice(0, 80)}: ${errors.slice(0, 300)}`);
      if (code === 0 && args[1] === 'create') made += 1;
      if (content === undefined && !args.join('').includes('\0')) all.push(args);
      rig.progress(`${location.name}: ${count} commands`);
    }
  }
  // The same in processes: of a real command line, and what leaves them.
  const random = createRandom(rig.seed);
  for (let number = 0; number < sizes[rig.scale].processes; number += 1) {
    const args = all[Math.floor(random() * all.length)] ?? [];
    const { code, stderr } = await runPostern([...args, '--config', configFile], { cwd: directory });
    count += 1;
    if (code !== 0 && code !== 1)
      faults.push(`as a process, ${args.join(' ').slice(0, 80)}: ${code} ${stderr.slice(0, 300)}`);
    if (code === 0 && args[1] === 'create') made += 1;
  }
  return { count, faults, made };
}

/** Tables with their columns, and indices. */
async function describeTables(location: StoreLocation): Promise<string> {
  const statement =
    location.name === 'SQLite'
      ? 'select name, sql from sqlite_schema order by name'
      : `select table_name || '.' || column_name || ' ' || data_type as shown from information_schema.columns where table_schema = 'public'
         union all select indexdef from pg_indexes where schemaname = 'public' order by 1`;
  return JSON.stringify(await location.run(statement));
}

async function countKeys(location: StoreLocation, made: number): Promise<string[]> {
  const [row] = await location.run('select count(*) as "all", count(revoked_at) as revoked from keys');
  const found = Number(row?.all);
  return [
    ...(found === made ? [] : [`${found} keys, and ${made} were made`]),
    ...(Number(row?.revoked) === 0 ? [] : [`${row?.revoked} keys are revoked, and nobody revoked one`]),
  ];
}

const sumOf = (counts: ReadonlyMap<string, number>): number =>
  [...counts.values()].reduce((sum, count) => sum + count, 0);
