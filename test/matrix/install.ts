/**
 * Installs the clients of test/clients from their locks, unless what is there came from the very same locks: packages from npm; and for those in
 * other languages a virtual environment for each set of Python packages, and a program in Go.
 */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const directory = fileURLToPath(new URL('../clients/', import.meta.url));

/** A set each of what fits together: `now`, and what of then is still in use. */
export const pythonEnvironments = ['now', 'then'] as const;

export const pythonIn = (name: string): string => join(directory, `python/.venv-${name}/bin/python`);
export const goProgram = join(directory, 'go/.built/clients');

interface Part {
  readonly title: string;
  /** Of what is wanted and what is locked: where these differ, the installer has to say so. */
  readonly from: readonly string[];
  /** Lies where the installer removes it first. */
  readonly stamp: string;
  install(): Promise<void>;
}

const fromNpm: readonly Part[] = [
  {
    title: 'npm ci',
    from: ['package.json', 'package-lock.json'],
    stamp: 'node_modules/.installed-from',
    install: () => run('npm', ['ci'], '.'),
  },
];

const foreign: readonly Part[] = [
  ...pythonEnvironments.map((name): Part => {
    const venv = `python/.venv-${name}`;
    const requirements = `python/requirements-${name}.txt`;
    return {
      title: `python3 -m venv, pip install -r ${requirements}`,
      from: [requirements],
      stamp: `${venv}/.installed-from`,
      async install() {
        await rm(join(directory, venv), { recursive: true, force: true });
        await run('python3', ['-m', 'venv', venv], '.');
        const quietly = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-deps'];
        await run(pythonIn(name), ['-m', 'pip', 'install', ...quietly, '-r', requirements], '.');
      },
    };
  }),
  {
    title: 'go build',
    from: ['go/go.mod', 'go/go.sum', ...globSync('go/*.go', { cwd: directory }).sort()],
    stamp: 'go/.built/.installed-from',
    install: () => run('go', ['build', '-o', goProgram, '.'], 'go'),
  },
];

/** Throws where npm fails: without the clients there is nothing to tell. */
export const installClients = (): Promise<void> => installAll(fromNpm);

/** Those in other languages. */
export const installForeign = (): Promise<void> => installAll(foreign);

export async function areInstalled(): Promise<boolean> {
  return (await Promise.all(fromNpm.map(isInstalled))).every((is) => is);
}

async function installAll(parts: readonly Part[]): Promise<void> {
  for (const part of parts) {
    if (await isInstalled(part)) continue;
    console.log(`${part.title} in test/clients (once, and again when its packages change)`);
    await part.install();
    const stamp = join(directory, part.stamp);
    await mkdir(dirname(stamp), { recursive: true });
    await writeFile(stamp, await digestOf(part));
  }
}

async function isInstalled(part: Part): Promise<boolean> {
  const from = await readFile(join(directory, part.stamp), 'utf8').catch(() => undefined);
  return from === (await digestOf(part));
}

async function digestOf({ from }: Part): Promise<string> {
  const hash = createHash('sha256');
  for (const file of from) hash.update(await readFile(join(directory, file)));
  return hash.digest('hex');
}

function run(command: string, args: readonly string[], folder: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: join(directory, folder), stdio: 'inherit' });
    child.on('error', (cause) => reject(new Error(`${command} cannot be started: install it`, { cause })));
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ${args.join(' ')} in test/clients ended with ${code}`)),
    );
  });
}
