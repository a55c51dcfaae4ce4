/** Reads a configuration file: a small one directly, a large one in a thread so that requests are not blocked. */

import { hash } from 'node:crypto';
import { readFile, stat } from 'node:fs/promises';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { isMapping } from '../../lib/is-mapping.ts';
import { digestOf } from '../../lib/secrets/key-secret.ts';
import { threadEnvironment } from '../../lib/threads.ts';
import { inBackground, nextSlice } from '../../lib/time-slices.ts';
import { emptyMapping, type Scalar, type SourceText } from './columns.ts';
import { FaultList } from './faults.ts';
import { readText } from './side-files.ts';
import { readSourceText, type Source, toSource } from './source.ts';
import type { SourceThreadData, SourceThreadReport } from './source-thread.ts';

const largestFileBytes = 4 * 1024 * 1024;
/** Largest file that is parsed in this thread: it takes a few milliseconds, and starting a thread would take longer. */
const largestHereBytes = 64 * 1024;

/** The thread's file: TypeScript in the source tree, JavaScript in the build. */
const entry = new URL(import.meta.url.endsWith('.ts') ? './source-thread.ts' : './source-thread.js', import.meta.url);

/** A file as it was parsed last, without its faults and without the secrets of keys. */
interface KeptSource {
  readonly digest: string;
  readonly source: Source;
}

const keptSources = new Map<string, KeptSource>();

export interface ReadSource {
  readonly source: Source;
  /** Remembers the parsed file until its bytes change. To be called if the whole configuration has no fault. */
  keep(): void;
}

export async function readSource(file: string): Promise<ReadSource> {
  const digest = await digestOfFile(file);
  const kept = keptSources.get(file);
  if (kept !== undefined && kept.digest === digest) {
    return { source: { ...kept.source, faults: new FaultList() }, keep: () => undefined };
  }
  const source = await inBackground.timeSliced(toSource(await readSourceFile(file)));
  // A file that is being written may be parsed with other bytes than those of the digest.
  const isKnown = digest !== undefined && digest === (await digestOfFile(file));
  return {
    source,
    keep() {
      const tree = withDigests(source.tree);
      if (isKnown && tree !== undefined) keptSources.set(file, { digest, source: { ...source, tree } });
    },
  };
}

/** The digest of a file; undefined for one that is too large, or can be read only once. */
async function digestOfFile(file: string): Promise<string | undefined> {
  try {
    const found = await stat(file);
    return found.isFile() && found.size <= largestFileBytes ? hash('sha256', await readFile(file)) : undefined;
  } catch {
    return undefined; // its fault shows when it is read
  }
}

/** The parsed file with digests in place of keys' secrets; undefined where a secret has a reference, and so no known digest. */
function withDigests(tree: unknown): unknown {
  if (!isMapping(tree) || !Array.isArray(tree.keys)) return tree;
  const keys: unknown[] = [];
  for (const key of tree.keys) {
    if (!isMapping(key) || typeof key.secret !== 'string') {
      keys.push(key);
      continue;
    }
    if (key.secret.includes('${')) return undefined;
    const { secret, ...others } = key;
    keys.push(Object.assign(emptyMapping(), others, { secret_sha256: digestOf(secret) }));
  }
  return Object.assign(emptyMapping(), tree, { keys });
}

export async function readSourceFile(file: string): Promise<SourceText> {
  const { size } = await stat(file).catch(() => ({ size: 0 })); // any fault shows when it is read
  if (size > largestHereBytes) return readBeside(file);
  const content = await readText(file, largestFileBytes);
  return 'text' in content ? readSourceText(content.text) : unusable(content.reason);
}

function unusable(reason: string): SourceText {
  return { columns: undefined, faults: [{ path: [], message: `the configuration file cannot be used: ${reason}` }] };
}

async function readBeside(file: string): Promise<SourceText> {
  const { port1: own, port2: port } = new MessageChannel();
  const data: SourceThreadData = { file, largestBytes: largestFileBytes, port };
  const env = threadEnvironment();
  const thread = new Worker(entry, { workerData: data, transferList: [port], name: 'configuration', env });
  try {
    await new Promise<void>((resolve, reject) => {
      thread.once('error', reject);
      thread.once('exit', () => resolve());
    });
    return await unpack(own);
  } finally {
    own.close();
  }
}

async function unpack(port: MessagePort): Promise<SourceText> {
  const report: SourceThreadReport | undefined = receiveMessageOnPort(port)?.message;
  if (report === undefined) throw new Error('the thread that reads the configuration file ended without a word');
  if (report.reason !== undefined) return unusable(report.reason);
  const { columns, faults, pieces } = report;
  if (columns === undefined) return { columns, faults };
  const scalars: Scalar[] = [];
  for (let piece = 0; piece < pieces; piece++) {
    await inBackground.sliceIfOver();
    const more: readonly Scalar[] = receiveMessageOnPort(port)?.message ?? [];
    for (const scalar of more) scalars.push(scalar);
  }
  await nextSlice();
  return { columns: { ...columns, scalars }, faults };
}
