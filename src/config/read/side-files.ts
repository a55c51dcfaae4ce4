/** Reads the files that a configuration names, such as keys and certificates, before it is compiled. */

import { createReadStream } from 'node:fs';
import { resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { codeOf } from '../../lib/thrown.ts';

export type FileContent = { readonly text: string } | { readonly reason: string };

export interface SideFiles {
  /** The content of a file, by its path as the configuration writes it. */
  content(path: string): FileContent;
  /** The absolute paths of the files. */
  readonly paths: readonly string[];
}

const largestSideFileBytes = 1024 * 1024;

/** Reads the files. Relative paths begin at the directory of the configuration file. */
export async function readSideFiles(named: readonly string[], directory: string): Promise<SideFiles> {
  const contents = new Map<string, FileContent>();
  for (const path of named) {
    if (!contents.has(path)) contents.set(path, await readText(resolve(directory, path), largestSideFileBytes));
  }
  return {
    content: (path) => contents.get(path) ?? { reason: 'it was not read' },
    paths: [...new Set([...contents.keys()].map((path) => resolve(directory, path)))],
  };
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EACCES: 'it may not be read by this user',
  EPERM: 'it may not be read by this user',
  EISDIR: 'it is a directory',
  ELOOP: 'its symbolic links go round in circles',
};

/** Reads a file up to a size limit, so that a device or log file named by mistake does no harm. */
export async function readText(path: string, largestBytes: number): Promise<FileContent> {
  try {
    // One byte more than permitted shows that the file is larger.
    const bytes = await buffer(createReadStream(path, { end: largestBytes }));
    if (bytes.length > largestBytes) return { reason: `it is larger than ${largestBytes / 1024} KiB` };
    return { text: new TextDecoder('utf-8', { fatal: true }).decode(bytes) };
  } catch (error) {
    if (codeOf(error) === 'ERR_ENCODING_INVALID_ENCODED_DATA') {
      return { reason: 'it is not UTF-8 text' };
    }
    const code = codeOf(error) ?? '';
    return { reason: reasons[code] ?? `it cannot be read${code === '' ? '' : ` (${code})`}` };
  }
}
