/** All clients of the matrix: each file in a directory is one. Those beside this file come with the checkout, others are installed separately. */

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { rootCertificates } from 'node:tls';
import { fileURLToPath } from 'node:url';
import type { Client, KnownClient } from './client.ts';
import { type ForeignProgram, startForeign } from './foreign.ts';
import { type ForeignLanguage, goProgram, oneAuthority, pythonEnvironments, pythonIn } from './install.ts';

interface ClientFolder {
  readonly files: URL;
  readonly packages: URL;
}

const official: ClientFolder = {
  files: new URL('official/', import.meta.url),
  packages: new URL('../../node_modules/', import.meta.url),
};
const others: ClientFolder = {
  files: new URL('../clients/', import.meta.url),
  packages: new URL('../clients/node_modules/', import.meta.url),
};

/** In the order in which they are shown. */
export const officialClients = (): Promise<KnownClient[]> => read(official);

/** Only after `installClients`. */
export const otherClients = (): Promise<KnownClient[]> => read(others);

/** Those in other languages that were installed. */
export async function foreignPrograms(among: readonly ForeignLanguage[]): Promise<ForeignProgram[]> {
  const serve = fileURLToPath(new URL('python/serve.py', others.files));
  // Each call makes a client, and each client reads all public authorities, which takes 50 ms. None of them signs for a listener.
  const [authority = ''] = rootCertificates;
  await mkdir(dirname(oneAuthority), { recursive: true });
  await writeFile(oneAuthority, authority);
  // Without the last, LiteLLM asks a public host for prices three times when it is imported, in the first call that uses it.
  const env = { SSL_CERT_FILE: oneAuthority, REQUESTS_CA_BUNDLE: oneAuthority, LITELLM_LOCAL_MODEL_COST_MAP: 'True' };
  const python = pythonEnvironments.map((name) => () => startForeign('Python', pythonIn(name), [serve, name], env));
  const programs = { python, go: [() => startForeign('Go', goProgram, [])] };
  return Promise.all(among.flatMap((one) => programs[one].map((start) => start())));
}

async function read({ files, packages }: ClientFolder): Promise<KnownClient[]> {
  const names = (await readdir(files)).filter((name) => name.endsWith('.ts'));
  const clients = await Promise.all(
    names.sort().map(async (name): Promise<KnownClient> => {
      const { default: client }: { default: Client } = await import(new URL(name, files).href);
      const versions = await Promise.all(
        [client.package, ...(client.beside ?? [])].map(
          async (one) => [one, await versionOf(new URL(`${one}/package.json`, packages))] as const,
        ),
      );
      return { ...client, language: 'Node', versions: Object.fromEntries(versions) };
    }),
  );
  return clients.sort((a, b) => (a.package < b.package ? -1 : 1));
}

async function versionOf(file: URL): Promise<string> {
  const { version }: { version: string } = JSON.parse(await readFile(file, 'utf8'));
  return version;
}
