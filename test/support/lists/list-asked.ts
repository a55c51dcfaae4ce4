/** A list request as the pipeline passes it, with an upstream that is late, has few slots, and makes mistakes. */

import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { WholeMadeAnswer } from '../../../src/answers/made-answer.ts';
import { noCaps } from '../../../src/core/caps.ts';
import { Exchange } from '../../../src/core/exchange.ts';
import type { ListAsked, Part, PartOutcome, PartWork } from '../../../src/core/lists.ts';
import type { Answer } from '../../../src/core/outcome.ts';
import type { Snapshot } from '../../../src/core/snapshot.ts';
import { type ListLimits, Unfit } from '../../../src/core/translation.ts';
import { compileWatchedKeys, scanJson } from '../../../src/lib/json/json-scan.ts';
import { routes } from '../../../src/routes/index.ts';
import { routePlan, target, upstream as upstreamOf } from '../gateways/dispatching.ts';
import { toKeyRecord } from '../gateways/keys.ts';
import type { Kind } from './one-call.ts';

export interface Upstream {
  /** Items in a call. */
  readonly most: number;
  /** Turns of the event loop until each answer is there, one after the other. */
  readonly delays: readonly number[];
  /** Calls at a time. */
  readonly slots: number;
  /** Changes the answer into a wrong one that is sent first; it must never be accepted. */
  readonly mistake?: (answer: Buffer, items: number) => Buffer;
  /** Which of its calls fail, one after the other; there is another upstream then, that takes so many items, and never fails. */
  readonly failing?: { readonly calls: readonly boolean[]; readonly other: number };
}

export interface FakeList {
  readonly asked: ListAsked;
  readonly calls: () => number;
}

export function listAskedOf(
  kind: Kind,
  body: Buffer,
  { most, delays, slots, mistake, failing }: Upstream,
  limits: ListLimits,
  isCached: boolean,
): FakeList {
  const route = routes.find(({ operation }) => operation === kind.operation);
  const scan = scanJson(body, compileWatchedKeys([kind.field]));
  assert.ok(scan.ok);
  const list = scan.fields.get(kind.field);
  assert.ok(list !== undefined && route !== undefined);
  const exchange = new Exchange('id', undefined, {} as Snapshot, 0, 0);
  exchange.route = route;
  exchange.key = toKeyRecord({ id: 'k', caps: noCaps });
  const first = { ...target(upstreamOf('u')), limits };
  const others =
    failing === undefined ? [] : [{ ...target(upstreamOf('v')), limits: { items: failing.other }, priority: 1 }];
  const { tiers, model } = routePlan([first], others);
  const cache = { ttlMs: 60_000, scope: 'project', maxBytes: 1024 * 1024, countsForLimits: false } as const;
  let busy = 0;
  let calls = 0;

  async function outcomeOf(part: Part): Promise<PartOutcome> {
    if (busy >= slots && !part.waits) return { kind: 'no slot' };
    busy += 1;
    calls += 1;
    for (let left = delays[calls % delays.length] ?? 0; left > 0; left -= 1) await new Promise(setImmediate);
    busy -= 1;
    const [one, other] = tiers.flat();
    const fails = failing?.calls[calls % failing.calls.length] === true;
    const taken = one !== undefined && part.fits(one) && !fails ? most : undefined;
    const lease = taken ?? (other !== undefined && part.fits(other) ? failing?.other : undefined);
    if (lease === undefined) return { kind: 'refused', answer: answerOf(Buffer.from('{}'), 503) };
    assert.ok(part.items <= lease, `${part.items} items in a call, and ${lease} may be`);
    const bytes = kind.answer(part.body);
    if (mistake !== undefined) {
      const wrong = mistake(bytes, part.items);
      await assert.rejects(part.judge(wrong), Unfit, wrong.toString());
    }
    await part.judge(bytes);
    return { kind: 'read', bytes, answer: answerOf(bytes), exchange };
  }

  const ask = (part: Part): PartWork => ({ outcome: outcomeOf(part), finish: () => undefined });
  const asked: ListAsked = {
    exchange,
    resolved: { model: { ...model, ...(isCached && { cache }) }, id: 'm', matched: '' },
    body,
    list,
    candidates: tiers.flat(),
    identity: '',
    mayPass: false,
    freshness: undefined,
    remembered: undefined,
    deadlineMs: Number.POSITIVE_INFINITY,
    asOne: () => Promise.reject(new Error('it may not pass')),
    ask,
    askForSeveral: ask,
    share: () => [],
    owes: () => undefined,
  };
  return { asked, calls: () => calls };
}

const answerOf = (body: Buffer, status = 200): Answer => new WholeMadeAnswer(undefined, { status, sentAtMs: 0, body });
