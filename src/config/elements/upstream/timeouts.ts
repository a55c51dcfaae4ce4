/** Compiles the timeouts of an upstream for each operation. */

import { byOperation, type Operation, operationRows, operations } from '../../../core/operations/index.ts';
import type { Timeouts } from '../../../core/snapshot.ts';
import { fromMilliseconds } from '../../../lib/quantities.ts';
import type { Location } from '../context.ts';
import type { UpstreamEntry } from './schema.ts';

type Section = UpstreamEntry['timeouts'];

const standard: Timeouts = Object.freeze({ connectMs: 2000, firstByteMs: 60_000, idleMs: 60_000, totalMs: 300_000 });

/** The timeouts by operation; a configured value applies to every operation. */
export function toTimeouts(section: Section, location: Location): Readonly<Record<Operation, Timeouts>> {
  const shortest = shortestTotal(section);
  checkWithinTotal(section.connect, shortest, location.at('connect'));
  checkWithinTotal(section.first_byte, shortest, location.at('first_byte'));
  if (section.idle !== undefined && section.idle > shortest.ms) {
    const idle = fromMilliseconds(section.idle);
    location.at('idle').warn(`: ${idle} has no effect, as total (${shortest.spelled}) ends first`);
  }
  return byOperation((operation) => timeoutsOf(operation, section));
}

/** The timeouts of one operation. Defaults are shortened to its total time; a configured value above that is a fault. */
function timeoutsOf(operation: Operation, section: Section): Timeouts {
  const defaults = { ...standard, ...operationRows[operation].patience };
  const totalMs = section.total ?? defaults.totalMs;
  return Object.freeze({
    connectMs: section.connect ?? Math.min(defaults.connectMs, totalMs),
    firstByteMs: section.first_byte ?? Math.min(defaults.firstByteMs, totalMs),
    idleMs: section.idle ?? Math.min(defaults.idleMs, totalMs),
    totalMs,
  });
}

export interface ShortestTotal {
  readonly ms: number;
  /** The time for messages, such as `5m, the default`. */
  readonly spelled: string;
}

export function shortestTotal(section: Section): ShortestTotal {
  const ms = Math.min(...operations.map((operation) => timeoutsOf(operation, section).totalMs));
  return { ms, spelled: `${fromMilliseconds(ms)}${section.total === undefined ? ', the default' : ''}` };
}

export function checkWithinTotal(ms: number | undefined, total: ShortestTotal, location: Location): void {
  if (ms === undefined || ms <= total.ms) return;
  location.fault(`${fromMilliseconds(ms)} is longer than total (${total.spelled}); raise total, or lower this`);
}
