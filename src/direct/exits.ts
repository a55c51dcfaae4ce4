/**
 * The exits of the direct path: where the general path takes a request over, with what was read, reserved and tried. Nothing was
 * promised to the client before any of them.
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

/** Both paths have the same parts. */
export interface DirectDeps extends PipelineDeps {
  readonly pipeline: Pipeline;
  /** Sends a call over the network. */
  call(call: Call, waiter: OutcomeWaiter): void;
  takeJsonBody(exchange: Exchange, request: ServerRequest, response: ServerAnswer, waiter: BodyWaiter): void;
}

/** What the client asked, and who waits for its end. */
export interface Asked {
  readonly exchange: Exchange;
  readonly route: Route;
  readonly modelFromPath: string | undefined;
  readonly request: ServerRequest;
  readonly response: ServerAnswer;
  readonly ended: Handover;
  readonly read: QuestionReader;
}

/** After the body, or before it was read: the request needs more than passing on. */
export function leave(asked: Asked, pipeline: Pipeline, begun: Begun): void {
  const { exchange, route, modelFromPath, request, response, ended } = asked;
  follow(pipeline.serve(exchange, route, modelFromPath, request, response, begun), ended);
}

/** Before sending, as nobody is free; or at the answer's head, as its outcome has to be judged and others may be asked. */
export function goOn(asked: Asked, pipeline: Pipeline, plan: Plan, settling: Settling, first: FirstCall): void {
  follow(pipeline.goOn(plan, asked.response, settling, first), asked.ended);
}

function follow(served: Promise<void>, ended: Handover): void {
  served.then(
    () => ended.resolve(),
    (error: unknown) => ended.reject(error),
  );
}
