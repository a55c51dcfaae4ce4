/** Measures the compressed download of the console's first page, and fails above its limit. */

import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { buildConsole, consoleOutput } from './build-console.ts';

const mostBytes = 300 * 1024;
const firstPage = 'src/pages/overview/overview.tsx';

interface Chunk {
  readonly file: string;
  readonly css?: readonly string[];
  readonly imports?: readonly string[];
  readonly dynamicImports?: readonly string[];
}

interface Row {
  readonly file: string;
  readonly brotli: number;
  readonly gzip: number;
}

type Manifest = Readonly<Record<string, Chunk>>;

await buildConsole();
const manifest = JSON.parse(await readFile(join(consoleOutput, '.vite/manifest.json'), 'utf8')) as Manifest;
const rows: Row[] = [];
for (const file of ['index.html', ...filesOf(manifest)]) rows.push(await weigh(file));
const total = { file: 'in all', brotli: sum(rows, 'brotli'), gzip: sum(rows, 'gzip') };
console.log(['   brotli       gzip', ...[...rows, total].map(toLine)].join('\n'));
// Over plain HTTP from another machine browsers accept gzip only, which is the larger one.
if (total.gzip > mostBytes) {
  console.error(
    `The first page may weigh ${toKilobytes(mostBytes).trim()}: load what it does not need at once with import().`,
  );
  process.exitCode = 1;
}

/** The files that index.html and the overview need, with the charts that the overview loads at once. */
function filesOf(manifest: Manifest): Set<string> {
  const files = new Set<string>();
  const seen = new Set<string>();
  const walk = (name: string, withLater: boolean): void => {
    if (seen.has(name)) return;
    seen.add(name);
    const chunk = manifest[name];
    if (chunk === undefined) throw new Error(`the build has no ${name}`);
    for (const file of [chunk.file, ...(chunk.css ?? [])]) files.add(file);
    for (const one of chunk.imports ?? []) walk(one, withLater);
    if (withLater) for (const one of chunk.dynamicImports ?? []) walk(one, true);
  };
  walk('index.html', false);
  walk(firstPage, true);
  return files;
}

async function weigh(file: string): Promise<Row> {
  const path = join(consoleOutput, file);
  const plain = await sizeOf(path);
  return { file, brotli: (await sizeOf(`${path}.br`)) ?? plain ?? 0, gzip: (await sizeOf(`${path}.gz`)) ?? plain ?? 0 };
}

/** The size of a file; undefined if it does not exist, as tiny files are not compressed. */
async function sizeOf(path: string): Promise<number | undefined> {
  return (await stat(path).catch(() => undefined))?.size;
}

function sum(rows: readonly Row[], form: 'brotli' | 'gzip'): number {
  return rows.reduce((all, row) => all + row[form], 0);
}

function toLine({ file, brotli, gzip }: Row): string {
  return `${toKilobytes(brotli)} ${toKilobytes(gzip)}  ${file}`;
}

function toKilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1).padStart(6)} KB`;
}
