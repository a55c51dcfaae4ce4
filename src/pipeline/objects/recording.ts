/** Records the IDs of objects that an upstream stores for a request, before the client sees them. */

import type { Answer } from '../../core/outcome.ts';
import type { Clock } from '../../lib/clock.ts';
import { orAfter } from '../../lib/deadline.ts';
import { codingsOf, headerValue } from '../../lib/raw-headers.ts';
import type { Plan } from '../../plan/planned-call.ts';
import type { Background } from './background.ts';
import { type ObjectRegistry, ownerOf } from './object-registry.ts';
import { RecordedAnswer } from './recorded-answer.ts';
import { storedIdsIn } from './stored-ids.ts';

export interface RecordingDeps {
  readonly objects: ObjectRegistry;
  readonly clock: Clock;
  readonly background: Pick<Background, 'begin' | 'takeOver'>;
}

/** Longest wait for the answer's ID: the first event of a stream usually comes at once; after this time the client gets the head. */
const beginningMs = 1_000;

export function recorded(plan: Plan, answer: Answer, deps: RecordingDeps): Answer | Promise<Answer> {
  const { exchange, records } = plan;
  const { key, target, credential, modelId } = exchange;
  const { status, meantStatus = status } = answer;
  if (records === undefined || meantStatus >= 400 || answer.translated !== undefined) return answer;
  if (key === undefined || target === undefined || credential === undefined) return answer;
  const contentType = headerValue(answer.headers, 'content-type');
  const ids = codingsOf(answer.headers).length > 0 ? undefined : storedIdsIn(contentType, records);
  if (ids === undefined) return answer;
  const { objects, clock, background } = deps;
  const found = new RecordedAnswer(answer, ids, async (names) => {
    const ownership = { owner: ownerOf(key), upstream: target.upstream.id, credential: credential.fingerprint };
    const createdAtMs = clock.nowMs();
    await objects.record(names.map((name) => ({ ...name, ...ownership, model: modelId ?? '', createdAtMs })));
    const made = plan.inBackground ? names.find(({ kind }) => kind === 'response') : undefined;
    if (made === undefined || exchange.goesOn) return;
    await background.begin(exchange, made.id);
    exchange.goesOn = true;
  });
  exchange.client.work = found;
  const begun = found.begin();
  return (exchange.estimate?.isStream === true ? orAfter(begun, beginningMs) : begun).then(() => found);
}
