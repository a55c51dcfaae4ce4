/** Prepares the chosen response for the client: searches it for credentials, and rewrites an error in the gateway's format. */

import type { Buffer } from 'node:buffer';
import type { Candidate, TargetLease } from '../core/dispatch.ts';
import { upstreamError } from '../core/errors.ts';
import type { Exchange } from '../core/exchange.ts';
import type { Answer } from '../core/outcome.ts';
import { compileWatchedKeys, scanJsonOfAnyLength } from '../lib/json/json-scan.ts';
import { writeJson } from '../lib/json/json-text.ts';
import { type Plan, translationFor } from '../plan/planned-call.ts';
import { type ErrorReader, inOurWords } from './foreign-error.ts';
import { screenError, screenSuccess } from './screen.ts';
import { searchFor } from './secret-search.ts';
import { untilGone } from './until-gone.ts';
import type { Verdict } from './verdict.ts';

/** Groups of names that services use for the same field, the client's own name among them. */
const sameThings: readonly (readonly string[])[] = [
  'input inputs texts text inputText content contents parts requests instances documents passages sources prompt messages',
  'query queries textQuery',
  'dimensions dimension output_dimension output_dimensionality outputDimensionality embeddingDimension',
  'encoding_format embedding_types embedding_type embeddingTypes output_dtype',
  'input_type task task_type taskType embeddingPurpose',
  'top_n top_k topN numberOfResults',
  'return_documents return_text return_input',
  'max_tokens max_completion_tokens max_output_tokens maxTokens',
  'model model_id modelId modelArn',
].map((names) => names.split(' '));

const mostSteps = 12;
const mostNames = 30;

/** The reader of an error from this target: the client, its format, and how to find the field that is meant. */
function readerOf(plan: Plan, candidate: Candidate): ErrorReader {
  return {
    shape: plan.exchange.shape,
    errorShape: plan.exchange.errorShape,
    isTranslated: translationFor(plan, candidate) !== undefined,
    write: (status, message) => writeError(plan.exchange, status, message),
    fieldFor: (param) => clientParam(param, plan.question.body),
  };
}

function writeError({ clientApi, id }: Plan['exchange'], status: number, message: string): Buffer {
  const said = clientApi?.error?.({ status, message, id });
  return writeJson(said ?? { error: { message, ...upstreamError(status), param: null } });
}

/** The client's name for the field that an upstream's error names; undefined if the client sent no such field. */
export async function clientParam(said: string, body: Buffer): Promise<string | undefined> {
  const steps = said
    .split(/\W+/)
    .filter((step) => /^[A-Za-z_]\w{0,40}$/.test(step))
    .slice(0, mostSteps);
  const others = steps.flatMap((step) => sameThings.filter((names) => names.includes(step)).flat());
  const candidates = withoutRepeats([...steps, ...others]);
  if (candidates.length === 0) return undefined;
  const watched = compileWatchedKeys(candidates);
  const scan = await scanJsonOfAnyLength(body, watched);
  // The client's own names first: names of other services may be listed before them.
  return scan.ok ? candidates.find((name) => scan.fields.get(name) !== undefined) : undefined;
}

function withoutRepeats(names: readonly string[]): string[] {
  const byFolded = new Map<string, string>();
  for (const name of names) {
    const folded = name.toUpperCase();
    if (!byFolded.has(folded)) byFolded.set(folded, name);
  }
  return [...byFolded.values()].slice(0, mostNames);
}

/** Records in the exchange which target and credential produced the answer that the client gets. */
export function note(exchange: Exchange, answer: Answer, { candidate, credential }: TargetLease): void {
  exchange.target = candidate.target;
  exchange.credential = credential;
  exchange.sentAtMs = answer.sentAtMs;
  exchange.firstByteAtMs = answer.firstByteAtMs;
}

export function pass(plan: Plan, answer: Answer, lease: TargetLease, verdict: Verdict): Answer | Promise<Answer> {
  const { exchange } = plan;
  const { target } = lease.candidate;
  note(exchange, answer, lease);
  const { status, meantStatus = status } = answer;
  const search = searchFor(lease);
  if (verdict === 'serves' && meantStatus < 400) {
    if (target.upstream.screen === 'errors' || search.inSuccesses.isEmpty) return answer;
    return screenSuccess(answer, search.inSuccesses, exchange);
  }
  const screened = screenError(answer, search, exchange);
  return untilGone(
    exchange,
    answer,
    inOurWords(screened, meantStatus, lease.candidate, readerOf(plan, lease.candidate)),
  );
}
