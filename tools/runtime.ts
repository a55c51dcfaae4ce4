/**
 * Verifies the installed Node runtimes against the checksums of `runtime.json`. `--published` compares those with the archives on nodejs.org
 * (some 200 MB).
 */

import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { z } from 'zod';

const known = z
  .object({
    version: z.string(),
    binaries: z.record(z.string(), z.object({ archive: z.string(), sha256: z.string() })),
  })
  .parse(JSON.parse(readFileSync(new URL('runtime.json', import.meta.url), 'utf8')));
const manifest = z
  .object({ optionalDependencies: z.record(z.string(), z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

const faults: string[] = [];
checkManifest();
const compared = process.argv.includes('--published') ? await comparePublished() : compareInstalled();
for (const fault of faults) console.error(fault);
if (faults.length === 0) console.log(`Node ${known.version}: ${compared} as written down`);
process.exitCode = faults.length === 0 ? 0 : 1;

function checkManifest(): void {
  const wanted = Object.entries(manifest.optionalDependencies).map(([name, version]) => `${name}@${version}`);
  const written = Object.keys(known.binaries).map((name) => `${name}@${known.version}`);
  if (wanted.sort().join() === written.sort().join()) return;
  faults.push(
    `package.json wants ${wanted.join(', ')}, and tools/runtime.json has the checksums of ${written.join(', ')}`,
  );
}

function compareInstalled(): number {
  const here = Object.entries(known.binaries)
    .map(([name, { sha256 }]) => ({ path: `node_modules/${name}/bin/node`, sha256 }))
    .filter(({ path }) => existsSync(path));
  for (const { path, sha256 } of here) compare(path, readFileSync(path), sha256);
  return here.length;
}

async function comparePublished(): Promise<number> {
  const base = `https://nodejs.org/dist/v${known.version}`;
  const sums = (await download(`${base}/SHASUMS256.txt`)).toString();
  for (const { archive, sha256 } of Object.values(known.binaries)) {
    const folder = `node-v${known.version}-${archive}`;
    const bytes = await download(`${base}/${folder}.tar.gz`);
    const published = new RegExp(`^([0-9a-f]{64}) {2}${folder}\\.tar\\.gz$`, 'm').exec(sums)?.[1];
    if (published === undefined) faults.push(`SHASUMS256.txt does not name ${folder}.tar.gz`);
    else compare(`${folder}.tar.gz`, bytes, published);
    const binary = execFileSync('tar', ['-xzOf', '-', `${folder}/bin/node`], { input: bytes, maxBuffer: 1 << 30 });
    compare(`bin/node of ${folder}.tar.gz`, binary, sha256);
  }
  return Object.keys(known.binaries).length;
}

function compare(what: string, bytes: Buffer, expected: string): void {
  const found = createHash('sha256').update(bytes).digest('hex');
  if (found !== expected) faults.push(`${what} has the checksum ${found}, not ${expected}`);
}

async function download(url: string): Promise<Buffer> {
  const answer = await fetch(url).catch((cause: unknown) => {
    throw new Error(`${url} cannot be reached from here`, { cause });
  });
  if (!answer.ok) throw new Error(`${url} answered ${answer.status}`);
  return Buffer.from(await answer.arrayBuffer());
}
