/** Decides whether a list goes to its upstream as it is, and makes one answer of several where it does not. */

import type { Usage } from '../../core/accounting/usage.ts';
import type { Candidate, Course } from '../../core/dispatch.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import { type ListAnswered, type Lists, limitsOf, listOperations, type ReadPart, tightest } from '../../core/lists.ts';
import type { Answer } from '../../core/outcome.ts';
import type { Upstream } from '../../core/snapshot.ts';
import type { Translated } from '../../core/translation.ts';
import { headerValue } from '../../lib/raw-headers.ts';
import { WholeMadeAnswer, withoutBodyHeaders } from '../answers/made-answer.ts';
import { Allowance } from '../answers/whole-answer.ts';
import { type AttemptDeps, attempt } from '../calls/attempt.ts';
import type { Plan } from '../calls/plan.ts';
import type { QuestionReader } from '../question.ts';
import { ReadingRoom } from '../reading-room.ts';
import { listIn } from '../usage/asking.ts';
import { PartCall, withOnly } from './part-call.ts';
import { SharedRooms } from './shared-rooms.ts';

export interface ListDeps extends AttemptDeps {
  readonly lists: Lists;
}

const quickLimits = new WeakMap<Course, QuickLimits>();

/** What fits these fits whoever may be asked: told without a look at the list. */
interface QuickLimits {
  readonly items: number;
  readonly bodyBytes: number;
}

const none: QuickLimits = { items: Number.POSITIVE_INFINITY, bodyBytes: Number.POSITIVE_INFINITY };
/** Rarely fewer bytes than that make a token. */
const fewestBytesPerToken = 3;

function quickLimitsOf({ exchange, course }: Plan): QuickLimits {
  const known = quickLimits.get(course);
  if (known !== undefined) return known;
  const operation = exchange.route?.operation;
  const isList = operation !== undefined && listOperations.has(operation);
  const limits = isList ? toQuick(course.tiers.flat()) : none;
  quickLimits.set(course, limits);
  return limits;
}

function toQuick(candidates: readonly Candidate[]): QuickLimits {
  const { items = none.items, bytes = none.bodyBytes, tokens = none.bodyBytes } = tightest(candidates.map(limitsOf));
  return { items, bodyBytes: Math.min(bytes, tokens * fewestBytesPerToken) };
}

/** Asks as the client asked where that is possible; else for some of it at a time. */
export function answerTo(plan: Plan, read: QuestionReader, deps: ListDeps): Promise<Answer> {
  const { items, bodyBytes } = quickLimitsOf(plan);
  const count = plan.exchange.asking?.items ?? 1;
  return (count > items && count > 1) || plan.question.body.length > bodyBytes
    ? answerInParts(plan, read, deps)
    : attempt(plan, deps);
}

async function answerInParts(plan: Plan, read: QuestionReader, deps: ListDeps): Promise<Answer> {
  const { exchange, question, route, resolved, course } = plan;
  const list = listIn(question, route);
  if (list === undefined) return attempt(plan, deps);
  const items = exchange.asking?.items ?? 1;
  if (items > mostItems) return attempt({ ...plan, course: unbounded(course, items) }, deps);
  new ReadingRoom(exchange.requestRoom).take(items);
  const partDeps = {
    ...deps,
    answerRooms: new SharedRooms(exchange, deps.answerRooms),
    allowanceOf: allowances(),
  };
  const answered = await deps.lists.answer({
    exchange,
    resolved,
    body: question.body,
    list,
    candidates: course.tiers.flat(),
    deadlineMs: plan.deadlineMs,
    asOne: (fits) => attempt(fits === undefined ? plan : { ...plan, course: withOnly(course, fits) }, deps),
    ask: (part) => new PartCall(plan, part, read, partDeps),
  });
  return 'parts' in answered ? toAnswer(exchange, answered) : answered;
}

/** More than anyone asks for in earnest; each of them is looked at. */
const mostItems = 50_000;

/** Those who may take a list of any length; throws where there are none. */
function unbounded(course: Course, items: number): Course {
  const open = withOnly(course, (one) => toQuick([one]).bodyBytes === none.bodyBytes && toQuick([one]).items >= items);
  if (open.tiers.length > 0) return open;
  throw new GatewayError('body_too_large', {
    message: `The list has ${items} items, more than the upstreams of this model take in one call, and a list of more than ${mostItems} is not taken apart; send it in smaller requests.`,
  });
}

function allowances(): (upstream: Upstream) => Allowance {
  const known = new Map<Upstream, Allowance>();
  return (upstream) => {
    const allowance = known.get(upstream) ?? new Allowance(upstream.answerLimitBytes);
    known.set(upstream, allowance);
    return allowance;
  };
}

function toAnswer(exchange: Exchange, { bytes, parts }: ListAnswered): Answer {
  const [first] = parts;
  if (first === undefined) throw new GatewayError('internal_error', { cause: 'an answer without a call' });
  const { answer } = first;
  exchange.parts = parts.map((part) => part.exchange);
  exchange.target = first.exchange.target;
  exchange.credential = first.exchange.credential;
  exchange.sentAtMs = Math.min(...parts.map((part) => part.answer.sentAtMs));
  exchange.firstByteAtMs = Math.max(...parts.map((part) => part.answer.firstByteAtMs));
  const usage = sumOf(parts.map((part) => part.exchange.usage));
  const contentType = headerValue(answer.headers, 'content-type');
  return new WholeMadeAnswer({
    status: answer.status,
    statusText: answer.statusText,
    headers: withoutBodyHeaders(answer.headers),
    sentAtMs: exchange.sentAtMs,
    firstByteAtMs: exchange.firstByteAtMs,
    body: bytes,
    ...(contentType !== undefined && { contentType }),
    translated: translatedOf(parts, usage),
    ignored: namesIn(parts.map((part) => part.answer.ignored)),
    ...(usage !== null && { countedApart: usage }),
  });
}

function translatedOf(parts: readonly ReadPart[], usage: Usage | null): Translated | undefined {
  const all = parts.flatMap(({ answer: { translated } }) => (translated === undefined ? [] : [translated]));
  const [first] = all;
  if (first === undefined) return undefined;
  const ignored = namesIn(all.map((one) => one.ignored)) ?? [];
  return { by: first.by, ignored, isEstimated: all.some(({ isEstimated }) => isEstimated), usage };
}

function namesIn(lists: readonly (readonly string[] | undefined)[]): readonly string[] | undefined {
  const names = new Set(lists.flatMap((names) => names ?? []));
  return names.size === 0 ? undefined : [...names];
}

/** Null where one of them says nothing. */
function sumOf(usages: readonly (Usage | null)[]): Usage | null {
  const said = usages.filter((usage) => usage !== null);
  const [first] = said;
  if (first === undefined || said.length < usages.length) return null;
  if (said.length === 1) return first;
  const sum = (of: (usage: Usage) => number | null | undefined): number | null =>
    said.reduce<number | null>((total, usage) => plus(total, of(usage) ?? null), 0);
  return {
    promptTokens: sum(({ promptTokens }) => promptTokens),
    completionTokens: sum(({ completionTokens }) => completionTokens),
    totalTokens: sum(({ totalTokens }) => totalTokens),
    searchUnits: sum(({ searchUnits }) => searchUnits),
    cachedTokens: sum(({ cachedTokens }) => cachedTokens),
  };
}

const plus = (a: number | null, b: number | null): number | null => (a === null || b === null ? null : a + b);
