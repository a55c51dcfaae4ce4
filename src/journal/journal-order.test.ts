import assert from 'node:assert/strict';
import { mkdtempSync, openSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import fc from 'fast-check';
import { intentLine, outcomes, settlementLine } from '../../test/support/ledger/journal-lines.ts';
import { durabilities } from '../core/accounting/ledger-row.ts';
import type { ImportedRow, JournalPosition } from '../core/store/ledger.ts';
import { systemClock } from '../lib/clock.ts';
import { createJournal, type Journal } from './journal.ts';
import { type JournalFiles, systemFiles } from './journal-files.ts';
import { createJournalReader, type JournalReader } from './journal-reader.ts';

/** A process's files: they are closed at its death, and later calls do nothing. */
function mortal(): { files: JournalFiles; die(): void } {
  const open = new Set<number>();
  let isDead = false;
  const check = (): void => {
    if (isDead) throw new Error('the process is dead');
  };
  const later = async <T>(act: () => Promise<T>): Promise<T> => {
    check();
    return act();
  };
  return {
    files: {
      ...systemFiles,
      open(path, flags) {
        check();
        const file = systemFiles.open(path, flags);
        open.add(file);
        return file;
      },
      // Synchronous: a dead process creates nothing.
      create: (path) =>
        later(async () => {
          const file = openSync(path, 'wx', 0o600);
          open.add(file);
          return file;
        }),
      close(file) {
        if (open.delete(file)) systemFiles.close(file);
      },
      write(file, bytes, position) {
        check();
        return systemFiles.write(file, bytes, position);
      },
      // Synchronous: the file may be closed right after.
      writeLater: (file, bytes, position) => later(async () => systemFiles.write(file, bytes, position)),
      sync: (file) => later(async () => void file),
      syncDirectory: (path) => later(async () => void path),
      remove(path) {
        check();
        systemFiles.remove(path);
      },
    },
    die() {
      isDead = true;
      for (const file of open) systemFiles.close(file);
      open.clear();
    },
  };
}

/** The reader dies before the store has the rows, or before it learns so, or survives. */
const readEnds = ['dropped', 'stored', 'imported'] as const;
type ReadEnd = (typeof readEnds)[number];

type Step =
  | { readonly kind: 'open' | 'note' | 'crash' | 'end' | 'reader-crash' }
  | { readonly kind: 'settle'; readonly which: number }
  | { readonly kind: 'read'; readonly most: number; readonly end: ReadEnd };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 6, arbitrary: fc.constant<Step>({ kind: 'open' }) },
  { weight: 5, arbitrary: fc.record({ kind: fc.constant('settle' as const), which: fc.nat(20) }) },
  { weight: 2, arbitrary: fc.constant<Step>({ kind: 'note' }) },
  { weight: 1, arbitrary: fc.constantFrom<Step>({ kind: 'crash' }, { kind: 'end' }, { kind: 'reader-crash' }) },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('read' as const),
      most: fc.integer({ min: 1, max: 5 }),
      end: fc.constantFrom(...readEnds),
    }),
  },
);

/** A slot with successive processes, and a store that takes rows and positions together. */
class Setup {
  readonly directory: string;
  readonly expected: string[] = [];
  readonly stored: ImportedRow[] = [];
  readonly released = new Set<string>();
  readonly #durability: 'fast' | 'strict';
  #nodes = 0;
  #ids = 0;
  #process = mortal();
  #journal: Journal | undefined = undefined;
  #open: string[] = [];
  #reader: JournalReader | undefined = undefined;
  #position: JournalPosition | undefined = undefined;
  isOrphan = false;

  constructor(directory: string, durability: 'fast' | 'strict') {
    this.directory = directory;
    this.#durability = durability;
  }

  get node(): string {
    return `node-${this.#nodes}`;
  }

  get nodes(): string[] {
    return Array.from({ length: this.#nodes }, (_, index) => `node-${index + 1}`);
  }

  async journal(): Promise<Journal> {
    if (this.#journal !== undefined) return this.#journal;
    this.#nodes += 1;
    this.#process = mortal();
    this.#journal = await createJournal({
      directory: this.directory,
      node: this.node,
      durability: this.#durability,
      clock: systemClock,
      files: this.#process.files,
      segmentBytes: 4_096,
    });
    return this.#journal;
  }

  async run(step: Step): Promise<void> {
    switch (step.kind) {
      case 'open': {
        const journal = await this.journal();
        const id = `id-${this.#ids++}`;
        await journal.open(id, intentLine(id, this.node));
        this.#open.push(id);
        break;
      }
      case 'note': {
        const journal = await this.journal();
        const id = `id-${this.#ids++}`;
        await journal.note(settlementLine(id, this.node));
        this.expected.push(`${id} ok`);
        break;
      }
      case 'settle': {
        const [id] = this.#open.splice(step.which % Math.max(1, this.#open.length), 1);
        if (id === undefined) break;
        await (await this.journal()).settle(id, settlementLine(id, this.node));
        this.expected.push(`${id} ok`);
        break;
      }
      case 'crash':
        this.#end();
        break;
      case 'end':
        await this.#journal?.close();
        this.#end();
        break;
      case 'read':
        await this.read(step.most, step.end);
        break;
      case 'reader-crash':
        await this.#reader?.close();
        this.#reader = undefined;
        break;
    }
  }

  #end(): void {
    this.#process.die();
    this.#journal = undefined;
    this.expected.push(...this.#open.map((id) => `${id} lost`));
    this.#open = [];
  }

  /** True where there was nothing. */
  async read(most: number, end: ReadEnd): Promise<boolean> {
    if (this.#reader === undefined) {
      this.#reader = createJournalReader({ directory: this.directory, isOrphan: () => this.isOrphan });
      await this.#reader.open(this.#position);
    }
    const { rows, position, endedNodes, damage } = await this.#reader.read(most);
    assert.deepEqual(damage, []);
    if (end !== 'dropped') {
      this.stored.push(...rows);
      this.#position = position;
      for (const node of endedNodes) this.released.add(node);
    }
    if (end === 'imported') {
      await this.#reader.imported(position);
    } else {
      await this.#reader.close();
      this.#reader = undefined;
    }
    return rows.length === 0;
  }

  async close(): Promise<void> {
    await this.#reader?.close();
  }
}

for (const durability of durabilities) {
  test(`each request has one row, in any order of events and process deaths: ${durability}`, async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const directory = mkdtempSync(join(tmpdir(), 'postern-order-'));
        writeFileSync(join(directory, 'id'), 'journal-1\n');
        const setup = new Setup(directory, durability);
        try {
          for (const step of steps) await setup.run(step);
          await setup.run({ kind: 'crash' });
          setup.isOrphan = true;
          for (const end of ['stored', 'imported'] as const) {
            for (let quiet = 0; quiet < 2; ) quiet = (await setup.read(3, end)) ? quiet + 1 : 0;
          }
          assert.deepEqual(outcomes(setup.stored).sort(), setup.expected.sort());
          assert.deepEqual([...setup.released].sort(), setup.nodes.sort());
        } finally {
          await setup.close();
          rmSync(directory, { recursive: true, force: true });
        }
      }),
      { numRuns: 200 },
    );
  });
}
