/**
 * Hands a request over from the direct path to the general path, with what was read, reserved and tried, before anything is sent to the client.
 */

import type { Handover } from '../answers/relay.ts';
import type { Settling } from '../answers/settling.ts';
import type { Exchange } from '../core/exchange.ts';
import type { BodyWaiter } from '../core/memory-lease.ts';
import type { Call, OutcomeWaiter } from '../core/outcome.ts';
import type { Route } from '../core/route.ts';
import type { FirstCall } from '../pipeline/calls/attempt.ts';
import type { Begun, Pipeline, PipelineDeps } from '../pipeline/pipeline.ts';
import type { Plan } from '../plan/planned-call.ts';
import type { QuestionReader } from '../plan/question.ts';
import type { ServerAnswer } from '../wire/server-answer.ts';
import type { ServerRequest } from '../wire/server-request.ts';

export type { FirstCall };

export interface DirectDeps extends PipelineDeps {
  readonly pipeline: Pipeline;
  call(call: Call, waiter: OutcomeWaiter): void;
  takeJsonBody(exchange: Exchange, request: ServerRequest, response: ServerAnswer, waiter: BodyWaiter): void;
}

export interface Asked {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly modelFromPath: string | undefined;
  readonly request: ServerRequest;
  readonly response: ServerAnswer;
  readonly ended: Handover;
  readonly read: QuestionReader;
}

/** Hands a request over after its body, or before it was read, because it needs more than passing bytes on. */
export function leave(asked: Asked, pipeline: Pipeline, begun: Begun): void {
  const { exchange, route, modelFromPath, request, response, ended } = asked;
  follow(pipeline.serve(exchange, route, modelFromPath, request, response, begun), ended);
}

/** Hands a request over before sending, as no target is free; or at the answer's head, as the outcome needs judging and others may be called. */
export function goOn(asked: Asked, pipeline: Pipeline, plan: Plan, settling: Settling, first: FirstCall): void {
  follow(pipeline.goOn(plan, asked.response, settling, first), asked.ended);
}

function follow(served: Promise<void>, ended: Handover): void {
  served.then(
    () => ended.resolve(),
    (error: unknown) => ended.reject(error),
  );
}
