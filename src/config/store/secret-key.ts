/** Reads or creates the key that encrypts secrets in the store: from the environment, from a file named there, or from one beside the database. */

import { hash, randomBytes } from 'node:crypto';
import { link, open, readFile, stat, unlink } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { createKeyRing, type KeyRing, parseKeys, SecretKeyError } from '../../lib/secrets/sealed.ts';
import { codeOf, reasonOf } from '../../lib/thrown.ts';
import { readText } from '../read/side-files.ts';
import type { Environment } from '../read/substitute.ts';

const largestFileBytes = 64 * 1024;
const fileName = 'secret.key';

/** Where keys may come from. `store`: the URL of the configured store, if known. */
export interface SecretKeySource {
  readonly env: Environment;
  readonly cwd: string;
  readonly store: string | undefined;
}

/** Reads the keys: those of the environment, the first of which encrypts, and then the one beside the database. Throws a SecretKeyError. */
export async function readKeyRing(source: SecretKeySource): Promise<KeyRing | undefined> {
  const keys = [...(await readGiven(source)), ...(await readBeside(keyFileOf(source)))];
  return keys.length === 0 ? undefined : createKeyRing(keys);
}

/** The key's file beside the database, where that is a file on this machine; undefined where several machines share the database. */
export function keyFileOf({ store, cwd }: Pick<SecretKeySource, 'store' | 'cwd'>): string | undefined {
  const path = store?.startsWith('sqlite:') ? store.slice('sqlite:'.length) : '';
  if (path === '' || path === ':memory:' || path.startsWith('//') || path.includes('\0')) return undefined;
  return join(dirname(resolve(cwd, path)), fileName);
}

/** Whether secrets can be encrypted: there is a key, or one can be created. */
export async function canSeal(source: SecretKeySource): Promise<boolean> {
  return keyFileOf(source) !== undefined || (await findKeyRing(source)) !== undefined;
}

/** Reads the keys; undefined where there are none, or they cannot be used. */
export function findKeyRing(source: SecretKeySource): Promise<KeyRing | undefined> {
  return readKeyRing(source).catch(ignoreUnusable);
}

/** The IDs of the keys that can decrypt; undefined where there is no key yet, or it cannot be read. */
export function secretKeyIds(source: SecretKeySource): Promise<readonly string[] | undefined> {
  const none = keyFileOf(source) === undefined ? [] : undefined;
  return readKeyRing(source).then((ring) => ring?.keyIds ?? none, ignoreUnusable);
}

function ignoreUnusable(error: unknown): undefined {
  if (!(error instanceof SecretKeyError)) throw error;
}

/** The file and the ID of the key beside the database; undefined where there is none. The ID does not reveal the key. */
export async function findOwnKey(source: SecretKeySource): Promise<{ file: string; id: string } | undefined> {
  const file = keyFileOf(source);
  if (file === undefined) return undefined;
  const content = await readFile(file, 'utf8').catch(() => undefined);
  if (content === undefined) return undefined;
  return { file, id: hash('sha256', `secret key ${content.trim()}`).slice(0, 16) };
}

/** A warning where other users of this machine can read the key's file; undefined where they cannot, or there is no file. */
export async function warningOf(file: string): Promise<string | undefined> {
  const mode = await stat(file).then(
    (found) => found.mode,
    () => 0,
  );
  if (process.platform === 'win32' || (mode & 0o077) === 0) return undefined;
  return `${file} opens the secrets in the store, and others on this machine may read it; run: chmod 600 ${file}`;
}

/** Creates a key in a file that only this user can read. Simultaneous callers all get the same key. Throws a SecretKeyError. */
export async function makeKeyFile(file: string): Promise<KeyRing> {
  const draft = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    await writeWhole(draft, `${randomBytes(32).toString('hex')}\n`);
    try {
      await link(draft, file);
    } catch (error) {
      // Another process was first: its key is used.
      if (codeOf(error) !== 'EEXIST') throw error;
    } finally {
      await unlink(draft);
    }
  } catch (error) {
    throw new SecretKeyError(`no key could be made at ${file}: ${reasonOf(error)}`);
  }
  const keys = await readBeside(file);
  if (keys.length === 0) throw new SecretKeyError(`${file} holds no key`);
  return createKeyRing(keys);
}

/** The key must be on the disk before anything is encrypted with it. */
async function writeWhole(path: string, text: string): Promise<void> {
  await using file = await open(path, 'wx', 0o600);
  await file.writeFile(text);
  await file.sync();
}

async function readGiven({ env, cwd }: SecretKeySource): Promise<Buffer[]> {
  const { POSTERN_SECRET_KEY: text = '', POSTERN_SECRET_KEY_FILE: file = '' } = env;
  if (file === '') return text.trim() === '' ? [] : parse('POSTERN_SECRET_KEY', text);
  if (text.trim() !== '') {
    throw new SecretKeyError('POSTERN_SECRET_KEY and POSTERN_SECRET_KEY_FILE are both set; keep one of them');
  }
  const content = await readText(resolve(cwd, file), largestFileBytes);
  if ('text' in content) return parse('POSTERN_SECRET_KEY_FILE', content.text);
  throw new SecretKeyError(`POSTERN_SECRET_KEY_FILE: the file cannot be used: ${content.reason}`);
}

async function readBeside(file: string | undefined): Promise<Buffer[]> {
  if (file === undefined || !(await exists(file))) return [];
  const content = await readText(file, largestFileBytes);
  if ('text' in content) return parse(file, content.text);
  throw new SecretKeyError(`${file}: the file cannot be used: ${content.reason}`);
}

const exists = (file: string): Promise<boolean> =>
  stat(file).then(
    () => true,
    () => false,
  );

function parse(name: string, text: string): Buffer[] {
  try {
    return parseKeys(text);
  } catch (error) {
    throw error instanceof SecretKeyError ? new SecretKeyError(`${name}: ${error.message}`) : error;
  }
}
