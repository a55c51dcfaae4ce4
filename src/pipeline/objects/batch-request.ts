/** Validates the request in a line of a batch file as strictly as a direct call. */

import type { Buffer } from 'node:buffer';
import type { RequestEstimate } from '../../core/accounting/price.ts';
import { missingField } from '../../core/client-api.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { KeyRecord } from '../../core/key.ts';
import { noQuery } from '../../core/query.ts';
import type { Route } from '../../core/route.ts';
import type { ResolvedModel } from '../../core/snapshot.ts';
import { modelNotAllowed, notSupported, unknownModel } from '../../plan/find-model.ts';
import { namedObjectsIn } from '../../plan/named-objects.ts';
import { otherModelsIn, refusedModel } from '../../plan/other-models.ts';
import { ParsingMemory } from '../../plan/parsing-memory.ts';
import { nameAt } from '../../plan/planned-call.ts';
import { checkStandIn, modelNameOf, type Question, questionReaderOf } from '../../plan/question.ts';
import { routePlanOf } from '../../plan/route-plan.ts';
import { estimateOf } from '../../plan/usage/request-estimate.ts';
import { locationOf, type ObjectLocation, routePlanAt } from './object-location.ts';
import { type ObjectRegistry, ownerOf } from './object-registry.ts';

export interface RequestJudge {
  readonly objects: ObjectRegistry;
  mayUseModel(key: KeyRecord, modelId: string): boolean;
}

export interface BatchAsker {
  readonly exchange: Exchange;
  readonly key: KeyRecord;
  readonly location: ObjectLocation;
}

export interface JudgedRequest {
  readonly resolved: ResolvedModel;
  readonly upstreamModel: string;
  readonly estimate: RequestEstimate;
  /** The position of the model's name in the line, which is replaced where the upstream has another name. */
  readonly span: { readonly start: number; readonly end: number } | undefined;
}

export async function judgeRequest(
  body: Buffer,
  route: Route,
  { exchange, key, location }: BatchAsker,
  { objects, mayUseModel }: RequestJudge,
): Promise<JudgedRequest> {
  const question = await questionReaderOf(route)(body);
  const { snapshot } = exchange;
  const name = modelNameOf(question);
  if (name === undefined) throw missingField('model', 'a string');
  const resolved = snapshot.models.resolve(name);
  if (resolved === undefined || (route.row.visibleModelsOnly && !resolved.model.visible)) throw unknownModel(name);
  if (!mayUseModel(key, resolved.id)) throw modelNotAllowed(name, snapshot);
  if (!resolved.model.operations.includes(route.operation)) throw notSupported(resolved.id, route);
  checkStandIn(question, resolved.model.acceptsMessages, undefined);
  if (question.mayNameOthers) {
    // A file has one name for its model, and one price.
    const [other] = await otherModelsIn(question, route, noQuery);
    if (other !== undefined) throw refusedModel(other.param);
  }
  for (const field of ['stream', 'background']) checkIsOff(question, field);
  const named = await namedObjectsIn(question, route, new ParsingMemory(exchange.requestLease));
  const lies = await locationOf(named, { owner: ownerOf(key), snapshot }, objects);
  if (lies?.param !== undefined && (lies.upstream !== location.upstream || lies.credential !== location.credential)) {
    throw new GatewayError('unsupported_parameter', {
      param: lies.param,
      message: `The object in "${lies.param}" is not stored with the files of this project; send its content instead.`,
    });
  }
  const { routePlan, credential } = routePlanAt(
    routePlanOf(resolved, route),
    { ...location, param: undefined },
    resolved.id,
  );
  const [candidate] = routePlan.tiers.flat();
  if (credential === undefined || candidate === undefined) throw elsewhere(resolved.id);
  const { offer, target } = candidate;
  // The upstream processes the file itself, so no line can be translated.
  if (offer.translation !== undefined || offer.make !== undefined) throw elsewhere(resolved.id);
  const estimate = await estimateOf(question, route, { ...routePlan, tiers: [[candidate]] }, lies?.param);
  const upstreamModel = nameAt(target, resolved);
  const span = name === upstreamModel ? undefined : question.modelField;
  return { resolved, upstreamModel, estimate, span };
}

const LOWER_F = 0x66;

/** Refuses a request for a stream or for background work, neither of which a file can answer. */
function checkIsOff({ body, scan }: Question, name: string): void {
  const field = scan.fields.get(name);
  if (field === undefined || field.kind === 'null' || (field.kind === 'boolean' && body[field.start] === LOWER_F))
    return;
  throw new GatewayError('unsupported_parameter', {
    param: name,
    message: `A batch is answered in a file, so "${name}" must be false or left out.`,
  });
}

function elsewhere(modelId: string): GatewayError {
  return new GatewayError('operation_not_supported', {
    param: 'model',
    message: `The model ${JSON.stringify(modelId)} is not served, byte for byte, by the upstream that keeps the files of this project (projects[].files), so no batch can ask it.`,
  });
}
