/** Reads and writes a SQLite file in a thread of its own, so that callers are not blocked. */

import { parentPort, workerData } from 'node:worker_threads';
import { yieldToOthers } from '../../lib/threads.ts';
import { createSqliteEngine, type SqliteAnswer, type SqliteCall } from './sqlite-engine.ts';
import { openDurable, openReader } from './sqlite-file.ts';
import { FileGuard } from './sqlite-guard.ts';

/** What the thread receives: first the file, and then statements; null ends the thread. */
export interface SqliteThreadData {
  readonly path: string;
  readonly storeName: string;
}

/** An error as a message to the main thread, with the codes of SQLite and the file system. */
export interface SentFault {
  readonly name: string;
  readonly message: string;
  readonly details: Readonly<Record<string, unknown>>;
}

export interface SentAnswer extends Omit<SqliteAnswer, 'fault'> {
  readonly fault: SentFault | undefined;
}

const kept = ['code', 'errcode', 'errstr', 'syscall'];

function toSent(fault: unknown): SentFault {
  if (!(fault instanceof Error)) return { name: 'Error', message: String(fault), details: {} };
  const details = kept.map((name) => [name, Reflect.get(fault, name)]).filter(([, value]) => value !== undefined);
  return { name: fault.name, message: fault.message, details: Object.fromEntries(details) };
}

/** Steps by which this thread has lower priority, as that of the ledger's import: requests rarely wait for it. */
const stepsBehind = 5;

async function run(port: NonNullable<typeof parentPort>, { path, storeName }: SqliteThreadData): Promise<void> {
  yieldToOthers(stepsBehind);
  const writer = await openDurable(path, storeName);
  const reader = openReader(path);
  const guard = new FileGuard(writer, path, storeName);
  const engine = createSqliteEngine({
    writer,
    reader,
    checkFiles: () => guard.check(),
    answer(answers) {
      port.postMessage(
        answers.map(({ fault, ...rest }) => ({ ...rest, fault: fault === undefined ? undefined : toSent(fault) })),
      );
    },
  });
  port.on('message', (calls: readonly SqliteCall[] | null) => {
    if (calls !== null) {
      engine.take(calls);
      return;
    }
    void engine.idle().then(() => {
      reader.close();
      writer.close();
      port.close();
    });
  });
}

if (parentPort !== null) await run(parentPort, workerData);
