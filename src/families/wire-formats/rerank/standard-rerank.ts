/** Translates rerank for upstreams that support only a part of the clients' format. Supported requests pass unchanged. */

import type { Glance, RerankShape, Translation } from '../../../core/translation.ts';
import { kindBits } from '../../../lib/json/json-scan.ts';
import { hints } from '../parameters.ts';
import { at, countIn, listIn, objectIn } from '../reading.ts';
import { type RerankResult, type RerankWireFormat, translateRerank } from './rerank.ts';

type Watched = 'top_n' | 'return_documents' | 'max_tokens_per_doc' | 'max_chunks_per_doc' | 'rank_fields' | 'top_k';

export interface StandardRerankFacts {
  readonly own: readonly string[];
  readonly maxItems?: number;
  /** The upstream takes objects as documents and queries, or as documents only. */
  readonly takesObjects?: boolean | 'documents';
  /** When the upstream returns documents: when asked (the default), always, never, in another shape than the client's, or unknown. */
  readonly echoes?: 'asked' | 'always' | 'never' | 'otherwise' | 'unknown';
  /** Fields for which the upstream refuses null, in place of reading it as absent. */
  readonly refusesNull?: readonly Watched[];
  /** `top_n: 0` means all results. */
  readonly zeroIsAll?: boolean;
  /** Answers are always parsed: the results are unordered, or there is another reason. */
  readonly isAlwaysRead?: boolean;
  /** The shape of the upstream's own clients, which get its bytes unchanged. */
  readonly speaks?: RerankShape;
}

const objects = kindBits('object');
/** Fields that many services have and others would silently ignore. */
const ofSome: readonly Watched[] = ['max_tokens_per_doc', 'max_chunks_per_doc', 'rank_fields', 'top_k'];

export function standardRerank({
  echoes = 'asked',
  takesObjects = false,
  maxItems,
  ...facts
}: StandardRerankFacts): Translation {
  const wireFormat: RerankWireFormat = {
    own: facts.own,
    takesObjects,
    ...(facts.zeroIsAll !== undefined && { zeroIsAll: facts.zeroIsAll }),
    ...(maxItems !== undefined && { limits: { items: maxItems } }),
    // Documents for the client are taken from its request.
    write: ({ query, documents, model, topN, more }) => ({
      body: { ...more, model, query, documents, ...(topN !== undefined && { top_n: topN }), ...notBack(echoes) },
    }),
    read: readStandardRerank,
  };
  const translation = translateRerank(wireFormat);
  if (facts.isAlwaysRead) return translation;
  const lacking = echoes === 'unknown' ? [] : ofSome.filter((name) => !facts.own.includes(name));

  function isNeeded(glance: Glance): boolean {
    const { fields, shape } = glance;
    if (shape !== undefined && shape !== facts.speaks) return true;
    const wanted = wantsDocuments(glance);
    if (echoes === 'always' && wanted === false) return true;
    if (echoes === 'never' && wanted !== undefined) return true;
    if (echoes === 'otherwise' && wanted === true) return true;
    if (facts.refusesNull?.some((name) => fields.get(name)?.kind === 'null')) return true;
    // Some clients send null for each parameter that they know.
    if (lacking.some((name) => (fields.get(name)?.kind ?? 'null') !== 'null')) return true;
    if (takesObjects === true) return false;
    if (fields.get('query')?.kind === 'object') return true;
    return takesObjects === false && ((fields.get('documents')?.elementKinds ?? 0) & objects) !== 0;
  }
  return { ...translation, isNeeded };
}

/** Whether the client wants documents back; undefined where it does not say. */
function wantsDocuments({ body, fields }: Glance): boolean | undefined {
  const field = fields.get('return_documents');
  return field?.kind === 'boolean' ? body[field.start] === 't'.charCodeAt(0) : undefined;
}

function notBack(echoes: StandardRerankFacts['echoes']): { return_documents?: false } {
  return echoes === 'asked' || echoes === 'otherwise' ? { return_documents: false } : {};
}

/** Reads results from `results` or `data` with `relevance_score` or `score`: the shapes of Cohere, Jina and those like them. */
export const readStandardRerank: RerankWireFormat['read'] = ({ body }): RerankResult => {
  const answer = objectIn(body, 'the answer');
  const { id, model, meta, usage } = answer;
  const results = answer.results ?? answer.data;
  const total = countIn(at(usage, 'total_tokens'));
  const said = countIn(at(usage, 'prompt_tokens')) || total;
  return {
    results: listIn(results, 'results').map((result) => {
      const { index, relevance_score: relevance, score } = objectIn(result, 'a result');
      return { index, score: relevance ?? score };
    }),
    id,
    model,
    meta,
    promptTokens:
      said ?? countIn(at(meta, 'tokens', 'input_tokens')) ?? countIn(at(meta, 'billed_units', 'input_tokens')),
    totalTokens: total,
    searchUnits: countIn(at(meta, 'billed_units', 'search_units')),
  };
};

/** For services of which only the shape is known: bytes pass, unless the client wants another shape. */
export const rerankOfAnyone = standardRerank({
  own: ['rank_fields', ...hints],
  takesObjects: true,
  echoes: 'unknown',
});
