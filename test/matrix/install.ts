/** Installs the clients of test/clients from their lock, unless what is there came from the very same lock. */

import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';

const directory = new URL('../clients/', import.meta.url);
/** Lies where `npm ci` removes it first. */
const stamp = new URL('node_modules/.installed-from', directory);

/** Throws where npm fails: without the clients there is nothing to tell. */
export async function installClients(): Promise<void> {
  if (await areInstalled()) return;
  console.log('npm ci in test/clients (once, and again when its packages change)');
  await run('npm', ['ci']);
  await writeFile(stamp, await digest());
}

export async function areInstalled(): Promise<boolean> {
  const from = await readFile(stamp, 'utf8').catch(() => undefined);
  return from === (await digest());
}

/** Of what is wanted and what is locked: where these differ, npm has to say so. */
async function digest(): Promise<string> {
  const hash = createHash('sha256');
  for (const file of ['package.json', 'package-lock.json']) hash.update(await readFile(new URL(file, directory)));
  return hash.digest('hex');
}

function run(command: string, args: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { cwd: fileURLToPath(directory), stdio: 'inherit' });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve() : reject(new Error(`${command} ${args.join(' ')} in test/clients ended with ${code}`)),
    );
  });
}
