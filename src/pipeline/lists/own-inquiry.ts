/** Sends the gateway's own requests, for shadows and canaries: with retries, upstream limits and a ledger row. */

import type { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import { observerOf } from '../../answers/relay.ts';
import { Settling, type SettlingDeps } from '../../answers/settling.ts';
import { Allowance, readWhole } from '../../answers/whole-answer.ts';
import type { Ledger, Spending } from '../../core/accounting/spending.ts';
import type { AskForOurselves, OwnInquiry } from '../../core/drift.ts';
import { GatewayError } from '../../core/errors.ts';
import { Exchange } from '../../core/exchange.ts';
import { bareKey } from '../../core/key.ts';
import type { Answer } from '../../core/outcome.ts';
import { noQuery } from '../../core/query.ts';
import type { Route } from '../../core/route.ts';
import type { Snapshot } from '../../core/snapshot.ts';
import type { Clock } from '../../lib/clock.ts';
import { createId } from '../../lib/ids.ts';
import { unknownModel } from '../../plan/find-model.ts';
import { questionReaderOf } from '../../plan/question.ts';
import { routePlanOf, withOnly } from '../../plan/route-plan.ts';
import { estimateOf } from '../../plan/usage/request-estimate.ts';
import { answerFrom, type ListDeps } from './list-answer.ts';

export interface OwnInquiryDeps extends Omit<ListDeps, 'drift'>, SettlingDeps {
  readonly clock: Clock;
  readonly current: () => Snapshot;
  readonly routes: readonly Route[];
  readonly spending: Spending;
  readonly ledger: Ledger;
  readonly installation: string;
}

/** Headers that bypass the cache, which would not show what the upstream answers now. */
const headers: ReadonlyMap<string, string> = new Map([['cache-control', 'no-store']]);
const mostAnswerBytes = 64 * 1024 * 1024;

export function createOwnInquiry(deps: OwnInquiryDeps): AskForOurselves {
  async function ask(exchange: Exchange, route: Route, { model, body, only }: OwnInquiry, settling: Settling) {
    const resolved = exchange.snapshot.models.resolve(model);
    if (resolved === undefined) throw unknownModel(model);
    const question = await questionReaderOf(route)(body);
    const open = routePlanOf(resolved, route);
    const routePlan = only === undefined ? open : withOnly(open, ({ target }) => isSame(target, only));
    exchange.estimate = await estimateOf(question, route, routePlan);
    const reservation = await deps.spending.reserve(exchange, routePlan, exchange.estimate);
    settling.reserved(reservation);
    await deps.ledger.open(exchange, reservation);
    const answer = await answerFrom(
      {
        ...{ exchange, route, question, resolved, routePlan, reservation },
        clientHeaders: headers,
        credential: undefined,
        query: noQuery,
        deadlineMs: performance.now() + routePlan.totalMs,
        isRead: true,
        records: undefined,
        inBackground: false,
      },
      deps,
    );
    return readAll(exchange, answer, settling);
  }

  async function readAll(exchange: Exchange, answer: Answer, settling: Settling): Promise<Buffer> {
    const observer = observerOf(exchange, answer);
    const whole = await readWhole(answer, new Allowance(mostAnswerBytes));
    if ('failure' in whole) throw new GatewayError(whole.failure.code, whole.failure);
    observer.push(whole.body);
    exchange.status = answer.status;
    exchange.responseBytes = whole.body.length;
    await settling.answered(answer, observer);
    if ((answer.meantStatus ?? answer.status) >= 400) throw new Error(`status ${answer.status}`);
    return whole.body;
  }

  return async (inquiry) => {
    const nowMs = deps.clock.nowMs();
    const exchange = new Exchange(createId(nowMs), undefined, deps.current(), nowMs, performance.now());
    const route = deps.routes.find(({ operation }) => operation === inquiry.operation);
    if (route === undefined) throw new TypeError('every operation of lists has a route');
    // A pseudo key for ledger rows of the gateway's own requests.
    exchange.key = bareKey(`postern.${inquiry.on}`, 'file');
    exchange.lane = 'bulk';
    exchange.route = route;
    exchange.path = route.path;
    exchange.modelId = inquiry.model;
    exchange.loopMark = deps.installation;
    exchange.requestBytes = inquiry.body.length;
    const settling = new Settling(exchange, deps);
    try {
      return await ask(exchange, route, inquiry, settling);
    } catch (error) {
      await settling.failed(error);
      throw error;
    } finally {
      exchange.answerLease?.release();
    }
  };
}

const isSame = (a: OwnInquiry['only'], b: OwnInquiry['only']): boolean =>
  a?.upstream.id === b?.upstream.id && a?.model === b?.model;
