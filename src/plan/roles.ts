/** Adds role prefixes: models such as E5 need "query: " or "passage: " before each text, which their upstreams do not add. */

import { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { Route } from '../core/route.ts';
import type { ResolvedModel, RolePrefixes, TextRole } from '../core/snapshot.ts';
import type { ApiWords } from '../core/translation.ts';
import { QUOTE } from '../lib/json/json-tokens.ts';
import { JsonWalk } from '../lib/json/json-walk.ts';
import { isSliceOver, nextSlice } from '../lib/time-slices.ts';
import type { ParsingMemory } from './parsing-memory.ts';
import { canonicalReaderOf, modelNameOf, type Question } from './question.ts';

/** Fields of several services that say what a text is used for. */
const roleFields: ReadonlySet<string> = new Set(['input_type', 'task', 'task_type', 'prompt_name']);
/** How services spell a role, such as `search_query` or `RETRIEVAL_DOCUMENT`; of a model alias, only the part after its last separator. */
const spellings: Readonly<Record<TextRole, RegExp>> = {
  query: /(?:^|[._:/@-])quer(?:y|ies)$/i,
  document: /(?:^|[._:/@-])(?:documents?|passages?)$/i,
};

function roleIn(text: string | undefined): TextRole | undefined {
  if (text === undefined) return undefined;
  if (spellings.query.test(text)) return 'query';
  return spellings.document.test(text) ? 'document' : undefined;
}

/** Whether a route may have role prefixes: its texts are in `input`, as in the canonical routes and most client APIs. */
export const mayHaveRole = ({ operation, label, entry }: Route): boolean =>
  operation === 'embeddings' && (entry !== undefined || label === 'openai' || label === 'engines');

/** The question with role prefixes; the same question where it has no role, or the role has no prefix. */
export async function withRole(
  question: Question,
  { model, id }: ResolvedModel,
  roles: RolePrefixes,
  modelFromPath: string | undefined,
  route: Route,
  memory: ParsingMemory,
): Promise<Question> {
  const { kept, said } = await membersOf(question.body);
  const name = modelFromPath ?? modelNameOf(question);
  const byAlias = name !== id && name !== undefined && model.aliases.includes(name) ? roleIn(name) : undefined;
  const role = said ?? roleOfWords(question.words) ?? byAlias;
  const prefix = role && roles[role];
  const hasInput = kept.some(([field]) => field === 'input');
  if (role === undefined || prefix === undefined || !hasInput) return question;
  const body = await written(kept, prefix, role, memory);
  return { ...(await canonicalReaderOf(route)(body)), words: question.words, role, onlyWidth: question.onlyWidth };
}

const roleOfWords = (words: ApiWords | undefined): TextRole | undefined => roleIn(words?.purpose);

interface Members {
  /** The members to send: without the role fields, which the upstream does not know. */
  readonly kept: readonly (readonly [name: string, value: Buffer])[];
  readonly said: TextRole | undefined;
}

async function membersOf(body: Buffer): Promise<Members> {
  const kept: [string, Buffer][] = [];
  let said: TextRole | undefined;
  const walk = new JsonWalk(body);
  for (const name of walk.members()) {
    const isText = walk.peek() === QUOTE;
    const span = walk.value();
    const role = isText && roleFields.has(name) ? roleIn(walk.textOf(span)) : undefined;
    if (role !== undefined && said !== undefined && role !== said) throw contradicts(name, said);
    said ??= role;
    if (role === undefined) kept.push([name, body.subarray(span.start, span.end)]);
    if (isSliceOver()) await nextSlice();
  }
  return { kept, said };
}

async function written(kept: Members['kept'], prefix: string, role: TextRole, memory: ParsingMemory): Promise<Buffer> {
  const quoted = Buffer.from(JSON.stringify(prefix).slice(0, -1));
  const pieces: Buffer[] = [];
  for (const [name, value] of kept) {
    pieces.push(Buffer.from(`${pieces.length === 0 ? '{' : ','}${JSON.stringify(name)}:`));
    if (name === 'input') await addPrefixed(pieces, value, quoted, role, memory);
    else pieces.push(value);
  }
  pieces.push(Buffer.from('}'));
  return Buffer.concat(pieces);
}

const itemsPerStep = 64;
/** Memory that one slice of the body takes. */
const bytesPerPiece = 100;

const OPEN = Buffer.from('[');
const COMMA = Buffer.from(',');
const CLOSE = Buffer.from(']');

async function addPrefixed(
  pieces: Buffer[],
  input: Buffer,
  quoted: Buffer,
  role: TextRole,
  memory: ParsingMemory,
): Promise<void> {
  memory.takeBytes(input.length + quoted.length);
  if (input[0] === QUOTE) {
    pieces.push(quoted, input.subarray(1));
    return;
  }
  if (input[0] !== OPEN[0]) throw noText('input', role);
  pieces.push(OPEN);
  const walk = new JsonWalk(input);
  for (const index of walk.elements()) {
    if (walk.peek() !== QUOTE) throw noText(`input[${index}]`, role);
    const { start, end } = walk.text();
    if (index > 0) pieces.push(COMMA);
    pieces.push(quoted, input.subarray(start + 1, end));
    if (index % itemsPerStep === 0)
      memory.takeBytes(input.length + (index + itemsPerStep) * (quoted.length + bytesPerPiece));
    if (isSliceOver()) await nextSlice();
  }
  pieces.push(CLOSE);
}

function noText(param: string, role: TextRole): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `The field "${param}" cannot be served as a ${role}: the model has a prefix for that role, which only a text can have; send a text, or name no role.`,
  });
}

function contradicts(param: string, said: TextRole): GatewayError {
  return new GatewayError('unsupported_parameter', {
    param,
    message: `The field "${param}" says another role than ${said}, which the request says as well; send one of them.`,
  });
}
