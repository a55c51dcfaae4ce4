/**
 * `npm run pictures`: makes the README's two pictures from a real run. docs/images/console.png shows the console with a day of generated rows;
 * docs/images/terminal.svg plays commands with their output. Needs Chromium, and ports 4000 and 4001.
 */

import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium } from 'playwright-core';
import { findProgram } from '../bench/children.ts';
import type { LedgerRow } from '../src/core/accounting/ledger-row.ts';
import { openStore } from '../src/store/open-store.ts';
import { createAccounts } from '../test/support/console/console-accounts.ts';
import { launcher, standardStore, startGatewayProcess } from '../test/support/gateways/gateway-process.ts';
import { imported } from '../test/support/ledger/ledger-rows.ts';
import { startFakeUpstream } from '../test/support/upstreams/fake-upstream.ts';
import { buildConsole } from './build-console.ts';

const images = fileURLToPath(new URL('../docs/images/', import.meta.url));
mkdirSync(images, { recursive: true });
const run = promisify(execFile);

// The console.

const models = [
  {
    id: 'text-embedding-3-small',
    operation: 'embeddings',
    upstream: 'openai',
    price: 20,
    tokens: 180,
    ms: 95,
    weight: 5,
  },
  { id: 'bge-m3', operation: 'embeddings', upstream: 'tei', price: 0, tokens: 320, ms: 14, weight: 9 },
  { id: 'rerank-v3.5', operation: 'rerank', upstream: 'cohere', price: 0, tokens: 0, ms: 140, weight: 3 },
  {
    id: 'omni-moderation-latest',
    operation: 'moderations',
    upstream: 'openai',
    price: 0,
    tokens: 60,
    ms: 180,
    weight: 1,
  },
] as const;
const teams = ['search', 'support', 'indexing'] as const;
const hourMs = 3_600_000;
const rowsADay = 24_000;

/** Ledger rows of a day: more by day than by night, and a few failures. */
function* dayOfRows(nowMs: number): Generator<Partial<LedgerRow>> {
  const weights = models.flatMap((model) => Array.from({ length: model.weight }, () => model));
  for (let n = 0; n < rowsADay; n += 1) {
    const model = weights[n % weights.length] ?? models[0];
    const key = teams[(n * 7) % teams.length] ?? 'search';
    const agoMs = 24 * hourMs * (1 - n / rowsADay);
    const startedAtMs = Math.round(nowMs - agoMs);
    const busy = 0.55 + 0.45 * Math.sin((2 * Math.PI * (startedAtMs % (24 * hourMs))) / (24 * hourMs) - 2);
    if ((n * 37) % 100 > busy * 100) continue;
    const ms = model.ms * (0.8 + ((n * 53) % 100) / 140) * (n % 41 === 0 ? 3 : 1);
    const failed = n % 173 === 0;
    const tokens = failed ? 0 : model.tokens + ((n * 29) % 90);
    const isRerank = model.operation === 'rerank';
    yield {
      ...{ startedAtMs, key, project: key, model: model.id, upstream: model.upstream, upstreamModel: model.id },
      ...{ operation: model.operation, route: isRerank ? '/v1/rerank' : `/v1/${model.operation}`, node: 'gateway-1' },
      ...{ outcome: failed ? 'error' : 'ok', status: failed ? 502 : 200, error: failed ? 'upstream_error' : null },
      ...{ promptTokens: isRerank ? null : tokens, totalTokens: isRerank ? null : tokens, billedInputTokens: tokens },
      ...{ searchUnits: isRerank ? 1 : null, billedSearchUnits: isRerank ? 1 : 0, items: isRerank ? 25 : 1 },
      ...{ costNanos: isRerank ? 2_000_000 : tokens * model.price },
      ...{ durationMs: ms, firstByteMs: ms - 1, upstreamMs: ms - 2, requestBytes: 900, responseBytes: 19_000 },
    };
  }
}

async function seed(directory: string): Promise<void> {
  const store = await openStore(standardStore, { cwd: directory });
  const rows = [...dayOfRows(Date.now())].map((row) => imported(row, []));
  for (let at = 0; at < rows.length; at += 2_000)
    await store.ledger.import('pictures', rows.slice(at, at + 2_000), { segment: 1, offset: at + 1 });
  await store.close();
}

async function shootConsole(): Promise<void> {
  await buildConsole();
  const upstream = await startFakeUpstream((_, reply) =>
    reply.json(200, {
      object: 'list',
      data: [{ index: 0, embedding: [0.1, 0.2] }],
      usage: { prompt_tokens: 9, total_tokens: 9 },
    }),
  );
  const upstreams = ['openai', 'tei', 'cohere'].map((id) => ({
    id,
    family: 'openai',
    base_url: upstream.url,
    api_key: 'sk-picture-key',
  }));
  const gateway = await startGatewayProcess({
    config: {
      upstreams,
      models: models.map(({ id, operation, upstream: of }) => ({
        ...{ id, operations: [operation], targets: [{ upstream: of }], price: 'free' },
      })),
      projects: teams.map((id) => ({ id, budgets: [{ every: 'month', amount: 250 }] })),
      keys: teams.map((id) => ({ id, secret: `key-of-the-team-${id}-for-pictures`, project: id })),
    },
  });
  const program = findProgram('chromium');
  if (program === undefined) throw new Error('the pictures need Chromium (Debian: apt-get install chromium)');
  const browser = await chromium.launch({ executablePath: program, args: ['--no-sandbox', '--disable-gpu'] });
  try {
    await seed(gateway.directory);
    const ask = (team: string, model: string) =>
      fetch(`${gateway.url}/v1/embeddings`, {
        method: 'POST',
        headers: { authorization: `Bearer key-of-the-team-${team}-for-pictures`, 'content-type': 'application/json' },
        body: JSON.stringify({ model, input: 'the small gate' }),
      }).then((answer) => answer.text());
    for (let n = 0; n < 40; n += 1) await ask(teams[n % 3] ?? 'search', models[n % 2]?.id ?? 'bge-m3');
    const url = String(gateway.log().find(({ msg }) => msg === 'listening')?.console);
    const owner = await createAccounts({ url, store: standardStore, cwd: gateway.directory }).get('owner');
    const context = await browser.newContext({
      viewport: { width: 1280, height: 800 },
      baseURL: url,
      reducedMotion: 'reduce',
    });
    await context.addCookies(owner.cookies.map((cookie) => ({ ...cookie, url })));
    const page = await context.newPage();
    await page.goto('/explorer?range=24h');
    await page.getByRole('heading', { level: 1 }).waitFor();
    await wait(2_000);
    await page.screenshot({ path: join(images, 'console.png') });
  } finally {
    await browser.close();
    await gateway.stop();
    await upstream.close();
  }
}

// The terminal.

const columns = 116;
const rows = 22;
const lineHeight = 18;
const characterWidth = 7.8;

interface Scene {
  /** The command as it is shown. */
  readonly command: string;
  /** The command to run, if it differs. */
  readonly run?: string;
  readonly pick?: (lines: string[]) => string[];
}

const key = 'a-key-of-your-own-with-24-characters';
const post = (path: string, body: string): Scene => ({
  command: `curl localhost:4000${path} -H "Authorization: Bearer $KEY" --json '${body}'`,
  run: `curl -s localhost:4000${path} -H "Authorization: Bearer ${key}" --json '${body}'`,
});
const scenes: readonly Scene[] = [
  post(
    '/v1/rerank',
    '{"model":"local/bm25","query":"small gate","documents":["a large hall","a small gate"],"top_n":1}',
  ),
  post('/v1/embeddings', '{"model":"local/hash-embed","input":"the small gate","dimensions":8}'),
  {
    command: 'postern keys create --name search --limit requests_per_minute=600 --budget day=5',
    pick: (lines) => lines.slice(0, 1),
  },
  { command: 'postern models' },
  { command: 'postern usage --by model,key' },
];

interface Shown {
  readonly text: string;
  readonly isCommand: boolean;
  readonly atMs: number;
}

async function record(): Promise<void> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-pictures-'));
  const env = { ...process.env, PATH: `${join(launcher, '..')}${delimiter}${process.env.PATH}`, POSTERN_KEY: key };
  const gateway = spawn(launcher, ['serve'], { cwd: directory, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  gateway.stdout.on('data', (chunk: Buffer) => {
    out += String(chunk);
  });
  const shown: Shown[] = [];
  let atMs = 400;
  const show = (text: string, isCommand: boolean): void => {
    for (let from = 0; from === 0 || from < text.length; from += columns)
      shown.push({ text: text.slice(from, from + columns), isCommand, atMs });
    atMs += isCommand ? 900 : 60;
  };
  try {
    while (!out.includes('"listening"')) await wait(50);
    const listening = out.split('\n').find((line) => line.includes('"listening"')) ?? '';
    show('$ postern serve &', true);
    show(listening, false);
    for (const { command, run: asked = command, pick = (lines: string[]) => lines } of scenes) {
      // Rows reach the store a moment after the answer.
      await wait(1_500);
      atMs += 900;
      show(`$ ${command}`, true);
      const printed = await outputOf(asked, directory, env);
      for (const line of pick(printed)) show(line, false);
    }
  } finally {
    gateway.kill();
    await new Promise((resolve) => gateway.once('exit', resolve));
    rmSync(directory, { recursive: true, force: true });
  }
  writeFileSync(join(images, 'terminal.svg'), toSvg(shown, atMs + 4_000));
}

async function outputOf(command: string, cwd: string, env: NodeJS.ProcessEnv): Promise<string[]> {
  const { stdout } = await run('bash', ['-c', `${command} 2>&1`], { cwd, env });
  return stdout.trimEnd().split('\n');
}

/** Each line appears at its time; once the window is full, the lines move up. It begins again at the end. */
function toSvg(shown: readonly Shown[], lengthMs: number): string {
  const percent = (ms: number): string => ((100 * ms) / lengthMs).toFixed(2);
  const top = (count: number): number => -Math.max(0, count - rows) * lineHeight;
  // The last of several lines that appear at the same time gives the progress.
  const tops = new Map(shown.map(({ atMs }, index) => [percent(atMs), top(index + 1)]));
  const moves = [...tops].map(([at, y]) => `${at}%{transform:translateY(${y}px)}`);
  const appear = shown.map(
    ({ atMs }, index) => `@keyframes l${index}{0%,${percent(atMs)}%{opacity:0}${percent(atMs + 1)}%,100%{opacity:1}}`,
  );
  const lines = shown.map(
    ({ text, isCommand }, index) =>
      `<text class="${isCommand ? 'c' : 'o'}" style="animation-name:l${index}" x="16" y="${(index + 1) * lineHeight + 34}">${escaped(text)}</text>`,
  );
  const width = Math.ceil(columns * characterWidth) + 32;
  const height = rows * lineHeight + 60;
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" role="img" aria-label="Commands in a terminal, and what Postern answers">
<style>
text{font:13px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre;animation:${lengthMs}ms step-end infinite}
.c{fill:#7ee787}.o{fill:#c9d1d9}
.m{animation:move ${lengthMs}ms step-end infinite}
@keyframes move{0%{transform:translateY(0)}${moves.join('')}}
${appear.join('')}
@media (prefers-reduced-motion:reduce){text,.m{animation:none}}
</style>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<circle cx="20" cy="16" r="5" fill="#f85149"/><circle cx="38" cy="16" r="5" fill="#d29922"/><circle cx="56" cy="16" r="5" fill="#3fb950"/>
<svg aria-hidden="true" y="28" width="${width}" height="${height - 40}" viewBox="0 28 ${width} ${height - 40}"><g class="m">
${lines.join('\n')}
</g></svg>
</svg>
`;
}

const escaped = (text: string): string => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');

await record();
await shootConsole();
