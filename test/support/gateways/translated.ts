/** A gateway in front of a scriptable upstream with its own wire format. */

import type { TestContext } from 'node:test';
import * as z from 'zod';
import type { HeaderField } from '../clients/http-message.ts';
import type { RawResponse } from '../clients/raw-client.ts';
import {
  type FakeUpstream,
  type Handler,
  type Script,
  startFakeUpstream,
  type UpstreamRequest,
} from '../upstreams/fake-upstream.ts';
import { authorized } from './pair.ts';
import { type Rig, startRig } from './rig.ts';

type Fields = Readonly<Record<string, unknown>>;

export interface Translated {
  readonly upstream: FakeUpstream;
  readonly rig: Rig;
  /** To the embeddings of the model `m`; text and bytes go as they are. */
  embed(body: unknown, ...headers: readonly HeaderField[]): Promise<RawResponse>;
}

export interface TranslatedOptions {
  /** Default: `cohere`. */
  readonly family?: string;
  /** Further keys of the upstream, the target, the model and the server. */
  readonly upstream?: Fields;
  readonly target?: Fields;
  readonly model?: Fields;
  readonly server?: Fields;
}

export async function startTranslated(
  t: TestContext,
  script: Script = cohereEmbeds,
  { family = 'cohere', upstream: entry = {}, target = {}, model = {}, server = {} }: TranslatedOptions = {},
): Promise<Translated> {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    server,
    upstreams: [{ id: 'up', family, base_url: upstream.url, api_key: 'sk-upstream/credential+0123456789', ...entry }],
    models: [{ id: 'm', targets: [{ upstream: 'up', model: 'embed-v4.0', ...target }], ...model }],
  });
  return {
    upstream,
    rig,
    embed: (body, ...headers) => rig.post('/v1/embeddings', body, { headers: authorized(...headers) }),
  };
}

const cohereBody = z.looseObject({
  texts: z.array(z.string()),
  embedding_types: z.array(z.string()).default(['float']),
});
const openaiBody = z.looseObject({ input: z.union([z.string(), z.array(z.string())]) });
const embeddingsAnswer = z.looseObject({
  data: z.array(z.object({ object: z.literal('embedding'), index: z.number(), embedding: z.array(z.number()) })),
  usage: z.object({ prompt_tokens: z.number(), total_tokens: z.number() }),
});

export const jsonIn = ({ body }: UpstreamRequest): Fields => z.looseObject({}).parse(JSON.parse(body.toString()));
export const cohereBodyOf = ({ body }: UpstreamRequest) => cohereBody.parse(JSON.parse(body.toString()));
export const textsIn = (request: UpstreamRequest): string[] => cohereBodyOf(request).texts;

/** The inputs of a call in OpenAI's shape. */
export function inputsIn({ body }: UpstreamRequest): string[] {
  const { input } = openaiBody.parse(JSON.parse(body.toString()));
  return typeof input === 'string' ? [input] : input;
}

/** The vectors that a client got, in order of their positions. */
export function vectorsIn(answer: RawResponse): number[][] {
  const { data } = embeddingsAnswer.parse(answer.json());
  return data.map(({ embedding }) => embedding);
}

export const usageIn = (answer: RawResponse) => embeddingsAnswer.parse(answer.json()).usage;

/** In Cohere's format, with as many tokens as there are texts; the length of each text is its vector. */
export function cohereAnswer(request: UpstreamRequest): Fields {
  const texts = textsIn(request);
  return {
    id: 'e',
    embeddings: { float: texts.map((text) => [text.length, 0.5]) },
    meta: { billed_units: { input_tokens: texts.length } },
  };
}

export const cohereEmbeds: Handler = (request, reply) => reply.json(200, cohereAnswer(request));

/** In OpenAI's format; each input is a number, which is its vector. */
export function openaiAnswer(request: UpstreamRequest): Fields {
  const inputs = inputsIn(request);
  return {
    object: 'list',
    data: inputs.map((input, index) => ({ object: 'embedding', index, embedding: [Number(input), 0.5] })),
    model: 'x',
    usage: { prompt_tokens: inputs.length, total_tokens: inputs.length },
  };
}

export const openaiEmbeds: Handler = (request, reply) => reply.json(200, openaiAnswer(request));
