/** How patient Postern is with an upstream, by operation. */

import { type Operation, operations } from '../core/operation.ts';
import type { Timeouts } from '../core/snapshot.ts';
import { fromMilliseconds } from '../lib/quantities.ts';
import type { CompileContext } from './context.ts';
import type { Path } from './faults.ts';
import type { UpstreamEntry } from './schema.ts';

const standard: Timeouts = Object.freeze({ connectMs: 2000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 300_000 });

/** Completions may think for as long as the official clients wait. */
const byOperation: Readonly<Partial<Record<Operation, Partial<Timeouts>>>> = {
  completions: { firstByteMs: 600_000, totalMs: 900_000 },
};

/** A value that the operator sets holds for every operation. */
export function toTimeouts(
  section: UpstreamEntry['timeouts'],
  at: Path,
  { faults }: CompileContext,
): Readonly<Record<Operation, Timeouts>> {
  const timeoutsOf = (operation: Operation): Timeouts => {
    const defaults = { ...standard, ...byOperation[operation] };
    const totalMs = section.total ?? defaults.totalMs;
    return Object.freeze({
      connectMs: section.connect ?? defaults.connectMs,
      firstByteMs: section.first_byte ?? Math.min(defaults.firstByteMs, totalMs),
      idleMs: section.idle ?? defaults.idleMs,
      totalMs,
    });
  };
  for (const operation of operations) {
    const { firstByteMs, totalMs } = timeoutsOf(operation);
    if (firstByteMs <= totalMs) continue;
    const total = `${fromMilliseconds(totalMs)}${section.total === undefined ? ', the default' : ''}`;
    faults.add(
      [...at, 'first_byte'],
      `${fromMilliseconds(firstByteMs)} is longer than total (${total}); raise total, or lower this`,
    );
    break;
  }
  return Object.freeze({
    completions: timeoutsOf('completions'),
    edits: timeoutsOf('edits'),
    rerank: timeoutsOf('rerank'),
    moderations: timeoutsOf('moderations'),
    embeddings: timeoutsOf('embeddings'),
  });
}
