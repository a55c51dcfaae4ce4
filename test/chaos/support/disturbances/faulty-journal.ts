/** A gateway in this process whose journal is on a disk that fails in various ways under requests. */

import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createLedger } from '../../../../src/accounting/ledger.ts';
import type { Durability, LedgerRow } from '../../../../src/core/accounting/ledger-row.ts';
import { createJournal } from '../../../../src/journal/journal.ts';
import { createJournalReader } from '../../../../src/journal/journal-reader.ts';
import { claimSlot } from '../../../../src/journal/journal-slot.ts';
import { systemClock } from '../../../../src/lib/clock.ts';
import { lockFile } from '../../../../src/store/sqlite/sqlite-file.ts';
import { startRig, testKey } from '../../../support/gateways/rig.ts';
import { createFaultyFiles, type Fault, type FileCall } from '../../../support/ledger/faulty-files.ts';
import { readThrough } from '../../../support/ledger/journal-lines.ts';
import type { ChaosRig, Figure, Scale } from '../../promise.ts';
import { Spenders } from '../clients/spenders.ts';
import { createRandom } from '../random.ts';
import { type Books, joinBooks } from '../readings/books.ts';
import { allOf, none } from '../readings/findings.ts';
import { paidModels, startPaidUpstream } from '../upstreams/paid-upstream.ts';

export interface FaultKind {
  readonly name: string;
  readonly durability: Durability;
  /** The error code of the system. */
  readonly code: string;
  readonly calls: readonly FileCall[];
  readonly faults: readonly [Fault, ...Fault[]];
  /** Of those calls, while it lasts: 1 where nothing goes through. */
  readonly share: number;
}

export const faultKinds: readonly FaultKind[] = [
  {
    name: 'writes fail now and then',
    durability: 'fast',
    code: 'EIO',
    calls: ['write'],
    faults: ['fails', 'fails-afterwards', 'breaks-off', 'is-short'],
    share: 0.2,
  },
  {
    name: 'no write succeeds for a while',
    durability: 'fast',
    code: 'EIO',
    calls: ['write', 'writeLater'],
    faults: ['fails', 'breaks-off'],
    share: 1,
  },
  {
    name: 'syncs fail now and then',
    durability: 'strict',
    code: 'EIO',
    calls: ['sync'],
    faults: ['fails', 'fails-afterwards'],
    share: 0.3,
  },
  {
    name: 'no sync succeeds for a while',
    durability: 'strict',
    code: 'EIO',
    calls: ['sync'],
    faults: ['fails', 'fails-afterwards'],
    share: 1,
  },
  {
    name: 'no room for a while',
    durability: 'strict',
    code: 'ENOSPC',
    calls: ['writeLater'],
    faults: ['fails'],
    share: 1,
  },
  {
    name: 'the directory is read-only for a while',
    durability: 'fast',
    code: 'EACCES',
    calls: ['create'],
    faults: ['fails'],
    share: 1,
  },
];

const phaseMs: Readonly<Record<Scale, number>> = { long: 3_000, short: 250 };
const clients = 24;
/** Small, so that there is often need for another. */
const segmentBytes = 32 * 1024;
const backWithinMs = 20_000;

export async function playFaults({ seed, scale, progress }: ChaosRig, kind: FaultKind): Promise<Figure[]> {
  progress(kind.name);
  const random = createRandom(seed);
  const directory = await mkdtemp(join(tmpdir(), 'postern-faulty-'));
  const upstream = await startPaidUpstream(random);
  const ends: (() => Promise<unknown>)[] = [];
  const scope = { after: (end: () => Promise<unknown>) => ends.push(end) };
  try {
    await mkdir(join(directory, 'journal'));
    const slot = claimSlot({
      directory: join(directory, 'journal'),
      lock: lockFile,
      clock: systemClock,
      store: 'the store',
    });
    const disk = createFaultyFiles(kind.code);
    const { durability } = kind;
    const journal = await createJournal({
      directory: slot.directory,
      node: 'n',
      durability,
      clock: systemClock,
      files: disk.files,
      segmentBytes,
      retryMs: 50,
    });
    const ledger = createLedger({ journal, node: 'n', clock: systemClock });
    const document = {
      upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: 'sk-upstream-key' }],
      models: paidModels('up'),
    };
    const rig = await startRig(scope, document, {}, { ledger });
    const spenders = new Spenders({ keys: [testKey], random, count: clients });
    spenders.start(() => rig.port);
    await wait(phaseMs[scale]);
    let failed = 0;
    disk.judge((call) => {
      if (!kind.calls.includes(call) || random() >= kind.share) return undefined;
      failed += 1;
      return kind.faults[Math.floor(random() * kind.faults.length)];
    });
    await wait(phaseMs[scale] * 2);
    // A new segment is made only when one is full: on a slow machine that takes a while.
    for (let waits = 0; failed === 0 && waits < 200; waits++) await wait(50);
    disk.judge(undefined);
    const isBack = await comesBack(spenders);
    await wait(phaseMs[scale]);
    await spenders.end();
    await Promise.all(ends.splice(0).map((end) => end()));
    await journal.close();
    const rows = await readAll(slot.directory);
    slot.release();
    const served = spenders.answers.filter(({ status }) => status === 200);
    const refused = spenders.answers.filter(({ status, code }) => status === 503 && code === 'store_unavailable');
    return [
      {
        name: `${kind.name}: answers, refused, broken off, and steps that failed`,
        bar: 'some that failed',
        measured: `${spenders.answers.length}, ${refused.length}, ${spenders.broken}, ${failed}`,
        met: failed > 0,
        broken: failed === 0,
      },
      allOf(
        `${kind.name}: what the journal got wrong`,
        joinBooks(kind.name, rows, { charges: upstream.charges, answers: served }),
      ),
      none(
        `${kind.name}: answers other than 200 and 503 store_unavailable, and service that did not come back`,
        spenders.answers
          .filter((answer) => !served.includes(answer) && !refused.includes(answer))
          .map(({ id, status, code }) => `${id}: ${status} ${code}`)
          .concat(isBack ? [] : ['no service']),
      ),
    ];
  } finally {
    for (const end of ends) await end();
    await upstream.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function comesBack({ answers }: Spenders): Promise<boolean> {
  const sinceMs = performance.now();
  const count = (): number => answers.filter(({ status }) => status === 200).length;
  for (const before = count(); count() < before + 10; ) {
    if (performance.now() - sinceMs > backWithinMs) return false;
    await wait(10);
  }
  return true;
}

/** The whole journal, as a store would import it. */
async function readAll(directory: string): Promise<Books> {
  const reader = createJournalReader({ directory, isOrphan: () => true });
  await reader.open(undefined);
  const { rows: read, damage } = await readThrough(reader, { import: false });
  await reader.close();
  const rows = new Map<string, LedgerRow>();
  const differences = [...damage];
  for (const { row } of read) {
    if (rows.has(row.id)) differences.push(`${row.id} stands there twice`);
    rows.set(row.id, row);
  }
  return { rows, differences, summedRequests: rows.size, accounts: new Map() };
}
