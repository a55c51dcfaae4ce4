/**
 * The image of deploy/Dockerfile, built and run. No registry of images is asked: in place of its two bases stand systems made of
 * Debian's packages, one with npm in it, and one with no more than the libraries that the distroless base has.
 */

import assert from 'node:assert/strict';
import { execFile, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import * as z from 'zod';
import { isMapping } from '../../src/lib/is-mapping.ts';
import { freePort } from '../support/servers/free-port.ts';
import { patientMs } from '../support/time/patience.ts';

const run = promisify(execFile);
const repository = fileURLToPath(new URL('../../', import.meta.url));
/** Where CI is set it is never left out: the build fails there. */
const lacking = ['buildah', 'mmdebstrap'].filter((program) => spawnSync(program, ['--version']).error !== undefined);
const whyNot =
  process.env.CI !== 'true' && (lacking.length > 0 || process.getuid?.() !== 0)
    ? `needs root and ${lacking.join(', ') || 'nothing else'}`
    : false;

const imageConfig = z.object({
  User: z.string(),
  Entrypoint: z.array(z.string()),
  Cmd: z.array(z.string()),
  Env: z.array(z.string()),
  Volumes: z.record(z.string(), z.unknown()),
  Healthcheck: z.object({ Test: z.array(z.string()) }),
});

const bootImage = `FROM scratch
ADD build.tar /
COPY node /usr/local/bin/node
COPY npm /usr/local/lib/node_modules/npm
COPY ca-certificates.crt /etc/ssl/certs/ca-certificates.crt
ENV NODE_EXTRA_CA_CERTS=/etc/ssl/certs/ca-certificates.crt
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm
`;

test('the image is small, has no shell or npm, and runs as an unprivileged user', {
  skip: whyNot,
  timeout: 900_000,
}, async (t) => {
  const builder = await startBuilder(t);
  await builder.makeBases();
  await builder.build(repository, 'deploy/Dockerfile', 'postern', [
    '--pull=never',
    '--build-arg=BUILD_IMAGE=localhost/build',
    '--build-arg=BASE_IMAGE=localhost/base',
  ]);
  const { config, bytes } = await builder.inspect('postern');
  t.diagnostic(`the image has ${Math.round(bytes / 1e6)} MB`);
  assert.ok(bytes < 300e6);
  assert.equal(config.User, '65532:65532');
  assert.deepEqual(Object.keys(config.Volumes), ['/data']);

  const container = await builder.container('postern');
  const has = async (path: string) =>
    (await readdir(dirname(join(container.root, path)))).includes(path.split('/').at(-1) ?? '');
  assert.equal(await has('app/node_modules/npm'), false);
  for (const shell of ['sh', 'bash', 'dash']) {
    assert.equal((await readdir(join(container.root, 'bin')).catch((): string[] => [])).includes(shell), false);
  }
  const sbom: unknown = JSON.parse(await readFile(join(container.root, 'sbom.cdx.json'), 'utf8'));
  assert.equal(isMapping(sbom) && sbom.bomFormat, 'CycloneDX');
  const others = ['(', '-not', '-user', 'root', '-or', '-perm', '-o+w', ')', '-not', '-type', 'l'];
  assert.equal((await run('find', [join(container.root, 'app'), ...others])).stdout, '');
  assert.equal((await stat(join(container.root, 'data'))).uid, 65532);

  const port = String(await freePort());
  const environment = [`POSTERN_SERVER_PORT=${port}`, `POSTERN_CONSOLE_PORT=0`];
  assert.equal(await container.exitOf(config.Healthcheck.Test.slice(1), environment), 1);
  const gateway = container.start([...config.Entrypoint, ...config.Cmd], environment);
  const key = await gateway.logs(/(pst_[0-9A-Za-z]+)/);
  await gateway.logs(/("msg":"listening")/);
  assert.equal(await container.exitOf(config.Healthcheck.Test.slice(1), environment), 0);
  const answer = await fetch(`http://127.0.0.1:${port}/v1/embeddings`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: 'local/hash-embed', input: 'x' }),
  });
  assert.equal(answer.status, 200, await answer.text());
  await gateway.stop();
});

async function startBuilder(t: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'postern-image-'));
  const store = ['--root', join(directory, 'store'), '--runroot', join(directory, 'run'), '--storage-driver', 'vfs'];
  const buildah = (...args: readonly string[]) => run('buildah', [...store, ...args], { maxBuffer: 64 * 1024 * 1024 });
  t.after(async () => {
    await buildah('rm', '--all').catch(() => undefined);
    await rm(directory, { recursive: true, force: true });
  });

  async function build(context: string, file: string, name: string, more: readonly string[] = []): Promise<void> {
    const ways = ['--layers=false', '--isolation', 'chroot', '--format', 'docker'];
    await buildah('bud', ...ways, ...more, '-f', join(context, file), '-t', `localhost/${name}`, context);
  }

  async function makeBases(): Promise<void> {
    // Nothing has to survive a loss of power: dpkg waits for the disk several times for each package.
    const quickly = '--dpkgopt=force-unsafe-io';
    const system = (name: string, variant: string, packages: string) =>
      run('mmdebstrap', [
        ...[`--variant=${variant}`, quickly, `--include=${packages}`],
        ...['bookworm', join(directory, `${name}.tar`)],
      ]);
    await Promise.all([
      system('build', 'minbase', 'ca-certificates,libatomic1'),
      system('base', 'extract', 'libc6,libstdc++6,libgcc-s1,ca-certificates,base-files,netbase,tzdata'),
    ]);
    const { stdout } = await run('sh', ['-c', 'command -v npm']);
    const npm = dirname(dirname(await realpath(stdout.trim())));
    await cp(npm, join(directory, 'npm'), { recursive: true });
    await cp(process.execPath, join(directory, 'node'));
    await cp('/etc/ssl/certs/ca-certificates.crt', join(directory, 'ca-certificates.crt'));
    await writeFile(join(directory, 'build.Dockerfile'), bootImage);
    await writeFile(join(directory, 'base.Dockerfile'), 'FROM scratch\nADD base.tar /\n');
    await build(directory, 'build.Dockerfile', 'build');
    await build(directory, 'base.Dockerfile', 'base');
  }

  return {
    makeBases,
    build,
    async inspect(name: string) {
      const { stdout } = await buildah('inspect', '--type', 'image', `localhost/${name}`);
      const { stdout: listed } = await buildah('images', '--json', `localhost/${name}`);
      const config = z.object({ Docker: z.object({ config: imageConfig }) }).parse(JSON.parse(stdout)).Docker.config;
      const [{ size } = { size: '' }] = z.array(z.object({ size: z.string() })).parse(JSON.parse(listed));
      return { config, bytes: Number.parseFloat(size) * (size.endsWith('GB') ? 1e9 : 1e6) };
    },
    async container(name: string) {
      const { stdout: id } = await buildah('from', '--pull-never', `localhost/${name}`);
      const { stdout: root } = await buildah('mount', id.trim());
      const toArgs = (command: readonly string[], environment: readonly string[]) => {
        const env = environment.flatMap((one) => ['--env', one]);
        return [...store, 'run', '--isolation', 'chroot', ...env, id.trim(), '--', ...command];
      };
      return {
        root: resolve(root.trim()),
        exitOf: (command: readonly string[], environment: readonly string[]) =>
          new Promise<number | null>((end) => {
            spawn('buildah', toArgs(command, environment), { stdio: 'ignore' }).once('close', (code) => end(code));
          }),
        start(command: readonly string[], environment: readonly string[]) {
          const child = spawn('buildah', toArgs(command, environment), { stdio: ['ignore', 'pipe', 'pipe'] });
          let said = '';
          for (const out of [child.stdout, child.stderr]) out.on('data', (bytes: Buffer) => (said += bytes.toString()));
          const exited = once(child, 'close');
          const stop = async (): Promise<void> => {
            child.kill('SIGTERM');
            await exited;
          };
          t.after(stop);
          return {
            stop,
            async logs(what: RegExp): Promise<string> {
              for (const until = Date.now() + patientMs(15_000); Date.now() < until; await wait(50)) {
                const [, found] = what.exec(said) ?? [];
                if (found !== undefined) return found;
              }
              assert.fail(`it does not say ${what}: ${said}`);
            },
          };
        },
      };
    },
  };
}
