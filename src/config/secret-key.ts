/** The key that seals what is secret in the store, from the environment or from a file that it names. */

import { resolve } from 'node:path';
import { type KeyRing, parseKeyRing, SecretKeyError } from '../lib/sealed.ts';
import { readText } from './side-files.ts';
import type { Environment } from './substitute.ts';

const largestFileBytes = 64 * 1024;

/** Undefined where none is set. Throws a SecretKeyError, in words for the operator. */
export async function readKeyRing(env: Environment, cwd: string): Promise<KeyRing | undefined> {
  const { POSTERN_SECRET_KEY: text = '', POSTERN_SECRET_KEY_FILE: file = '' } = env;
  if (file === '') return text.trim() === '' ? undefined : parse('POSTERN_SECRET_KEY', text);
  if (text.trim() !== '') {
    throw new SecretKeyError('POSTERN_SECRET_KEY and POSTERN_SECRET_KEY_FILE are both set; keep one of them');
  }
  const content = await readText(resolve(cwd, file), largestFileBytes);
  if ('text' in content) return parse('POSTERN_SECRET_KEY_FILE', content.text);
  throw new SecretKeyError(`POSTERN_SECRET_KEY_FILE: the file cannot be used: ${content.reason}`);
}

function parse(name: string, text: string): KeyRing {
  try {
    return parseKeyRing(text);
  } catch (error) {
    throw error instanceof SecretKeyError ? new SecretKeyError(`${name}: ${error.message}`) : error;
  }
}
