/**
 * Builds the console if its sources changed: bundled, precompressed, and replaced atomically. With `--or-without`, a failed build is only a
 * warning.
 */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { reasonOf } from '../src/lib/thrown.ts';

const home = fileURLToPath(new URL('..', import.meta.url));
const consoleHome = join(home, 'console');
export const consoleOutput = join(consoleHome, 'dist');
const vite = join(home, 'node_modules/vite/bin/vite.js');

/** This file in the built console has the digest of the sources that it was built from. */
const markName = '.built-from';
const sources = [
  'console/index.html',
  'console/package.json',
  'console/vite.config.ts',
  'console/public',
  'console/src',
  'package-lock.json',
  'tools/build-console.ts',
  ...dataOfContract(),
];
/** Kinds of files that become smaller by compression. */
const compressible = /\.(?:js|css|svg|json|webmanifest|txt)$/;
const worthBytes = 512;

/** The files of the admin API's contract of which the build contains more than types: the contract, and what it imports as values. */
function dataOfContract(path = 'src/admin/contract.ts'): string[] {
  const text = readFileSync(join(home, path), 'utf8');
  const found = text.matchAll(/^(?:import|export) (?!type\b)[^;]*? from '(\.[^']+)'/gm);
  return [path, ...[...found].flatMap(([, next = '']) => dataOfContract(join(dirname(path), next)))];
}

/** Does nothing if the last build is up to date. */
export async function buildConsole(): Promise<void> {
  if (!isStale()) return;
  const digest = digestOfSources();
  const fresh = `${consoleOutput}.${process.pid}`;
  try {
    await runVite(fresh);
    await compressAll(fresh);
    await writeFile(join(fresh, markName), digest);
    // As close to atomic as possible: a reader in between finds no console, and tries again.
    await rm(consoleOutput, { recursive: true, force: true });
    await rename(fresh, consoleOutput).catch((error: unknown) => {
      // Another process built the same console meanwhile.
      if (isStale()) throw error;
    });
  } finally {
    await rm(fresh, { recursive: true, force: true });
  }
}

function isStale(): boolean {
  const mark = join(consoleOutput, markName);
  return !existsSync(mark) || readFileSync(mark, 'utf8') !== digestOfSources();
}

function digestOfSources(): string {
  const digest = createHash('sha256');
  for (const path of sources.flatMap(filesIn)) digest.update(`${path}\0`).update(readFileSync(join(home, path)));
  return digest.digest('hex');
}

function filesIn(path: string): string[] {
  const whole = join(home, path);
  if (!existsSync(whole)) return [];
  if (/\.[a-z]+$/.test(path)) return [path];
  return readdirSync(whole, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(home.length))
    .sort();
}

function runVite(directory: string): Promise<void> {
  const child = spawn(process.execPath, [vite, 'build', '--outDir', directory, '--emptyOutDir', '--logLevel', 'warn'], {
    cwd: consoleHome,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const said: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => said.push(text.toString()));
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code) => {
      if (code === 0) return resolve();
      process.stderr.write(said.join(''));
      reject(new Error(`vite ended with ${code}`));
    });
  });
}

async function compressAll(directory: string): Promise<void> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const paths = entries
    .filter((entry) => entry.isFile() && compressible.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
  await Promise.all(paths.map(compress));
}

async function compress(path: string): Promise<void> {
  const bytes = await readFile(path);
  if (bytes.length < worthBytes) return;
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length };
  await Promise.all([
    promisify(brotliCompress)(bytes, { params }).then((small) => writeFile(`${path}.br`, small)),
    promisify(gzip)(bytes, { level: 9 }).then((small) => writeFile(`${path}.gz`, small)),
  ]);
}

async function main(orWithout: boolean): Promise<number> {
  if (!isStale()) return 0;
  if (!existsSync(vite)) {
    console.error('The console cannot be built without its tools; "npm ci" brings them. The gateway runs without it.');
    return orWithout ? 0 : 1;
  }
  console.error('Building the console; this takes some seconds, and only when its sources changed.');
  try {
    await buildConsole();
    return 0;
  } catch (error) {
    console.error(`The console could not be built: ${reasonOf(error)}.`);
    // The command after this one serves clients, and does so without a console as well.
    return orWithout ? 0 : 1;
  }
}

if (import.meta.main) process.exitCode = await main(process.argv.includes('--or-without'));
