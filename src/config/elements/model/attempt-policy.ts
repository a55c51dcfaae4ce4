/** Compiles how a model's calls are balanced over targets, retried, and hedged, and warns of settings without effect. */

import { listOperations } from '../../../core/lists.ts';
import { fitsName } from '../../../core/model-name.ts';
import { type Operation, operationRows } from '../../../core/operations/index.ts';
import type { Hedge, Model } from '../../../core/snapshot.ts';
import { fromMilliseconds } from '../../../lib/quantities.ts';
import type { Location } from '../context.ts';
import { type ModelEntry, standardBalance } from './schema.ts';
import { type CompiledModel, nameOf, serves } from './targets.ts';

/** Calls of such operations are not repeated, because another call may give another answer and costs again. */
const isSentOnce = (operation: Operation): boolean => !operationRows[operation].replayable;

export function toAttemptPolicy(model: CompiledModel): Pick<Model, 'balance' | 'retry' | 'hedge'> {
  const { balance, retry, hedge } = model.value;
  warnOfIdleBalance(model);
  warnOfIdleRetry(model);
  if (hedge !== undefined) {
    checkHedge(model);
    checkHedgeTime(model, hedge.after);
  }
  return {
    balance,
    retry: Object.freeze({ ...retry }),
    hedge: hedge && Object.freeze({ afterMs: hedge.after }),
  };
}

function warnOfIdleBalance({ location, value, called }: CompiledModel): void {
  if (value.balance === standardBalance) return;
  const at = location.at('balance');
  const priorities = new Set(called.map(({ target }) => target.priority));
  if (called.length === 1) at.warn(' has no effect, as there is a single target to call');
  else if (priorities.size === called.length) at.warn(' has no effect, as no two targets have the same priority');
}

function warnOfIdleRetry({ location, value }: CompiledModel): void {
  const { sameTarget = 0, attempts } = value.retry;
  if (sameTarget < attempts) return;
  location
    .at('retry', 'same_target')
    .warn(`: ${sameTarget} is more than retry.attempts (${attempts}) leaves after the first call`);
}

function checkHedge({ location, value, served, called, isComplete }: CompiledModel): void {
  const at = location.at('hedge');
  const once = served.filter(isSentOnce);
  if (once.length > 0 && value.retry.scope !== 'always') {
    at.fault(
      `sends a call twice, which is done with ${once.join(' and ')} only where retry is always; set that, or give ${once.length === 1 ? 'it' : 'them'} a model without a hedge`,
    );
  }
  const hasTwo = served.some((operation) => called.filter((target) => serves(target, operation)).length > 1);
  if (isComplete && !hasTwo) {
    at.fault('needs two targets with a weight above 0 that offer the same operation; add one, or leave this out');
  }
}

/** Warns of a hedge that would come after a target's `first_byte` timeout; `total` need not be compared, as it is never shorter. */
function checkHedgeTime({ location, served, called }: CompiledModel, afterMs: Hedge['afterMs']): void {
  if (afterMs === 'p95') return;
  for (const located of called) {
    const { timeouts } = located.target.upstream;
    const offered = served.filter((operation) => serves(located, operation));
    const firstByteMs = Math.min(...offered.map((operation) => timeouts[operation].firstByteMs));
    if (afterMs < firstByteMs) continue;
    location
      .at('hedge', 'after')
      .fault(
        `${fromMilliseconds(afterMs)} is not shorter than the first_byte timeout of ${nameOf(located)} (${fromMilliseconds(firstByteMs)}), at which its call ends; lower this, or raise that`,
      );
    return;
  }
}

export function warnOfIdleSettings({ location, value, served }: CompiledModel): void {
  const lists = [...listOperations].join(', ');
  const noLists = !served.some((operation) => listOperations.has(operation)) && `the model serves no lists (${lists})`;
  const noVectors = !served.includes('embeddings') && 'the model makes no embeddings';
  const settings: readonly [name: string, isSet: boolean, why: string | false][] = [
    ['usage', value.usage === 'ask', !served.some(mayStream) && 'it serves nothing that streams'],
    ['space', value.space !== undefined, noVectors && 'the model does not serve embeddings'],
    ['scores', value.scores !== undefined, !served.includes('rerank') && 'the model does not serve rerank'],
    ['roles', value.roles !== undefined, noVectors],
    ['cache', value.cache !== undefined, noLists],
    ['dedupe', value.dedupe, noLists],
    ['coalesce', value.coalesce !== undefined, noLists],
    ['shadow', value.shadow !== undefined, noLists],
    ['canary', value.canary !== undefined, noVectors],
  ];
  for (const [name, isSet, why] of settings) {
    if (isSet && why !== false) location.at(name).warn(` has no effect, as ${why}`);
  }
}

const mayStream = (operation: Operation): boolean => operationRows[operation].mayStream;

export function toListSettings({
  location,
  value: { cache, dedupe, coalesce, shadow, canary, matryoshka, dimensions },
}: CompiledModel): Pick<Model, 'cache' | 'dedupes' | 'coalesce' | 'shadow' | 'canary'> {
  if (matryoshka && dimensions === undefined) {
    location.at('matryoshka').fault('needs dimensions: how many numbers its vectors have as upstreams make them');
  }
  return {
    cache:
      cache &&
      Object.freeze({
        ttlMs: cache.ttl,
        scope: cache.scope,
        maxBytes: cache.max,
        countsForLimits: cache.limits === 'all',
      }),
    dedupes: dedupe,
    shadow: shadow && Object.freeze({ ...shadow }),
    canary: canary && Object.freeze({ texts: Object.freeze([...canary.texts]), everyMs: canary.every }),
    coalesce: coalesce && Object.freeze({ windowMs: coalesce.window, maxItems: coalesce.max_items }),
  };
}

export function checkShadow({ id, shadow }: ModelEntry, names: ReadonlySet<string>, location: Location): void {
  if (shadow === undefined) return;
  const at = location.at('shadow', 'model');
  if (shadow.model === id) at.fault('is the model itself; name another one');
  if (!names.values().some((name) => fitsName(name, shadow.model))) {
    at.unknown('there is no model', shadow.model, names, '; declare it under models');
  }
}
