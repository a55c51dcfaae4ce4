/**
 * `npm run weight`: measures what each runtime dependency adds to an install, in megabytes and load time. `--check` compares the megabytes with
 * `weight.json`; times are informational.
 */

import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';

const listOfVersions = z.record(z.string(), z.string()).default({});
const manifest = z.object({ dependencies: listOfVersions }).parse(JSON.parse(readFileSync('package.json', 'utf8')));
const lock = z
  .object({ packages: z.record(z.string(), z.object({ dependencies: listOfVersions })) })
  .parse(JSON.parse(readFileSync('package-lock.json', 'utf8'))).packages;
const most = z
  .record(z.string(), z.number())
  .parse(JSON.parse(readFileSync(new URL('weight.json', import.meta.url), 'utf8')));

interface Weight {
  readonly name: string;
  readonly ownMb: number;
  readonly withOthersMb: number;
}

const names = Object.keys(manifest.dependencies);
const weights = names.map((name): Weight => {
  const all = reachedFrom([name]);
  return { name, ownMb: megabytesOf([join('node_modules', name)]), withOthersMb: megabytesOf(all) };
});
const totalMb = megabytesOf(reachedFrom(names));

if (process.argv.includes('--check')) check();
else {
  const rows = weights.toSorted((one, other) => other.withOthersMb - one.withOthersMb);
  console.table(
    Object.fromEntries(
      rows.map(({ name, ownMb, withOthersMb }) => [
        name,
        { MB: ownMb, 'MB with others': withOthersMb, ms: loadMs(name) },
      ]),
    ),
  );
  console.log(`${totalMb} MB in all, beside the runtime and the package itself`);
}

function check(): void {
  for (const { name, withOthersMb } of [...weights, { name: 'total', withOthersMb: totalMb }]) {
    const allowed = most[name];
    if (allowed !== undefined && withOthersMb <= allowed) continue;
    console.error(
      `${name} weighs ${withOthersMb} MB; tools/weight.json allows ${allowed ?? 'nothing'}: take less, or raise it and say why in the ADR of dependencies`,
    );
    process.exitCode = 1;
  }
}

/** Folders of the packages and of all packages that they need, found as Node.js finds them. */
function reachedFrom(wanted: readonly string[]): readonly string[] {
  const found = new Set<string>();
  const add = (name: string, from: string): void => {
    const path = foldersFrom(from, name).find((one) => lock[one] !== undefined);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    for (const next of Object.keys(lock[path]?.dependencies ?? {})) add(next, path);
  };
  for (const name of wanted) add(name, '');
  return [...found];
}

/** Folders where Node.js looks for a package: beside the given one, then in each folder above it. */
function foldersFrom(path: string, name: string): readonly string[] {
  const here = path === '' ? `node_modules/${name}` : `${path}/node_modules/${name}`;
  const above = path.lastIndexOf('/node_modules/');
  if (path === '') return [here];
  return [here, ...foldersFrom(above === -1 ? '' : path.slice(0, above), name)];
}

function megabytesOf(folders: readonly string[]): number {
  let bytes = 0;
  for (const folder of folders) {
    for (const file of globSync('**/*', { cwd: folder, exclude: (path) => path === 'node_modules' })) {
      const found = statSync(join(folder, file));
      if (found.isFile()) bytes += found.size;
    }
  }
  return Math.round(bytes / 100_000) / 10;
}

/** Time to load a package: the best of three attempts, less the time of an empty process. */
function loadMs(name: string): number {
  const script = `const began = performance.now(); await import('${name}'); console.log(performance.now() - began)`;
  const once = (): number =>
    Number(execFileSync(process.execPath, ['--input-type=module', '-e', script], { encoding: 'utf8' }));
  return Math.round(Math.min(once(), once(), once()));
}
