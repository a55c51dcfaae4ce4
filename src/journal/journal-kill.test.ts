import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { outcomes, readThrough } from '../../test/support/ledger/journal-lines.ts';
import { durabilities } from '../core/accounting/ledger-row.ts';
import { systemClock } from '../lib/clock.ts';
import { lockFile } from '../store/sqlite/sqlite-file.ts';
import { createJournalReader } from './journal-reader.ts';
import { claimSlot, listSlots } from './journal-slot.ts';

const program = new URL('../../test/support/ledger/appending-process.ts', import.meta.url).pathname;
const kills = 3;

/** Runs the program and kills it after so many promises; resolves to all that was promised. */
function runAndKill(directory: string, node: string, durability: string, promises: number): Promise<string[]> {
  const args = ['--disable-warning=ExperimentalWarning', program, directory, node, durability];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.setEncoding('utf8');
  child.stdout.on('data', (text: string) => {
    output += text;
    if (output.length > promises * 12) child.kill('SIGKILL');
  });
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('close', (code, signal) => {
      if (signal === 'SIGKILL') resolve(output.split('\n').slice(1, -1));
      else reject(new Error(`the program ended by itself, with ${code}`));
    });
  });
}

for (const durability of durabilities) {
  test(`after ${kills} kills of the process, no written record is lost or doubled: ${durability}`, async () => {
    const directory = mkdtempSync(join(tmpdir(), 'postern-kill-'));
    try {
      const intents = new Set<string>();
      const settlements = new Set<string>();
      const nodes = Array.from({ length: kills }, (_, index) => `node-${index}`);
      for (const [index, node] of nodes.entries()) {
        for (const line of await runAndKill(directory, node, durability, 20 + index * 211)) {
          (line.startsWith('i ') ? intents : settlements).add(line.slice(2));
        }
      }
      assert.deepEqual(listSlots(directory), [1_000]);
      const slot = claimSlot({ directory, lock: lockFile, clock: systemClock, store: 'the store' });
      const reader = createJournalReader({ directory: slot.directory, isOrphan: () => true });
      await reader.open(undefined);
      const { rows, endedNodes, damage } = await readThrough(reader);
      const found = new Map(rows.map(({ row }) => [row.id, row.outcome]));
      assert.equal(found.size, rows.length, 'an exchange has two rows');
      assert.ok(settlements.size > 300);
      for (const id of settlements) assert.equal(found.get(id), 'ok', id);
      for (const id of intents) assert.ok(['ok', 'lost'].includes(found.get(id) ?? 'nothing'), id);
      assert.deepEqual([endedNodes, damage], [nodes, []]);
      // At most the calls in progress at the kill are lost.
      assert.ok(outcomes(rows).filter((line) => line.endsWith('lost')).length <= kills * 8);
      slot.release();
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  });
}
