/** The published package: packed, installed where nothing else is, and run as plain JavaScript. */

import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

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

test('the packed package installs without scripts and answers on a fresh machine', async (t) => {
  const directory = await mkdtemp(join(tmpdir(), 'postern-package-'));
  t.after(() => rm(directory, { recursive: true, force: true }));
  await run('npm', ['pack', '--pack-destination', directory], { cwd: repository });
  const [tarball = ''] = await readdir(directory);
  await writeFile(join(directory, 'package.json'), '{"private":true}');
  await run('npm', ['install', '--ignore-scripts', `./${tarball}`], { cwd: directory });
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

/** Whatever runs, here or in a browser, is named with its licence, for people and for machines. */
async function checkNotices(installed: string): Promise<void> {
  const notices = await readFile(join(installed, 'THIRD_PARTY_NOTICES.md'), 'utf8');
  const sbom = JSON.parse(await readFile(join(installed, 'sbom.cdx.json'), 'utf8')) as Sbom;
  assert.equal(sbom.bomFormat, 'CycloneDX');
  const lock = JSON.parse(await readFile(join(repository, 'package-lock.json'), 'utf8')) as LockFile;
  const needed = Object.entries(lock.packages)
    .filter(([place, { dev, link }]) => place.includes('node_modules/') && dev !== true && link !== true)
    .map(([place, { version }]) => `${place.slice(place.lastIndexOf('node_modules/') + 13)}@${version}`);
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
