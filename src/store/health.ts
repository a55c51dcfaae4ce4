/** What nodes say of their targets, in a database. */

import type { Kysely } from 'kysely';
import type { DriftState } from '../core/drift.ts';
import type { HealthStore } from '../core/store/health.ts';
import type { TargetState } from '../core/target-state.ts';
import type { Clock } from '../lib/clock.ts';
import { isMapping } from '../lib/is-mapping.ts';
import type { Schema } from './schema.ts';
import { readJson } from './stored-json.ts';

/** A node that was killed did not withdraw. */
const forgottenAfterMs = 3_600_000;

export function createHealthStore(db: Kysely<Schema>, clock: Clock): HealthStore {
  return {
    async report(node, targets, drift) {
      const said = {
        reported_at: clock.nowMs(),
        targets: JSON.stringify(targets),
        drift: drift === undefined ? null : JSON.stringify(drift),
      };
      await db
        .insertInto('node_reports')
        .values({ node, ...said })
        .onConflict((conflict) => conflict.column('node').doUpdateSet(said))
        .execute();
    },

    async withdraw(node) {
      await db
        .deleteFrom('node_reports')
        .where(({ or, eb }) => or([eb('node', '=', node), eb('reported_at', '<', clock.nowMs() - forgottenAfterMs)]))
        .execute();
    },

    async latest(maxAgeMs) {
      const rows = await db
        .selectFrom('node_reports')
        .selectAll()
        .where('reported_at', '>=', clock.nowMs() - maxAgeMs)
        .orderBy('reported_at', 'desc')
        .execute();
      return rows.map(({ node, reported_at, targets, drift }) => ({
        node,
        reportedAtMs: reported_at,
        targets: toTargetStates(targets),
        drift: drift === null ? undefined : readDrift(drift),
      }));
    },
  };
}

/** The rows are our own, of this version or another: what is no list of states is none. */
function toTargetStates(text: string): TargetState[] {
  try {
    const targets: unknown = JSON.parse(text);
    return Array.isArray(targets) ? targets.filter(isTargetState) : [];
  } catch {
    return [];
  }
}

function readDrift(text: string): DriftState | undefined {
  const said = readJson(text);
  if (!isMapping(said) || !Array.isArray(said.shadows) || !Array.isArray(said.canaries)) return undefined;
  return { shadows: said.shadows, canaries: said.canaries };
}

function isTargetState(value: unknown): value is TargetState {
  if (typeof value !== 'object' || value === null) return false;
  if (!Array.isArray(Reflect.get(value, 'restingCredentials'))) return false;
  if (typeof Reflect.get(value, 'restsForMs') !== 'number') return false;
  return ['upstream', 'model', 'state'].every((name) => typeof Reflect.get(value, name) === 'string');
}
