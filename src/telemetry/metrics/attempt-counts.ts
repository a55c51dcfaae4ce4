/** What is counted of the calls to one upstream. */

import type { Lane } from '../../core/lane.ts';
import type { Counter, Histogram, Registry } from './registry.ts';

/** As `TryRecord.outcome` has them, and `abandoned`: the client left while nothing had come. */
const callOutcomes = [
  'answered',
  'limited',
  'rejected',
  'loading',
  'failed',
  'broken',
  'redirects',
  'not-sent',
  'unknown',
  'outrun',
  'abandoned',
] as const;
/** Those of which nothing became a call. */
const others = ['queue', 'capped'] as const;

type AttemptOutcome = (typeof callOutcomes)[number] | (typeof others)[number];

const callNames: ReadonlySet<string> = new Set(callOutcomes);

/** Whether something was counted in `Exchange.attempts` for it. */
export function isCall(outcome: string): boolean {
  return callNames.has(outcome);
}

export class AttemptCounts {
  /** From when the call was sent; only where its answer went to the client. */
  readonly firstByte: Histogram;
  readonly answered: Counter;
  readonly abandoned: Counter;
  readonly repeatedCredentials: Counter;
  readonly waits: Readonly<Record<Lane, Histogram>>;
  readonly #byOutcome: ReadonlyMap<string, Counter>;

  constructor(registry: Registry, upstream: string) {
    const counter = (outcome: AttemptOutcome): Counter => registry.counter('postern_attempts_total', upstream, outcome);
    this.firstByte = registry.histogram('postern_upstream_first_byte_seconds', upstream);
    this.answered = counter('answered');
    this.abandoned = counter('abandoned');
    const waits = (lane: Lane): Histogram => registry.histogram('postern_lane_wait_seconds', upstream, lane);
    this.waits = { interactive: waits('interactive'), bulk: waits('bulk') };
    this.repeatedCredentials = registry.counter('postern_repeated_credentials_total', upstream);
    this.#byOutcome = new Map([...callOutcomes, ...others].map((outcome) => [outcome, counter(outcome)]));
  }

  /** What is no outcome of ours is not counted. */
  count(outcome: string): void {
    this.#byOutcome.get(outcome)?.add(1);
  }
}
