/** Reads a configuration file: a small one directly, a large one in a thread so that requests are not blocked. */

import { stat } from 'node:fs/promises';
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from 'node:worker_threads';
import { threadEnvironment } from '../../lib/threads.ts';
import { nextSlice, sliceIfOver } from '../../lib/time-slices.ts';
import type { Scalar, SourceText } from './columns.ts';
import { readText } from './side-files.ts';
import { readSourceText } from './source.ts';
import type { SourceThreadData, SourceThreadReport } from './source-thread.ts';

const largestFileBytes = 4 * 1024 * 1024;
/** Up to this size reading takes a few milliseconds, and a thread would take more. */
const largestHereBytes = 64 * 1024;

/** The same file in the source tree and in the build. */
const entry = new URL(import.meta.url.endsWith('.ts') ? './source-thread.ts' : './source-thread.js', import.meta.url);

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

/** Messages are unpacked one at a time. */
async function unpack(port: MessagePort): Promise<SourceText> {
  const report: SourceThreadReport | undefined = receiveMessageOnPort(port)?.message;
  if (report === undefined) throw new Error('the thread that reads the configuration file ended without a word');
  if (report.reason !== undefined) return unusable(report.reason);
  const { columns, faults, pieces } = report;
  if (columns === undefined) return { columns, faults };
  const scalars: Scalar[] = [];
  for (let piece = 0; piece < pieces; piece++) {
    await sliceIfOver();
    const more: readonly Scalar[] = receiveMessageOnPort(port)?.message ?? [];
    for (const scalar of more) scalars.push(scalar);
  }
  await nextSlice();
  return { columns: { ...columns, scalars }, faults };
}
