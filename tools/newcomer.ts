/**
 * `node tools/newcomer.ts [repository]`: walks the newcomer's path from a clean clone to the first key in use, in a real browser,
 * and prints how long each step took. Needs git, npm, curl and Chromium; the default repository is this one, as it is committed.
 */

import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { chromium, type Page } from 'playwright-core';

const run = promisify(execFile);
const here = fileURLToPath(new URL('..', import.meta.url));
const [repository = here] = process.argv.slice(2);
const longestStartMs = 180_000;
const pollMs = 25;
const browserArgs = ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-dev-shm-usage'];

interface Step {
  readonly what: string;
  readonly ms: number;
}

const steps: Step[] = [];

async function timed<T>(what: string, work: () => Promise<T>): Promise<T> {
  const startedMs = performance.now();
  const result = await work();
  const ms = performance.now() - startedMs;
  steps.push({ what, ms });
  console.log(`${toSeconds(ms)}  ${what}`);
  return result;
}

const toSeconds = (ms: number): string => `${(ms / 1_000).toFixed(1).padStart(7)} s`;

interface Started {
  readonly setUpLink: string;
  stop(): Promise<void>;
}

/** As the README says it, and nothing beside it unless the usual ports are taken. */
async function start(directory: string): Promise<Started> {
  const env = { ...process.env, ...(await settingsFor(directory)) };
  const child = spawn('npm', ['start'], { cwd: directory, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const stop = async (): Promise<void> => {
    // npm, its shell and the gateway are one group.
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGTERM');
    await ended;
  };
  const deadlineMs = performance.now() + longestStartMs;
  while (!output.includes('"msg":"listening"')) {
    if (child.exitCode !== null || performance.now() > deadlineMs) {
      await stop();
      throw new Error(`the gateway did not start:\n${output.slice(-3_000)}`);
    }
    await wait(pollMs);
  }
  const setUpLink = /http:\/\/\S+\/setup#token=[\w-]+/.exec(output)?.[0];
  if (setUpLink !== undefined) return { setUpLink, stop };
  await stop();
  throw new Error(`the first start printed no set-up link:\n${output.slice(-3_000)}`);
}

async function settingsFor(directory: string): Promise<Record<string, string>> {
  if ((await isFree(4000)) && (await isFree(4001))) return {};
  console.log('Ports 4000 and 4001 are not both free: others are used, and a file that says so.');
  const file = join(directory, 'newcomer.json');
  const upstreams = [{ id: 'local', family: 'local' }];
  await writeFile(file, JSON.stringify({ server: { port: 0 }, console: { port: 0 }, upstreams }));
  return { POSTERN_CONFIG: file };
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

async function becomeOwner(page: Page, setUpLink: string): Promise<void> {
  await page.goto(setUpLink);
  await page.getByLabel('Your name').fill('Ada Lovelace');
  await page.getByLabel('Email').fill('ada@example.com');
  await page.getByLabel('Password', { exact: true }).fill('the analytical engine');
  await page.getByRole('button', { name: 'Become the owner' }).click();
  await page.getByRole('heading', { name: 'Overview', level: 1 }).waitFor();
}

async function rerank(page: Page): Promise<void> {
  await page.getByRole('link', { name: 'Playground' }).first().click();
  await page.getByRole('button', { name: 'Rerank', exact: true }).click();
  const best = page.getByRole('list', { name: 'Documents, the best first' }).getByRole('listitem').first();
  await best.getByText('reset', { exact: true }).first().waitFor();
}

/** The command that the page shows with the new secret in it. */
async function createKey(page: Page): Promise<string> {
  await page.getByRole('link', { name: 'Keys and projects' }).first().click();
  await page.getByRole('button', { name: 'Create a key' }).first().click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Name', exact: true }).fill('My first key');
  await dialog.getByRole('button', { name: 'Create the key' }).click();
  const command = dialog.locator('.snippet-code').filter({ hasText: 'curl' }).first();
  await command.waitFor();
  return (await command.textContent()) ?? '';
}

async function callWith(command: string): Promise<void> {
  const { stdout } = await run('/bin/sh', ['-c', `${command} --silent --show-error --fail-with-body`]);
  JSON.parse(stdout);
}

async function findChromium(): Promise<string> {
  const names = 'chromium chromium-browser google-chrome google-chrome-stable';
  const { stdout } = await run('/bin/sh', ['-c', `command -v ${names} | head -n 1`]).catch(() => ({ stdout: '' }));
  if (stdout.trim() !== '') return stdout.trim();
  throw new Error(`none of ${names} is on the path: install Chromium first`);
}

async function walk(directory: string): Promise<void> {
  const executablePath = await findChromium();
  await timed('git clone', () => run('git', ['clone', '--quiet', '--depth', '1', `file://${repository}`, directory]));
  await timed('npm ci', () => run('npm', ['ci', '--no-audit', '--no-fund'], { cwd: directory, maxBuffer: 2 ** 26 }));
  const { setUpLink, stop } = await timed('npm start, until it listens (the console is built)', () => start(directory));
  const browser = await chromium.launch({ executablePath, args: browserArgs });
  try {
    const page = await browser.newPage();
    await timed('set-up link, to being signed in as the owner', () => becomeOwner(page, setUpLink));
    await timed('first rerank in the playground', () => rerank(page));
    const command = await timed('first key created', () => createKey(page));
    await timed('first call with it by curl', () => callWith(command));
  } finally {
    await browser.close();
    await stop();
  }
}

const place = await mkdtemp(join(tmpdir(), 'postern-newcomer-'));
try {
  await walk(join(place, 'postern'));
  const totalMs = steps.reduce((sum, { ms }) => sum + ms, 0);
  console.log(
    `${toSeconds(totalMs)}  in all, of them ${toSeconds(totalMs - (steps[1]?.ms ?? 0)).trim()} without npm ci`,
  );
} finally {
  await rm(place, { recursive: true, force: true });
}
