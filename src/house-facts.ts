/** What the console says of the process itself: since when it runs, on what, and what its store takes of the disk. */

import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import type { HouseFacts } from './admin/context.ts';
import { keyFileOf, readKeyRing, type SecretKeyPlace } from './config/secret-key.ts';
import { SecretKeyError } from './lib/sealed.ts';
import { parseStoreUrl } from './store/open-store.ts';

export function createHouseFacts(storeUrl: () => string, secrets: Omit<SecretKeyPlace, 'store'>): HouseFacts {
  const { cwd } = secrets;
  return {
    startedAtMs: Math.round(performance.timeOrigin),
    runtime: `Node.js ${process.versions.node}`,
    storeKind: () => parseStoreUrl(storeUrl(), cwd).kind,
    async storeBytes() {
      const place = parseStoreUrl(storeUrl(), cwd);
      if (place.kind !== 'file') return undefined;
      const sizes = await Promise.all([place.path, `${place.path}-wal`].map(sizeOf));
      return sizes.reduce((sum, size) => sum + size, 0);
    },
    async canSeal() {
      const place = { ...secrets, store: storeUrl() };
      // Beside a database on this machine one is made when it is needed.
      return keyFileOf(place) !== undefined || (await hasKey(place));
    },
    async ownKey() {
      const file = keyFileOf({ ...secrets, store: storeUrl() });
      if (file === undefined) return undefined;
      const content = await readFile(file, 'utf8').catch(() => undefined);
      return content === undefined
        ? undefined
        : { file, id: hash('sha256', `secret key ${content.trim()}`).slice(0, 16) };
    },
  };
}

async function hasKey(place: SecretKeyPlace): Promise<boolean> {
  try {
    return (await readKeyRing(place)) !== undefined;
  } catch (error) {
    if (error instanceof SecretKeyError) return false;
    throw error;
  }
}

async function sizeOf(path: string): Promise<number> {
  try {
    return (await stat(path)).size;
  } catch {
    return 0; // the log beside the file is there only now and then
  }
}
