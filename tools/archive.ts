/**
 * `npm run archive -- [PLATFORM...] [--out FOLDER] [--package FILE] [--quick]`: packs the package, its dependencies and a platform's runtime into
 * one file, for machines without Node or a registry. It is unpacked anywhere and run as `./postern`. `--package` uses an existing package, and
 * `--quick` compresses less.
 */

import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { version } from '../src/version.ts';

const runtimes = z
  .object({ binaries: z.record(z.string(), z.object({ archive: z.string() })) })
  .parse(JSON.parse(readFileSync(new URL('runtime.json', import.meta.url), 'utf8'))).binaries;
const platforms = Object.values(runtimes).map(({ archive }) => archive);

const { values, positionals: wanted } = parseArgs({
  allowPositionals: true,
  options: {
    out: { type: 'string', default: '.' },
    package: { type: 'string' },
    quick: { type: 'boolean', default: false },
  },
});
const unknown = wanted.find((one) => !platforms.includes(one));
if (unknown !== undefined) {
  console.error(`${unknown} is none of ${platforms.join(', ')}`);
  process.exit(1);
}

const work = mkdtempSync(join(tmpdir(), 'postern-archive-'));
try {
  const tarball = values.package === undefined ? pack() : resolve(values.package);
  for (const platform of wanted.length > 0 ? wanted : platforms) {
    console.log(makeArchive(platform, tarball));
  }
} finally {
  rmSync(work, { recursive: true, force: true });
}

function pack(): string {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', work], { stdio: ['ignore', 'ignore', 'inherit'] });
  return join(work, readdirSync(work)[0] ?? '');
}

/** Returns the name of the archive. */
function makeArchive(platform: string, tarball: string): string {
  const [os = '', cpu = ''] = platform.split('-');
  const name = `postern-${version}-${platform}`;
  const folder = join(work, name);
  mkdirSync(folder);
  const target = [`--os=${os}`, `--cpu=${cpu}`, ...(os === 'linux' ? ['--libc=glibc'] : [])];
  const plain = [
    '--ignore-scripts',
    '--omit=dev',
    '--no-package-lock',
    '--no-save',
    '--no-audit',
    '--no-fund',
    '--silent',
  ];
  execFileSync('npm', ['install', '--prefix', folder, ...plain, ...target, tarball], { stdio: 'inherit' });
  rmSync(join(folder, 'node_modules/.bin'), { recursive: true, force: true });
  rmSync(join(folder, 'node_modules/.package-lock.json'), { force: true });
  // The launcher finds the runtime among the packages beside its own.
  symlinkSync('node_modules/postern/bin/postern', join(folder, 'postern'));
  for (const one of ['LICENSE', 'CHANGELOG.md', 'THIRD_PARTY_NOTICES.md', 'sbom.cdx.json']) {
    cpSync(join(folder, 'node_modules/postern', one), join(folder, one));
  }
  const file = `${name}.tar.gz`;
  const same = ['--sort=name', '--owner=0', '--group=0', '--numeric-owner'];
  const compressor = values.quick ? 'gzip -1' : 'gzip';
  execFileSync('tar', [...same, '-I', compressor, '-cf', join(resolve(values.out), file), '-C', work, name]);
  return file;
}
