/** Estimates a request of Google's APIs from its body, in either spelling of field names. */

import type { HostedTools, RequestEstimate } from '../../core/accounting/price.ts';
import type { RoutePlan } from '../../core/dispatch.ts';
import type { Route } from '../../core/route.ts';
import { isMapping } from '../../lib/is-mapping.ts';
import { elementsOf } from '../../lib/json/json-elements.ts';
import { compileWatchedKeys, scanJson } from '../../lib/json/json-scan.ts';
import { duplicate, type Question } from '../question.ts';
import { type Conversation, templateTokens, toolsTokens } from './conversation.ts';
import { withTools } from './hosted-tools.ts';
import { termsIn } from './request-terms.ts';

const bytesPerToken = 4;
const tokensPerImage = 1000;
/** Assumed output where neither the client nor the operator limits it. */
const boundlessMaxTokens = 131_072;
/** Limit of a count of tokens: more than any model takes, and small enough for exact products. */
const mostTokens = 1_000_000_000;
const mostCandidates = 10_000;

const configurations = ['generationConfig', 'generation_config'] as const;
const limits = ['maxOutputTokens', 'max_output_tokens'] as const;
const candidates = ['candidateCount', 'candidate_count'] as const;
const watched = compileWatchedKeys([...limits, ...candidates]);

/** Tools that the client runs itself, so that they are no hosted tools. */
const clientTools: ReadonlySet<string> = new Set(['functionDeclarations', 'function_declarations']);
const longestReadToolsBytes = 1024 ** 2;

type Model = Pick<RoutePlan['model'], 'context' | 'maxOutput' | 'maxToolCalls'>;

export function forContents(
  question: Question,
  { row, streams }: Route,
  model: Model,
  { media, mediaBytes, beyond }: Conversation,
): RequestEstimate {
  const { body } = question;
  const { context, maxOutput } = model;
  const writes = row.billedBy.includes('output');
  const { tokens, choices } = boundsIn(question);
  const each = Math.min(tokens ?? maxOutput ?? boundlessMaxTokens, maxOutput ?? mostTokens);
  const around = writes ? templateTokens + (question.scan.fields.get('tools') === undefined ? 0 : toolsTokens) : 0;
  const terms = writes ? termsIn(question) : undefined;
  const { hosted, reported } = writes ? hostedToolsIn(question) : noTools;
  const estimate: RequestEstimate = {
    items: itemsIn(question, row.items),
    images: 0,
    likelyInputTokens: Math.ceil((body.length - mediaBytes) / bytesPerToken) + media * tokensPerImage,
    mostInputTokens:
      beyond === undefined ? Math.min(body.length + around, context ?? mostTokens) : (context ?? body.length),
    mostOutputTokens: writes ? Math.min(each * choices, mostTokens) : 0,
    mostSearchUnits: 0,
    ...(terms !== undefined && { terms }),
    isStream: streams !== undefined,
    ...(hosted !== undefined && { unbounded: hosted }),
    ...(beyond !== undefined && context === undefined && { unbounded: beyond }),
  };
  return withTools(estimate, reported, 'tools', model);
}

function boundsIn({ body, scan }: Question): { readonly tokens: number | undefined; readonly choices: number } {
  let tokens: number | undefined;
  let choices = 1;
  for (const name of configurations) {
    const field = scan.fields.get(name);
    if (field?.kind !== 'object') continue;
    const object = body.subarray(field.start, field.end);
    const inside = scanJson(object, watched);
    if (!inside.ok) throw duplicate(`${name}.${inside.fault === 'duplicate' ? inside.name : ''}`);
    const said = (one: string): number => {
      const found = inside.fields.get(one);
      return found === undefined ? 0 : toNumber(JSON.parse(object.toString('utf8', found.start, found.end)));
    };
    for (const one of limits) if (said(one) > 0) tokens = Math.max(tokens ?? 0, Math.min(said(one), mostTokens));
    for (const one of candidates) choices = Math.max(choices, Math.min(said(one), mostCandidates));
  }
  return { tokens, choices: Math.ceil(choices) };
}

/** A number from Google's JSON, which may be in quotes; 0 for anything else. */
function toNumber(value: unknown): number {
  if (value === null) return 0;
  if (typeof value === 'number') return value;
  return typeof value === 'string' && /^\d{1,9}$/.test(value) ? Number(value) : Number.POSITIVE_INFINITY;
}

interface Tools {
  readonly hosted: string | undefined;
  readonly reported: HostedTools | undefined;
}
const noTools: Tools = Object.freeze({ hosted: undefined, reported: undefined });
const someTools: Tools = Object.freeze({ hosted: 'tools', reported: undefined });

/** Tools that the upstream runs, by their names in lower case; `hosted` for unknown ones. */
function hostedToolsIn({ body, scan: { fields } }: Question): Tools {
  const field = fields.get('tools');
  if (field === undefined || field.kind === 'null') return noTools;
  if (field.end - field.start > longestReadToolsBytes) return someTools;
  const tools: unknown = JSON.parse(body.toString('utf8', field.start, field.end));
  if (!Array.isArray(tools) || !tools.every(isMapping)) return someTools;
  const kinds = new Set<string>();
  for (const tool of tools) {
    for (const [name, value] of Object.entries(tool))
      if (!clientTools.has(name) && value !== null) kinds.add(kindOf(name));
  }
  return kinds.size === 0 ? noTools : { hosted: undefined, reported: { kinds: [...kinds], most: undefined } };
}

const kindOf = (name: string): string =>
  name
    .replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
    .replace(/^google_search_retrieval$/, 'google_search');

function itemsIn({ body, scan }: Question, names: readonly string[]): number {
  const list = scan.fields.get(names[0] ?? '');
  if (names[0] !== 'requests' || list?.kind !== 'array') return 1;
  let count = 0;
  for (const _ of elementsOf(body, list)) count += 1;
  return count;
}
