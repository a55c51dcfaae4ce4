/** Stores nodes' health reports on their targets in the database. Each report is parsed once, long ones in slices. */

import type { Kysely } from 'kysely';
import type { DriftState } from '../core/drift.ts';
import type { HealthStore } from '../core/store/health.ts';
import type { HealthReport, TargetState } from '../core/target-state.ts';
import type { Clock } from '../lib/clock.ts';
import { isMapping } from '../lib/is-mapping.ts';
import { readJson } from '../lib/json/read-json.ts';
import { inBackground } from '../lib/time-slices.ts';
import type { Schema } from './schema.ts';
import { readTexts } from './stored-json.ts';

/** Reports that are older than this are deleted: a killed node could not withdraw its own. */
const forgottenAfterMs = 3_600_000;

/** A report is written in lines of a few targets, so that a long one can be read and written in slices. */
const targetsOfLine = 16;
const separator = ',\n';

export function createHealthStore(db: Kysely<Schema>, clock: Clock): HealthStore {
  /** The newest report of each node, as parsed or as this process wrote it. */
  const reports = new Map<string, HealthReport>();
  let reading = Promise.resolve();
  /** Whether this process has asked for reports: a worker only writes its own and needs no copies of others. */
  let isAsked = false;

  async function readAgain(nodes: readonly string[]): Promise<void> {
    if (nodes.length === 0) return;
    const rows = await db.selectFrom('node_reports').selectAll().where('node', 'in', nodes).execute();
    for (const { node, reported_at, targets, drift } of rows) {
      reports.set(node, {
        node,
        reportedAtMs: reported_at,
        targets: await inBackground.timeSliced(toTargetStates(targets)),
        drift: readDrift(drift),
      });
    }
  }

  const spoken = (maxAgeMs: number) =>
    db
      .selectFrom('node_reports')
      .select(['node', 'reported_at', 'secret_keys'])
      .where('reported_at', '>=', clock.nowMs() - maxAgeMs)
      .orderBy('reported_at', 'desc')
      .execute();

  return {
    async report(node, targets, drift, secretKeys) {
      const reportedAtMs = clock.nowMs();
      const said = {
        reported_at: reportedAtMs,
        targets: await inBackground.timeSliced(toText(targets)),
        drift: drift === undefined ? null : JSON.stringify(drift),
        secret_keys: secretKeys === undefined ? null : JSON.stringify(secretKeys),
      };
      await db
        .insertInto('node_reports')
        .values({ node, ...said })
        .onConflict((conflict) =>
          // A long text is sent to the database once.
          conflict.column('node').doUpdateSet(({ ref }) => ({
            reported_at: ref('excluded.reported_at'),
            targets: ref('excluded.targets'),
            drift: ref('excluded.drift'),
            secret_keys: ref('excluded.secret_keys'),
          })),
        )
        .execute();
      // As other processes will read it from the database: there a number that JSON does not have, such as NaN, is null.
      if (isAsked) reports.set(node, { node, reportedAtMs, targets, drift: readDrift(said.drift) });
    },

    async withdraw(node) {
      await db
        .deleteFrom('node_reports')
        .where(({ or, eb }) => or([eb('node', '=', node), eb('reported_at', '<', clock.nowMs() - forgottenAfterMs)]))
        .execute();
    },

    async latest(maxAgeMs) {
      isAsked = true;
      const nodes = await spoken(maxAgeMs);
      // One caller at a time: the next one finds what the one before has parsed.
      const done = reading.then(() =>
        readAgain(nodes.flatMap(({ node, reported_at: at }) => (reports.get(node)?.reportedAtMs === at ? [] : node))),
      );
      reading = done.catch(() => undefined);
      await done;
      for (const [node, { reportedAtMs }] of reports) {
        if (reportedAtMs < clock.nowMs() - forgottenAfterMs) reports.delete(node);
      }
      return nodes.flatMap(({ node }) => reports.get(node) ?? []);
    },

    async nodes(maxAgeMs) {
      const rows = await spoken(maxAgeMs);
      return rows.map(({ node, secret_keys: keys }) => ({
        node,
        secretKeys: keys === null ? undefined : readTexts(keys),
      }));
    },
  };
}

function* toText(targets: readonly TargetState[]): Generator<undefined, string, undefined> {
  const lines: string[] = [];
  for (let at = 0; at < targets.length; at += targetsOfLine) {
    lines.push(JSON.stringify(targets.slice(at, at + targetsOfLine)).slice(1, -1));
    yield;
  }
  return `[${lines.join(separator)}]`;
}

/** Parses a report's states. What is no list of states, as from another version, is empty. A former version wrote all states in one line. */
function* toTargetStates(text: string): Generator<undefined, TargetState[], undefined> {
  const states: TargetState[] = [];
  for (const line of text.slice(1, -1).split(separator)) {
    const part = readJson(`[${line}]`);
    if (!Array.isArray(part)) return [];
    states.push(...part.filter(isTargetState));
    yield;
  }
  return states;
}

function readDrift(text: string | null): DriftState | undefined {
  const said = text === null ? undefined : readJson(text);
  if (!isMapping(said) || !Array.isArray(said.shadows) || !Array.isArray(said.canaries)) return undefined;
  return { shadows: said.shadows, canaries: said.canaries };
}

function isTargetState(value: unknown): value is TargetState {
  if (typeof value !== 'object' || value === null) return false;
  if (!Array.isArray(Reflect.get(value, 'restingCredentials'))) return false;
  if (typeof Reflect.get(value, 'restsForMs') !== 'number') return false;
  return ['upstream', 'model', 'state'].every((name) => typeof Reflect.get(value, name) === 'string');
}
