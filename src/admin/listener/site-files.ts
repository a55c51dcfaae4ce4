/** Reads the console as it was built: every file, its compressed forms, and what it is. */

import { hash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { extname } from 'node:path';

export type Coding = 'identity' | 'br' | 'gzip';

export interface BuiltFile {
  readonly type: string;
  readonly digest: string;
  /** Its name says what is in it. */
  readonly isHashed: boolean;
  readonly bytes: { readonly identity: Buffer; readonly br: Buffer | undefined; readonly gzip: Buffer | undefined };
}

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.json': 'application/json',
  '.webmanifest': 'application/manifest+json',
  '.txt': 'text/plain; charset=utf-8',
  '.woff2': 'font/woff2',
};

/** By the path that a browser asks for. A file of a kind that the console does not have is left out. */
export async function readBuild(directory: string): Promise<Map<string, BuiltFile>> {
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  const names = new Set(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => `${entry.parentPath}/${entry.name}`.slice(directory.length).replaceAll('\\', '/')),
  );
  const files = new Map<string, BuiltFile>();
  for (const name of names) {
    const type = types[extname(name)];
    if (type === undefined || name.includes('/.')) continue;
    const identity = await readFile(directory + name);
    const read = async (ending: string): Promise<Buffer | undefined> =>
      names.has(name + ending) ? readFile(directory + name + ending) : undefined;
    files.set(name, {
      type,
      digest: hash('sha256', identity, 'base64url').slice(0, 22),
      isHashed: name.startsWith('/assets/'),
      bytes: { identity, br: await read('.br'), gzip: await read('.gz') },
    });
  }
  return files;
}
