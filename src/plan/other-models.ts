/** Finds the models that a request names besides its main one. Each is authorised and renamed for the upstream; other values are refused. */

import { Buffer } from 'node:buffer';
import type { RequestEstimate } from '../core/accounting/price.ts';
import { type CallBody, inOnePiece, withSpan } from '../core/call-body.ts';
import { noCaps } from '../core/caps.ts';
import type { Candidate, RoutePlan } from '../core/dispatch.ts';
import { GatewayError } from '../core/errors.ts';
import { isCalledLikeModel, isDataName, modelFields } from '../core/model-fields.ts';
import { upstreamNameOf } from '../core/model-name.ts';
import { noQuery, type Query } from '../core/query.ts';
import type { Route } from '../core/route.ts';
import type { ResolvedModel, Target } from '../core/snapshot.ts';
import { elementsOf, type JsonSpan, membersOf } from '../lib/json/json-elements.ts';
import { compileWatchedKeys, scanJson, textOf } from '../lib/json/json-scan.ts';
import { LOWER_F, LOWER_N, LOWER_T, OPEN_BRACE, OPEN_BRACKET, QUOTE } from '../lib/json/json-tokens.ts';
import { atOnce, timeSliced } from '../lib/time-slices.ts';
import { duplicate, type NamedModel, type Question } from './question.ts';

export interface OtherModel extends NamedModel {
  readonly resolved: ResolvedModel;
}

const oneSliceBytes = 64 * 1024;
const looksPerSlice = 512;
/** Limit of a model name in a body; no real name is longer, even if every character is escaped. */
const longestNameBytes = 4_096;

/** The further models that a request names. Only called where `Question.mayNameOthers` is set. */
export function otherModelsIn(
  question: Question,
  route: Route,
  query: Query,
): readonly NamedModel[] | Promise<readonly NamedModel[]> {
  const { form, body } = question;
  const beside = route.own === undefined ? [] : inQuery(query);
  if (form !== undefined) return [...form.otherModels, ...beside];
  const found: NamedModel[] = [...beside];
  const looking = look(question, route, found);
  if (body.length > oneSliceBytes) return timeSliced(looking).then(() => found);
  atOnce(looking);
  return found;
}

function* look(
  { body, scan, modelField }: Question,
  route: Route,
  found: NamedModel[],
): Generator<undefined, void, undefined> {
  const walk = new Walk(body, found, new Set(route.model.again));
  for (const { name, isContainer } of modelFields) {
    if (scan.foldedOnly.includes(name)) yield* checkOtherSpellings(body, name, isContainer === true);
    const field = scan.fields.get(name);
    if (field === undefined || field === modelField) continue;
    if (isContainer) yield* walk.through(field, name);
    else walk.name(field, name);
  }
  if (route.own === undefined || modelField?.name === 'model') return;
  if (scan.foldedOnly.includes('model')) throw refusedModel('model');
  const field = scan.fields.get('model');
  if (field !== undefined) walk.name(field, 'model');
}

/** Checks fields whose name differs only in letter case: some upstreams read them too. */
function* checkOtherSpellings(body: Buffer, name: string, isContainer: boolean): Generator<undefined, void, undefined> {
  for (const member of membersOf(body, spanOf(body))) {
    if (member.name.toUpperCase().toLowerCase() !== name.toLowerCase()) continue;
    const found: NamedModel[] = [];
    const walk = new Walk(body, found, new Set());
    if (isContainer) yield* walk.through(member, name);
    else walk.name(member, name);
    if (found.length > 0) throw refusedModel(name);
  }
}

function spanOf(body: Buffer): JsonSpan {
  return { start: body.indexOf(OPEN_BRACE), end: body.length };
}

class Walk {
  readonly #body: Buffer;
  readonly #found: NamedModel[];
  /** Positions where the body repeats the path's model. */
  readonly #again: ReadonlySet<string>;
  #looks = 0;

  constructor(body: Buffer, found: NamedModel[], again: ReadonlySet<string>) {
    this.#body = body;
    this.#found = found;
    this.#again = again;
  }

  *through(span: JsonSpan, param: string): Generator<undefined, void, undefined> {
    const first = this.#body[span.start];
    this.#looks += 1;
    if (this.#looks % looksPerSlice === 0) yield;
    if (first === OPEN_BRACKET) {
      let index = 0;
      for (const element of elementsOf(this.#body, span)) {
        yield* this.through(element, `${param}[${index}]`);
        index += 1;
      }
    }
    if (first !== OPEN_BRACE) return;
    for (const member of membersOf(this.#body, span)) {
      const inner = `${param}.${member.name.slice(0, 80).toWellFormed()}`;
      if (isCalledLikeModel(member.name)) {
        if (!this.#again.has(inner)) this.name(member, inner);
      } else if (!isDataName(member.name)) yield* this.through(member, inner);
    }
  }

  /** Reads a name, a list of names, or an object that has only a name. */
  name(span: JsonSpan, param: string, isInList = false): void {
    const { start, end } = span;
    switch (this.#body[start]) {
      case LOWER_N:
      case LOWER_F:
      case LOWER_T:
        return;
      case QUOTE: {
        if (end - start > longestNameBytes) throw refusedModel(param);
        this.#found.push({ param, name: textOf(this.#body, span), at: { start, end } });
        return;
      }
      case OPEN_BRACKET:
        if (isInList) throw refusedModel(param);
        for (const element of elementsOf(this.#body, span)) this.name(element, param, true);
        return;
      case OPEN_BRACE: {
        const [member, another] = membersOf(this.#body, span);
        if (member === undefined) return;
        if (another !== undefined || member.name !== 'model' || this.#body[member.start] !== QUOTE) {
          throw refusedModel(param);
        }
        this.name(member, param);
        return;
      }
      default:
        throw refusedModel(param);
    }
  }
}

/** Model names in the query of a custom route, whose parameter names are the operator's. */
function inQuery({ text }: Query): NamedModel[] {
  if (text === '') return [];
  return [...new URLSearchParams(text)].flatMap(([param, name]) =>
    isCalledLikeModel(param) ? [{ param, name, at: 'query' as const }] : [],
  );
}

/** The refusal of a further model. The same text for unknown, forbidden, invalid and elsewhere served names, so that it reveals nothing. */
export function refusedModel(param: string, hidden?: 'model_not_allowed'): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `The field "${param}" tells the upstream a model, and what stands there is no model that can be used there; leave it out, or send the name of a model that GET /v1/models lists and the same upstream serves.`,
    ...(hidden !== undefined && { recordedAs: hidden }),
  });
}

/** The target that serves the other model: the chosen target itself, else one at the same upstream. */
function targetOf({ resolved: { model } }: OtherModel, near: Target): Target | undefined {
  if (model.targets.includes(near)) return near;
  return model.targets.find((target) => target.upstream === near.upstream && target.weight > 0);
}

/** The targets that serve all models named by the request. Throws where there are none. */
export function routePlanWith(routePlan: RoutePlan, others: readonly OtherModel[]): RoutePlan {
  const serves = (other: OtherModel, { target }: Candidate): boolean => targetOf(other, target) !== undefined;
  let { tiers } = routePlan;
  for (const other of others) {
    // A model's own caps apply only where it is requested directly.
    if (other.resolved.model !== routePlan.model && other.resolved.model.caps !== noCaps)
      throw refusedModel(other.param);
    tiers = tiers.map((tier) => tier.filter((one) => serves(other, one))).filter((tier) => tier.length > 0);
    if (tiers.length === 0) throw refusedModel(other.param);
  }
  return { ...routePlan, tiers };
}

/** The estimate with the prices of all models that may take part. */
export function estimateWith(
  estimate: RequestEstimate,
  { tiers }: RoutePlan,
  others: readonly OtherModel[],
): RequestEstimate {
  const prices = others.flatMap((other) =>
    tiers.flat().flatMap(({ target }) => {
      const at = targetOf(other, target);
      return at === target ? [] : [{ param: other.param, price: at?.price }];
    }),
  );
  return prices.length === 0 ? estimate : { ...estimate, others: prices };
}

interface Patch extends JsonSpan {
  readonly text: string;
}

/** The request with the target's names of the further models; `moved` converts an offset in the old body to the new one. */
export interface Renamed {
  readonly question: Question;
  readonly moved: (offset: number) => number;
}

export function renamedAt(
  question: Question,
  others: readonly OtherModel[],
  target: Target,
  modelField: string,
): Renamed {
  const isForm = question.form !== undefined;
  const patches: Patch[] = others.flatMap((other) => {
    if (other.at === 'query') return [];
    const name = nameAt(other, target);
    return name === other.name ? [] : [{ ...other.at, text: isForm ? name : JSON.stringify(name) }];
  });
  const byStart = patches.toSorted((one, another) => another.start - one.start);
  const patched = (body: CallBody): CallBody =>
    byStart.reduce<CallBody>((written, { start, end, text }) => withSpan(written, start, end, text), body);
  const moved = (offset: number): number =>
    byStart.reduce(
      (at, { start, end, text }) => (start < offset ? at + Buffer.byteLength(text) - (end - start) : at),
      offset,
    );
  return { question: isForm ? inForm(question, patched, moved) : inJson(question, patched, modelField), moved };
}

function inForm(question: Question, patched: (body: CallBody) => CallBody, moved: Renamed['moved']): Question {
  const { form } = question;
  if (form === undefined) return question;
  const { model } = form;
  const body = patched(form.body);
  return {
    ...question,
    form: { ...form, body, model: model && { ...model, start: moved(model.start), end: moved(model.end) } },
  };
}

function inJson(question: Question, patched: (body: CallBody) => CallBody, name: string): Question {
  const body = inOnePiece(patched(question.body));
  const scan = scanJson(body, compileWatchedKeys([...new Set([name, 'stream_options'])]));
  if (!scan.ok) throw scan.fault === 'duplicate' ? duplicate(scan.name ?? '') : new TypeError('it was JSON before');
  return { ...question, body, scan, modelField: question.modelField && scan.fields.get(name) };
}

function nameAt(other: OtherModel, target: Target): string {
  const at = targetOf(other, target);
  if (at === undefined) throw refusedModel(other.param);
  return upstreamNameOf(at.model, other.resolved.matched);
}

export function queryAt(query: Query, others: readonly OtherModel[], target: Target): Query {
  const named = others.filter(({ at }) => at === 'query');
  if (named.length === 0) return query;
  const written = [...new URLSearchParams(query.text)].map(([param, value]) => {
    const other = named.find((one) => one.param === param && one.name === value);
    return `${encodeURIComponent(param)}=${encodeURIComponent(other === undefined ? value : nameAt(other, target))}`;
  });
  return { ...noQuery, text: written.join('&') };
}
