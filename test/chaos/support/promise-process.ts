/** Runs one promise in a process of its own, within a time limit, and returns its measurements. */

import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { codeOf } from '../../../src/lib/thrown.ts';
import type { Figure, Scale } from '../promise.ts';

export interface PromiseFile {
  readonly no: number;
  /** What the file is called behind its number. */
  readonly slug: string;
  readonly path: string;
}

export interface RunOptions {
  readonly scale: Scale;
  readonly seed: number;
  readonly timeLimitMs?: number;
  onProgress?(line: string): void;
}

export interface PromiseOutcome {
  readonly no: number;
  readonly title: string;
  readonly figures: readonly Figure[];
  readonly seconds: number;
  /** Why it could not be measured, or did not end as it should; undefined where it did. */
  readonly failure: string | undefined;
}

/** The messages of the process on its channel. */
export type PromiseMessage = z.infer<typeof messageSchema>;

const figureSchema = z.object({
  name: z.string(),
  bar: z.string(),
  measured: z.string(),
  met: z.boolean(),
  broken: z.boolean().default(false),
});

const messageSchema = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('begun'), title: z.string() }),
  z.object({ kind: z.literal('progress'), line: z.string() }),
  z.object({ kind: z.literal('measured'), figures: z.array(figureSchema) }),
  z.object({ kind: z.literal('failed'), reason: z.string() }),
]);

const timeLimitsMs: Readonly<Record<Scale, number>> = { long: 1_200_000, short: 120_000 };
/** Between asking the process to end and ending it. */
const graceMs = 5_000;
const shownOutputCharacters = 4_000;

const directory = new URL('../', import.meta.url);
const entry = fileURLToPath(new URL('promise-entry.ts', import.meta.url));

/** All promises there are, by their numbers. */
export function findPromises(): PromiseFile[] {
  return readdirSync(directory)
    .flatMap((name) => {
      const [, no, slug] = /^(\d{2})-([a-z0-9-]+)\.ts$/.exec(name) ?? [];
      if (no === undefined || slug === undefined) return [];
      return [{ no: Number(no), slug, path: fileURLToPath(new URL(name, directory)) }];
    })
    .sort((a, b) => a.no - b.no);
}

export async function runPromise(file: PromiseFile, options: RunOptions): Promise<PromiseOutcome> {
  const { scale, seed, timeLimitMs = timeLimitsMs[scale], onProgress } = options;
  const startedMs = performance.now();
  let title = file.slug.replaceAll('-', ' ');
  let figures: readonly Figure[] | undefined;
  let failure: string | undefined;
  let output = '';

  const child = start(file, scale, seed);
  child.stdout?.on('data', (text: Buffer) => (output += text.toString()));
  child.stderr?.on('data', (text: Buffer) => (output += text.toString()));
  child.on('message', (raw) => {
    const message = messageSchema.parse(raw);
    switch (message.kind) {
      case 'begun':
        title = message.title;
        return;
      case 'progress':
        onProgress?.(message.line);
        return;
      case 'measured':
        figures = message.figures;
        return;
      case 'failed':
        failure = message.reason;
    }
  });

  const atExit = (): void => endGroup(child, 'SIGKILL');
  process.once('exit', atExit);
  const limit = setTimeout(() => {
    failure = `it took longer than ${timeLimitMs / 1000} s`;
    void endSoon(child);
  }, timeLimitMs);

  const code = await new Promise<number | null>((resolve) => {
    child.once('error', (error) => {
      failure = error.message;
      resolve(null);
    });
    child.once('close', resolve);
  });
  clearTimeout(limit);
  process.off('exit', atExit);

  if (failure === undefined && (code !== 0 || figures === undefined)) {
    failure = `its process ended with ${code}, having said:\n${output.slice(-shownOutputCharacters)}`;
  }
  return { no: file.no, title, figures: figures ?? [], seconds: (performance.now() - startedMs) / 1000, failure };
}

function start(file: PromiseFile, scale: Scale, seed: number): ChildProcess {
  // Inside of a test run this would turn the process's own report into one for the parent.
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  return spawn(
    process.execPath,
    [
      '--disable-warning=ExperimentalWarning',
      '--max-semi-space-size=32',
      '--expose-gc',
      '--test-force-exit',
      '--test-reporter=spec',
      entry,
      file.path,
      scale,
      String(seed),
    ],
    // A group of its own, so that what it started ends with it.
    { stdio: ['ignore', 'pipe', 'pipe', 'ipc'], env, detached: true },
  );
}

async function endSoon(child: ChildProcess): Promise<void> {
  const timer = setTimeout(() => endGroup(child, 'SIGKILL'), graceMs);
  child.once('close', () => clearTimeout(timer));
  endGroup(child, 'SIGTERM');
}

/** The process and all it started, by the number of their group. */
function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (codeOf(error) !== 'ESRCH') throw error; // they have ended
  }
}
