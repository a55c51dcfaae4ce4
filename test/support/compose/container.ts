/** One Compose service as a process: in a network namespace, on an overlay root file system, with its volumes. */

import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chown, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseEnv, promisify } from 'node:util';
import { patientMs } from '../time/patience.ts';
import type { ComposeService } from './compose-file.ts';
import { pathInside, type StandIn } from './images.ts';

export interface ContainerPaths {
  /** Where the file is: paths of this machine start there. */
  readonly home: string;
  /** Of the service alone. */
  readonly directory: string;
  readonly volumes: string;
  readonly namespace: string;
  readonly nameServer: string;
}

export interface Container {
  readonly service: ComposeService;
  output(): string;
  /** Resolves with its exit code. */
  readonly ended: Promise<number | null>;
  isHealthy(): Promise<boolean>;
  /** As `docker compose stop`. */
  stop(): Promise<number | null>;
  /** For a test that is over. */
  kill(): Promise<void>;
}

export async function startContainer(
  name: string,
  service: ComposeService,
  standIn: StandIn,
  paths: ContainerPaths,
): Promise<Container> {
  const mounts = await layMounts(service, standIn, paths);
  const environment = await environmentOf(service, standIn, paths.home);
  const user = service.user ?? standIn.user;
  const [uid = '', gid = ''] = user.split(':');
  const command = [...(service.entrypoint ?? standIn.entrypoint), ...(service.command ?? standIn.command)];
  const asUser = [
    ...['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups'],
    ...(service.cap_drop === undefined ? [] : ['--bounding-set=-all', '--inh-caps=-all']),
    ...(service.security_opt === undefined ? [] : ['--no-new-privs']),
  ];
  const script = [
    'set -e',
    `hostname ${quoted(service.hostname ?? name)}`,
    ...mounts,
    `exec chroot root ${[...asUser, 'env', '-i', ...environment, ...command].map(quoted).join(' ')}`,
  ].join('\n');
  const spaces = ['unshare', '--mount', '--uts', '--propagation', 'private'];
  const child = spawn('ip', ['netns', 'exec', paths.namespace, ...spaces, 'sh', '-c', script], {
    cwd: paths.directory,
    env: { PATH: pathInside },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = collect(child);
  const ended = once(child, 'close').then(() => child.exitCode);
  const end = (): void => void child.kill('SIGKILL');
  process.once('exit', end);
  void ended.then(() => process.off('exit', end));
  const health = service.healthcheck?.test.slice(1) ?? standIn.healthcheck;
  const inside = ['--target', String(child.pid), '--net', '--mount', '--uts', '--root', '--wd=/', '-S', uid, '-G', gid];
  return {
    service,
    output,
    ended,
    isHealthy: async () => {
      if (health === undefined) throw new Error(`${name} has no health check`);
      const asked = promisify(execFile)('nsenter', [...inside, 'env', '-i', ...environment, ...health]);
      return asked.then(
        () => true,
        () => false,
      );
    },
    async stop() {
      const timer = setTimeout(
        () => child.kill('SIGKILL'),
        patientMs(Number.parseInt(service.stop_grace_period, 10) * 1000),
      );
      child.kill(service.stop_signal);
      const code = await ended;
      clearTimeout(timer);
      return code;
    },
    async kill() {
      // Of several processes, those of PostgreSQL, the first one stops the others.
      child.kill(service.stop_signal === 'SIGINT' ? 'SIGQUIT' : 'SIGKILL');
      await ended;
    },
  };
}

/** Lines of a script that runs in the service's directory, and leaves what it is to see under `root`. */
async function layMounts(service: ComposeService, standIn: StandIn, paths: ContainerPaths): Promise<string[]> {
  const upper = join(paths.directory, 'upper');
  for (const folder of ['upper', 'work', 'root']) await mkdir(join(paths.directory, folder), { recursive: true });
  const lines = [
    'mount -t overlay overlay -o lowerdir=/,upperdir=upper,workdir=work root',
    'mount -t proc proc root/proc',
    'mount --rbind /dev root/dev',
  ];
  const bind = async (from: string, to: string, isReadOnly: boolean): Promise<void> => {
    const at = join(upper, to);
    if ((await stat(from)).isDirectory()) await mkdir(at, { recursive: true });
    else await layFile(at, '');
    lines.push(`mount --bind ${quoted(from)} ${quoted(`root${to}`)}`);
    if (isReadOnly) lines.push(`mount -o remount,bind,ro ${quoted(`root${to}`)}`);
  };
  await layFile(join(upper, 'etc/resolv.conf'), `nameserver ${paths.nameServer}\n`);
  for (const [to, from] of Object.entries(standIn.files ?? {})) await bind(from, to, true);
  for (const [from, to] of Object.entries(standIn.links ?? {})) {
    await mkdir(dirname(join(upper, from)), { recursive: true });
    await symlink(to, join(upper, from));
  }
  for (const volume of service.volumes) {
    const [from = '', to = '', mode] = volume.split(':');
    if (from.startsWith('.')) await bind(resolve(paths.home, from), to, mode === 'ro');
    else await bind(await volumeAt(join(paths.volumes, from), standIn.owned?.[to]), to, mode === 'ro');
  }
  for (const folder of service.tmpfs) {
    await mkdir(join(upper, folder), { recursive: true });
    lines.push(`mount -t tmpfs tmpfs ${quoted(`root${folder}`)}`);
  }
  if (service.read_only) lines.push('mount -o remount,ro root');
  return lines;
}

async function volumeAt(path: string, owner: number | undefined): Promise<string> {
  await mkdir(path, { recursive: true });
  if (owner !== undefined) await chown(path, owner, owner);
  return path;
}

async function layFile(path: string, text: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, text);
}

async function environmentOf(service: ComposeService, standIn: StandIn, home: string): Promise<string[]> {
  const files = await Promise.all(
    service.env_file.map(({ path }) => readFile(resolve(home, path), 'utf8').catch(() => '')),
  );
  const all = {
    PATH: pathInside,
    ...standIn.environment,
    ...Object.assign({}, ...files.map((text) => parseEnv(text))),
    ...service.environment,
  };
  return Object.entries(all).map(([name, value]) => `${name}=${String(value)}`);
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

function collect(child: ChildProcess): () => string {
  let said = '';
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (bytes: Buffer) => (said += bytes.toString()));
  return () => said;
}

/** Until it is, or has ended. */
export async function becomesHealthy(name: string, container: Container): Promise<void> {
  let hasEnded = false;
  void container.ended.then(() => (hasEnded = true));
  for (const until = Date.now() + patientMs(20_000); Date.now() < until && !hasEnded; await wait(250)) {
    if (await container.isHealthy()) return;
  }
  throw new Error(`${name} ${hasEnded ? 'ended' : 'is not healthy'}; it said:\n${container.output().slice(-4000)}`);
}
