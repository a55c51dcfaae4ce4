/** Asks one target after another until an answer may pass to the client. The client has seen nothing yet. */

import { type Dispatcher, isTurn, type NoTurn, Tried, type Turn } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer, Failure, Listening, Outcome, Transport } from '../core/outcome.ts';
import { fullJitterMs } from '../lib/back-off.ts';
import type { Clock } from '../lib/clock.ts';
import { discard } from './discard.ts';
import { Race, type Won } from './hedge.ts';
import { pause } from './pause.ts';
import { type Plan, writeCall } from './plan.ts';
import { screen } from './screen.ts';
import { restAskedForMs, type Verdict, verdictOn } from './verdict.ts';

interface Transports {
  /** Over the network. */
  readonly http: Transport;
  /** To an offer that is made in this process. */
  readonly inProcess: Transport;
}

export interface AttemptDeps {
  readonly transports: Transports;
  readonly dispatcher: Dispatcher;
  readonly clock: Clock;
  readonly random: () => number;
}

export function attempt(plan: Plan, deps: AttemptDeps): Promise<Answer> {
  return new Attempts(plan, deps).run();
}

const redirected: Omit<Failure, 'cause'> = {
  code: 'upstream_protocol_error',
  message:
    'The upstream answered with a redirect, which is never followed; the operator must set its base_url to the final address.',
};

/** An answer that is no good, kept in case that nobody has a better one. */
interface Held {
  readonly answer: Answer;
  readonly turn: Turn;
  readonly verdict: Verdict;
}

class Attempts {
  readonly #plan: Plan;
  readonly #deps: AttemptDeps;
  readonly #exchange: Exchange;
  readonly #tried = new Tried();
  #held: Held | undefined = undefined;
  #failure: Failure | undefined = undefined;
  /** Nothing more may be sent, though someone may be left: a byte left, and the route does not allow it twice. */
  #final = false;
  /** An idle connection was closed under a call once; a second time is no coincidence. */
  #staleOnce = false;
  /** Whom a call has reached, so that the next to the same is held back for a moment. */
  #reached: string[] | undefined = undefined;

  constructor(plan: Plan, deps: AttemptDeps) {
    this.#plan = plan;
    this.#deps = deps;
    this.#exchange = plan.exchange;
  }

  async run(): Promise<Answer> {
    try {
      for (;;) {
        const turn = this.#isOver() ? undefined : this.#deps.dispatcher.choose(this.#plan.course, this.#tried);
        if (turn === undefined || !isTurn(turn)) return await this.#giveUp(turn);
        if (this.#reached !== undefined) await this.#backOff(turn, this.#reached);
        const hedgeAfterMs = this.#hedgeAfterMs(turn);
        if (hedgeAfterMs === undefined) {
          const answer = await this.#ask(turn, this.#exchange.client);
          if (answer !== undefined) return await this.#pass(answer, turn, 'serves');
        } else {
          const won = await this.#race(turn, hedgeAfterMs);
          if (won !== undefined) return await this.#pass(won.answer, won.turn, 'serves');
        }
      }
    } finally {
      if (this.#held !== undefined) discard(this.#held.answer);
    }
  }

  /** One call; undefined where it came to nothing that is for the client. */
  async #ask(turn: Turn, client: Listening): Promise<Answer | undefined> {
    const entry = turn.enter(client);
    if (entry !== 'entered' && !this.#mayEnter(turn, await entry)) return undefined;
    const startedMs = performance.now();
    const outcome = await this.#send(turn, client);
    return this.#judge(turn, outcome, startedMs);
  }

  #mayEnter(turn: Turn, entry: 'entered' | 'too-late' | 'client-gone'): boolean {
    switch (entry) {
      case 'entered':
        return true;
      case 'too-late':
        this.#tried.upstream(turn.candidate.target.upstream.id);
        this.#note(turn, 'queue', undefined, performance.now());
        return false;
      case 'client-gone':
        throw new GatewayError('client_closed');
    }
  }

  #send(turn: Turn, client: Listening): Promise<Outcome> {
    this.#exchange.target = turn.candidate.target;
    let call: ReturnType<typeof writeCall>;
    try {
      call = writeCall(this.#plan, turn, client);
    } catch (error) {
      turn.withdraw();
      throw error;
    }
    this.#exchange.attempts += 1;
    this.#tried.sent += 1;
    const { http, inProcess } = this.#deps.transports;
    return call.offer.make === undefined ? http(call) : inProcess(call);
  }

  /** Tells the turn what came of it, and keeps what may be needed when nothing better comes. */
  #judge(turn: Turn, outcome: Outcome, startedMs: number): Answer | undefined {
    const { target } = turn.candidate;
    switch (outcome.kind) {
      case 'answered':
        return this.#judgeAnswer(turn, outcome.answer, startedMs);
      case 'not-sent':
        this.#tried.sent -= 1;
        this.#tried.upstream(target.upstream.id);
        turn.failed(outcome.failure.cause, 'wire');
        this.#failure ??= outcome.failure;
        break;
      case 'unknown':
        this.#noteReached(target.upstream.id);
        this.#judgeSilence(turn, outcome.failure);
        break;
      case 'client-gone':
        this.#leave(turn, startedMs);
        throw new GatewayError('client_closed');
    }
    this.#note(turn, outcome.kind, outcome.failure.cause, startedMs);
    return undefined;
  }

  /** The client is gone; or is not, where the call was one of two. */
  #leave(turn: Turn, startedMs: number): void {
    if (this.#exchange.client.gone) {
      turn.dropped();
      return;
    }
    turn.outrun(performance.now() - startedMs);
    this.#note(turn, 'outrun', undefined, startedMs);
  }

  #judgeSilence(turn: Turn, failure: Failure): void {
    if (!this.#plan.course.replayable) this.#final = true;
    this.#failure = failure;
    if (failure.stale === undefined) turn.failed(failure.cause, 'wire');
    else turn.dropped();
    if (failure.stale === undefined || this.#staleOnce) this.#tried.target(turn.candidate.target);
    else this.#staleOnce = true;
  }

  #judgeAnswer(turn: Turn, answer: Answer, startedMs: number): Answer | undefined {
    const { target } = turn.candidate;
    const verdict = verdictOn(answer, turn.candidate);
    if (verdict === 'serves') {
      turn.served(answer.firstByteAtMs - answer.sentAtMs);
      if (this.#exchange.tries.length > 0) this.#note(turn, 'answered', answer.status, startedMs);
      return answer;
    }
    this.#note(turn, verdict, answer.status, startedMs);
    this.#noteReached(target.upstream.id);
    const why = `answered ${answer.status}`;
    switch (verdict) {
      case 'limited':
        turn.limited(why, restAskedForMs(answer, this.#deps.clock.nowMs()));
        this.#tried.turn(turn);
        break;
      case 'rejected':
        turn.rejected(why);
        this.#tried.credential(turn.credential);
        break;
      case 'failed':
      case 'redirects':
        turn.failed(why, 'answer', restAskedForMs(answer, this.#deps.clock.nowMs()));
        this.#tried.target(target);
        if (!this.#plan.course.replayable) this.#final = true;
    }
    if (verdict !== 'redirects') this.#hold({ answer, turn, verdict });
    else {
      answer.cancel();
      this.#failure = { ...redirected, cause: `redirect (${answer.status})` };
    }
    return undefined;
  }

  /** The newest, save that a refused credential of ours says the least to a client. */
  #hold(next: Held): void {
    const stays = this.#held !== undefined && next.verdict === 'rejected';
    const [kept, dropped] = stays ? [this.#held, next] : [next, this.#held];
    this.#held = kept;
    if (dropped !== undefined) discard(dropped.answer);
  }

  #isOver(): boolean {
    if (this.#tried.sent === 0) return false;
    if (this.#final || this.#tried.sent >= this.#plan.course.model.retry.attempts) return true;
    return performance.now() >= this.#plan.deadlineMs;
  }

  /** Those who were reached and could not are left alone for a moment; whoever is somewhere else is asked at once. */
  async #backOff(turn: Turn, reached: readonly string[]): Promise<void> {
    if (!reached.includes(turn.candidate.target.upstream.id)) return;
    const waitMs = fullJitterMs(reached.length - 1, this.#deps.random);
    if (await pause(waitMs, this.#exchange.client)) return;
    turn.dropped();
    throw new GatewayError('client_closed');
  }

  #noteReached(upstreamId: string): void {
    this.#reached ??= [];
    this.#reached.push(upstreamId);
  }

  #hedgeAfterMs(turn: Turn): number | undefined {
    const { model, replayable } = this.#plan.course;
    if (model.hedge === undefined || !replayable || this.#tried.sent > 0) return undefined;
    return model.hedge.afterMs === 'p95' ? turn.percentile95Ms() : model.hedge.afterMs;
  }

  /** The first call, and a second one where that takes long: whoever answers first. */
  async #race(turn: Turn, afterMs: number): Promise<Won | undefined> {
    const race = new Race(this.#exchange.client, (one, client) => this.#ask(one, client));
    race.start(turn);
    if (await race.outlasts(afterMs)) {
      // Whatever comes of it there, the second goes to another.
      this.#tried.target(turn.candidate.target);
      const isQueued = this.#tried.sent === 0;
      const second =
        isQueued || this.#isOver() ? undefined : this.#deps.dispatcher.choose(this.#plan.course, this.#tried);
      if (second !== undefined && isTurn(second)) race.start(second);
    }
    return race.winner();
  }

  async #giveUp(none: NoTurn | undefined): Promise<Answer> {
    const { client } = this.#exchange;
    if (client.gone) throw new GatewayError('client_closed');
    if (this.#held !== undefined) {
      const { answer, turn, verdict } = this.#held;
      this.#held = undefined;
      return this.#pass(answer, turn, verdict);
    }
    if (this.#failure !== undefined) {
      const { code, message, cause } = this.#failure;
      throw new GatewayError(code, { message, cause: withReasons(cause, none) });
    }
    throw refusal(none, this.#exchange);
  }

  #pass(answer: Answer, turn: Turn, verdict: Verdict): Answer | Promise<Answer> {
    const exchange = this.#exchange;
    const { target } = turn.candidate;
    exchange.target = target;
    exchange.sentAtMs = answer.sentAtMs;
    exchange.firstByteAtMs = answer.firstByteAtMs;
    if (verdict === 'serves' && answer.status < 400) return answer;
    return untilGone(exchange, answer, screen(answer, target.upstream.secrets));
  }

  #note(turn: Turn, outcome: string, detail: number | string | undefined, startedMs: number): void {
    const { target } = turn.candidate;
    this.#exchange.tries.push({
      upstream: target.upstream.id,
      model: target.model,
      credential: target.upstream.credentials.length === 1 ? undefined : turn.credential.id,
      outcome,
      detail,
      durationMs: performance.now() - startedMs,
    });
  }
}

/** What is held back is for a client; when that one leaves, nobody waits for the rest. */
function untilGone(exchange: Exchange, answer: Answer, screened: Promise<Answer>): Promise<Answer> {
  return new Promise((resolve, reject) => {
    exchange.client.work = {
      clientLeft() {
        answer.cancel();
        reject(new GatewayError('client_closed'));
      },
    };
    screened.then(resolve, reject);
  });
}

/** Nobody was asked at all. */
function refusal(none: NoTurn | undefined, { tries }: Exchange): GatewayError {
  const seconds = Math.max(1, Math.ceil((none?.retryAfterMs ?? 1_000) / 1_000));
  const headers = ['Retry-After', String(seconds)];
  const cause = withReasons(none?.kind ?? 'nobody', none);
  if (none?.kind === 'full' || tries.some(({ outcome }) => outcome === 'queue')) {
    return new GatewayError('overloaded', {
      message: `The upstreams of this model have as many calls as they may have at a time, and their queues are full (upstreams[].limits); try again in ${seconds} s.`,
      headers,
      cause,
    });
  }
  return new GatewayError('no_upstream_available', {
    message: `Every upstream of this model has asked for a pause; try again in ${seconds} s.`,
    headers,
    cause,
  });
}

function withReasons(cause: string, none: NoTurn | undefined): string {
  return none === undefined || none.why.length === 0 ? cause : `${cause}; ${none.why.join('; ')}`;
}
