/** Serves files at the upstream that the operator names for a project: upload, list, download and delete. All are free. */

import { Buffer } from 'node:buffer';
import { HeldAnswer } from '../../answers/held-answer.ts';
import { ownLines } from '../../answers/own-headers.ts';
import type { Answered } from '../../answers/relay.ts';
import { forNothing } from '../../core/accounting/price.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Exchange } from '../../core/exchange.ts';
import type { KeyRecord } from '../../core/key.ts';
import type { ObjectRoute } from '../../core/object-route.ts';
import type { Answer } from '../../core/outcome.ts';
import { noQuery } from '../../core/query.ts';
import type { Credential, Upstream } from '../../core/snapshot.ts';
import type { BackgroundStore } from '../../core/store/background-answers.ts';
import type { BatchInput, StoredObject, StoredObjectStore } from '../../core/store/stored-objects.ts';
import type { FormPart, Upload } from '../../core/upload.ts';
import { plainName } from '../../lib/multipart/part-head.ts';
import type { Plan } from '../../plan/planned-call.ts';
import { attempt } from '../calls/attempt.ts';
import { duplicatePart } from '../form-question.ts';
import type { PipelineDeps } from '../pipeline.ts';
import type { BatchInputJudge } from './batch-input.ts';
import { noQuestion, notFound, type ObjectPipeline, openWith, planAbout } from './by-id.ts';
import { locationOfObject } from './object-location.ts';
import { inTime, ownerOf } from './object-registry.ts';
import {
  type AskedThere,
  answerList,
  outputsIn,
  pipelineOf,
  type Said,
  saidIn,
  toDocument,
  type Way,
  wayTo,
} from './object-service.ts';

type Deps = Omit<PipelineDeps, 'routes' | 'mayUseModel'> & {
  readonly files: Pick<StoredObjectStore, 'page' | 'find'>;
  /** Store of the batches whose cost is still unknown. */
  readonly openBatches: Pick<BackgroundStore, 'ofProject'>;
  readonly judgeBatch: BatchInputJudge;
};

type Destination = Way & { readonly credential: Credential };

const pages = { standard: 1_000, most: 10_000 };

export function createFilePipeline(deps: Deps): ObjectPipeline {
  const { objects, files } = deps;

  async function make(asked: AskedThere, about: ObjectRoute, upload: Buffer | Upload): Promise<Answered> {
    if (Buffer.isBuffer(upload)) throw new TypeError('a file comes as a form');
    const { exchange, key, upstream } = asked;
    exchange.upload = upload;
    const { file, purpose } = readFileForm(upload.parts);
    const credential = upstream.credentials.find(({ weight }) => weight > 0);
    if (credential === undefined) throw new GatewayError('no_upstream_available');
    if (purpose !== forBatches) deps.checkOperation(key, about.of.operation);
    else if (upstream.batchesPath === undefined) throw noBatches(purpose);
    const judged =
      purpose === forBatches
        ? await deps.judgeBatch(upload, file, { exchange, key, location: { upstream, credential } })
        : { body: upload.body, input: undefined };
    const call = { method: about.method, behind: '', query: noQuery, body: judged.body };
    return send(asked, about, { ...filesOf(upstream), credential }, call, judged.input);
  }

  async function askAbout(asked: AskedThere, about: ObjectRoute, id: string): Promise<Answered> {
    const object = await findOwn(asked, id);
    const location = locationOfObject(object, asked.exchange.snapshot);
    if (location === undefined || location.upstream.filesPath === undefined) throw notFound(about);
    if (about.forgets && (await isOfOpenBatch(object, asked.key))) throw notBilledYet();
    const call = { method: about.method, behind: `/${encodeURIComponent(id)}${about.tail}`, query: noQuery };
    const answered = await send(asked, about, { ...filesOf(location.upstream), credential: location.credential }, call);
    if (about.forgets && answered.answer.status < 300) await objects.forget(object);
    return answered;
  }

  /** Whether the file is the output of a batch whose cost is still to be read from it. */
  async function isOfOpenBatch({ id, upstream, model }: StoredObject, { project }: KeyRecord): Promise<boolean> {
    // Only output files of batches have a model.
    if (project === undefined || model === '') return false;
    const what = 'Whether it is still needed cannot be looked up just now';
    const open = await inTime(deps.openBatches.ofProject(project), what);
    const names = open.map((batch) => ({ kind: 'batch', id: batch.id }) as const);
    const found = await inTime(files.find(names), what);
    return found.some((batch) => {
      const said = batch.document === undefined ? undefined : saidIn(batch.document);
      return batch.upstream === upstream && said !== undefined && outputsIn(said).includes(id);
    });
  }

  async function findOwn({ key }: AskedThere, id: string): Promise<StoredObject> {
    const own = await objects.findOwn({ kind: 'file', id }, ownerOf(key));
    if (own === undefined) throw notFound({ kind: 'file' });
    return own;
  }

  async function send(
    { exchange, settling, request }: AskedThere,
    { route, records }: ObjectRoute,
    { routePlan, credential, resolved }: Destination,
    about: NonNullable<Plan['about']>,
    input?: BatchInput,
  ): Promise<Answered> {
    const reservation = await openWith(deps, exchange, routePlan, forNothing, settling);
    const sent = { exchange, route, clientHeaders: request.fields, resolved, routePlan, credential, reservation };
    const plan = planAbout(sent, about, about.body === undefined ? undefined : records);
    const attempted = await attempt(plan, deps);
    const answer = about.body === undefined ? attempted : await recordFile(exchange, attempted, input);
    return { answer, lines: ownLines(exchange, answer, resolved, noQuestion, reservation) };
  }

  /** Records an uploaded file with its document, from which lists are made. */
  async function recordFile(exchange: Exchange, answer: Answer, input: BatchInput | undefined): Promise<Answer> {
    const { key, target, credential } = exchange;
    if (answer.status >= 300 || key === undefined || target === undefined || credential === undefined) return answer;
    const held = new HeldAnswer(answer);
    exchange.client.work = { clientLeft: () => held.cancel() };
    const text = (await held.beginning).toString();
    const id = held.ended ? saidIn(text)?.id : undefined;
    if (id === undefined) return held;
    const lies = { owner: ownerOf(key), upstream: target.upstream.id, credential: credential.fingerprint };
    const createdAtMs = deps.clock.nowMs();
    const document = toDocument(text);
    await objects.record([{ kind: 'file', id, ...lies, model: '', createdAtMs, document, input }]);
    return held;
  }

  async function list(asked: AskedThere): Promise<Answered> {
    const { exchange, key, upstream, query, settling } = asked;
    const { routePlan, resolved } = filesOf(upstream);
    const cursor = query.get('after');
    const after = cursor === undefined ? undefined : await findOwn(asked, cursor);
    const reservation = await openWith(deps, exchange, routePlan, forNothing, settling);
    const purpose = query.get('purpose');
    const answer = await answerList(files, {
      kind: 'file',
      owner: ownerOf(key),
      isShown: (_, said) => isThereStill(said) && (purpose === undefined || said.purpose === purpose),
      query,
      after,
      limit: pages,
    });
    return { answer, lines: ownLines(exchange, answer, resolved, noQuestion, reservation) };
  }

  return pipelineOf(deps, { make, list, askAbout });
}

const filesOf = (upstream: Upstream): Way => wayTo(upstream, upstream.filesPath ?? '');

/** Whether a list shows the file: expired files, which the upstream no longer lists, are left out. */
const isThereStill = ({ expires_at: expiresAt }: Said): boolean =>
  typeof expiresAt !== 'number' || expiresAt * 1_000 >= Date.now();

function noBatches(purpose: string): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param: 'purpose',
    message: `The upstream that keeps the files of this project works off no batches, so no file has the purpose "${purpose}".`,
  });
}

/** The error for deleting an output file before its batch is billed: the batch's cost could then never be known. */
function notBilledYet(): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param: 'id',
    message: 'What the batch of this file costs is still to be read from it; delete it in a minute.',
  });
}

/** The purpose of files whose lines are validated before the upload. */
const forBatches = 'batch';
const purposes: readonly string[] = ['assistants', forBatches, 'evals', 'fine-tune', 'user_data', 'vision'];

interface FileForm {
  readonly file: FormPart;
  readonly purpose: string;
}

function readFileForm(parts: readonly FormPart[]): FileForm {
  const file = onlyPart(parts, 'file');
  if (file.filename === undefined) throw wrong('file', 'a file, with a file name');
  const purpose = onlyPart(parts, 'purpose');
  if (purpose.filename !== undefined || purpose.text === undefined) throw wrong('purpose', 'plain text');
  const said = purpose.text.toString('latin1');
  if (purposes.includes(said)) return { file, purpose: said };
  throw new GatewayError('unsupported_parameter', {
    param: 'purpose',
    message: `The purpose of a file must be one of ${purposes.join(', ')}.`,
  });
}

function onlyPart(parts: readonly FormPart[], name: string): FormPart {
  const [part, another] = parts.filter((one) => plainName(one.name) === name);
  if (part === undefined) {
    throw new GatewayError('missing_required_parameter', {
      param: name,
      message: `The part "${name}" is missing; send it.`,
    });
  }
  if (another !== undefined) throw duplicatePart(name);
  if (part.name !== name) throw wrong(name, `called "${name}"`);
  return part;
}

function wrong(param: string, wanted: string): GatewayError {
  return new GatewayError('invalid_type', { param, message: `The part "${param}" must be ${wanted}.` });
}
