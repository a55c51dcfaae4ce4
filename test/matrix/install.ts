/**
 * Installs the clients of test/clients from their lock files, unless already installed from the same: npm packages, Python virtual environments,
 * and a Go program.
 */

import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync } from 'node:fs';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const directory = fileURLToPath(new URL('../clients/', import.meta.url));
const repository = fileURLToPath(new URL('../../', import.meta.url));

/** A set each of what fits together: the newest, what LiteLLM goes with, what has not moved on yet, and what of then is still in use. */
export const pythonEnvironments = ['newest', 'litellm', 'now', 'then'] as const;

const made = (name: string): string => join(repository, 'node_modules/.cache/clients', name);
/** Fetches many packages at once, and each once for all environments. */
const uv = made('uv/bin/uv');
export const pythonIn = (name: string): string => made(`python-${name}/bin/python`);
export const goProgram = made('go/clients');
/** Written for the programs, with one certificate. */
export const oneAuthority = made('authority.pem');

interface Part {
  readonly title: string;
  /** The wanted and the locked versions: if these differ, the installer has to report it. */
  readonly from: readonly string[];
  /** A path that the installer removes first. */
  readonly stamp: string;
  install(): Promise<void>;
}

const fromNpm: readonly Part[] = [
  {
    title: 'npm ci',
    from: ['package.json', 'package-lock.json'],
    stamp: join(directory, 'node_modules/.installed-from'),
    install: () => run('npm', ['ci'], '.'),
  },
];

interface Language {
  readonly title: string;
  /** Whether it can be installed here; else what is to be had first. */
  lacks(): Promise<string | undefined>;
  readonly parts: readonly Part[];
}

const languages = {
  python: {
    title: 'Python',
    lacks: async () =>
      (await outputOf('python3', ['-c', 'import ensurepip, venv'])) === undefined ? pythonWanted : undefined,
    parts: [
      {
        title: 'python3 -m venv, pip install uv',
        from: ['python/requirements-uv.txt'],
        stamp: made('uv/.installed-from'),
        async install() {
          await rm(made('uv'), { recursive: true, force: true });
          await run('python3', ['-m', 'venv', made('uv')], '.');
          const quietly = ['--quiet', '--disable-pip-version-check', '--no-input', '--no-deps', '--no-compile'];
          await run(
            made('uv/bin/python'),
            ['-m', 'pip', 'install', ...quietly, '-r', 'python/requirements-uv.txt'],
            '.',
          );
        },
      },
      ...pythonEnvironments.map((name): Part => {
        const venv = made(`python-${name}`);
        const requirements = `python/requirements-${name}.txt`;
        return {
          title: `python3 -m venv, uv pip install -r ${requirements}`,
          from: [requirements],
          stamp: join(venv, '.installed-from'),
          async install() {
            await rm(venv, { recursive: true, force: true });
            await run('python3', ['-m', 'venv', '--without-pip', venv], '.');
            // In the same folder, as files are then linked and not copied.
            const cache = ['--cache-dir', made('uv-cache')];
            await run(
              uv,
              ['pip', 'install', '--quiet', '--no-deps', ...cache, '--python', pythonIn(name), '-r', requirements],
              '.',
            );
          },
        };
      }),
    ],
  },
  go: {
    title: 'Go',
    lacks: async () =>
      /^go1\.(?:2[1-9]|[3-9]\d)/.test((await outputOf('go', ['env', 'GOVERSION'])) ?? '') ? undefined : goWanted,
    parts: [
      {
        title: 'go build',
        from: ['go/go.mod', 'go/go.sum', ...globSync('go/*.go', { cwd: directory }).sort()],
        stamp: made('go/.installed-from'),
        install: () => run('go', ['build', '-o', goProgram, '.'], 'go'),
      },
    ],
  },
} satisfies Record<string, Language>;
export type ForeignLanguage = keyof typeof languages;

const pythonWanted = 'python3 with venv (Debian: apt-get install python3-venv)';
/** From this one on it fetches the version that a module wants. */
const goWanted = 'Go from 1.21 on (Debian: apt-get install golang-go)';

/** Throws if npm fails: without the clients there is nothing to measure. */
export const installClients = (): Promise<void> => installAll(fromNpm);

/** Those in other languages. A failed installation is printed, and is a fault in CI and if `needsAll` is set. */
export async function installForeign({ needsAll = process.env.CI === 'true' } = {}): Promise<void> {
  for (const { title, lacks, parts } of Object.values(languages)) {
    const lacking = (await areAll(parts)) ? undefined : await lacks();
    if (lacking === undefined) await installAll(parts);
    else {
      const message = `the clients in ${title} need ${lacking}`;
      if (needsAll) throw new Error(message);
      console.error(`\n!!! SKIPPED: ${message}; what docs/reference/compatibility.md says of them is not tested !!!\n`);
    }
  }
}

/** Of those in other languages, the ones that are installed from what is locked now. */
export async function installedForeign(): Promise<readonly ForeignLanguage[]> {
  const names = Object.keys(languages) as ForeignLanguage[];
  const are = await Promise.all(names.map((name) => areAll(languages[name].parts)));
  return names.filter((_, index) => are[index]);
}

export const areInstalled = (): Promise<boolean> => areAll(fromNpm);

const areAll = async (parts: readonly Part[]): Promise<boolean> =>
  (await Promise.all(parts.map(isInstalled))).every((is) => is);

async function installAll(parts: readonly Part[]): Promise<void> {
  for (const part of parts) {
    if (await isInstalled(part)) continue;
    console.log(`${part.title} in test/clients (once, and again when its packages change)`);
    await part.install();
    await mkdir(dirname(part.stamp), { recursive: true });
    await writeFile(part.stamp, await digestOf(part));
  }
}

async function isInstalled(part: Part): Promise<boolean> {
  const from = await readFile(part.stamp, 'utf8').catch(() => undefined);
  return from === (await digestOf(part));
}

async function digestOf({ from }: Part): Promise<string> {
  const hash = createHash('sha256');
  for (const file of from) hash.update(await readFile(join(directory, file)));
  return hash.digest('hex');
}

/** What a command prints; undefined where it fails or is not there. */
function outputOf(command: string, args: readonly string[]): Promise<string | undefined> {
  return new Promise((resolve) =>
    execFile(command, args, (error, stdout) => resolve(error === null ? stdout.trim() : undefined)),
  );
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
