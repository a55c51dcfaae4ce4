/** A gateway whose models are served directly and by translation, for clients of other APIs. */

import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { RawResponse } from '../clients/raw-client.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../upstreams/fake-upstream.ts';
import { type Rig, type RigDocument, startRig } from './rig.ts';
import { cohereBodyOf, inputsIn } from './translated.ts';

export interface ClientApiRig {
  readonly upstream: FakeUpstream;
  readonly rig: Rig;
  /** What the upstream was asked last, and at which path. */
  asked(): Promise<{ readonly path: string; readonly body: Readonly<Record<string, unknown>> }>;
}

/** In digits that no number of JavaScript's would keep. */
export const oddVector = '[0.10, -8e-3,1E0,0.12345678901234567890]';

/** Speaks as OpenAI does, and at `/v2/embed` as Cohere. */
export const embedder: Handler = (request, reply) => {
  if (request.path === '/v2/embed') {
    const { texts, embedding_types: types } = cohereBodyOf(request);
    const [type = 'float'] = types;
    const vector = type === 'float' ? oddVector : '[1,-128,127,0]';
    const vectors = texts.map(() => vector).join(',');
    return reply.bytes(
      200,
      [['content-type', 'application/json']],
      `{"id":"e","embeddings":{"${type}":[${vectors}]},"meta":{"billed_units":{"input_tokens":7}}}`,
    );
  }
  // The last one comes first, as its index allows.
  const items = inputsIn(request)
    .map((_, index) => `{"object":"embedding","index":${index},"embedding":${oddVector}}`)
    .toReversed()
    .join(',');
  return reply.bytes(
    200,
    [['content-type', 'application/json']],
    `{"object":"list","data":[${items}],"model":"x","usage":{"prompt_tokens":5,"total_tokens":5}}`,
  );
};

/** `direct` and `translated` embed, `words` completes, `ranker` reranks; `hidden` is not to be seen. */
export async function startClientApis(
  t: TestContext,
  script: Handler = embedder,
  more: RigDocument = {},
): Promise<ClientApiRig> {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const common = { base_url: upstream.url, api_key: 'sk-upstream-secret-0123456789' };
  const target = (id: string) => [{ upstream: id, model: 'real' }];
  const rig = await startRig(t, {
    upstreams: [
      { id: 'openai', family: 'openai', ...common },
      { id: 'cohere', family: 'cohere', ...common },
    ],
    models: [
      { id: 'direct', operations: ['embeddings'], targets: target('openai') },
      { id: 'translated', operations: ['embeddings'], targets: target('cohere') },
      { id: 'words', operations: ['completions'], targets: target('openai') },
      { id: 'ranker', operations: ['rerank'], targets: target('openai') },
      { id: 'hidden', operations: ['embeddings'], visible: false, targets: target('openai') },
    ],
    ...more,
  });
  return {
    upstream,
    rig,
    async asked() {
      const { path, body } = await upstream.nextRequest();
      return { path, body: JSON.parse(body.toString()) };
    },
  };
}

export function assertAnswer(answer: RawResponse, body: string | RegExp): void {
  assert.equal(answer.status, 200, answer.body.toString());
  assert.equal(answer.header('content-type'), 'application/json');
  if (typeof body === 'string') assert.equal(answer.body.toString(), body);
  else assert.match(answer.body.toString(), body);
}

export function assertRefusal(answer: RawResponse, status: number, body: unknown): void {
  assert.equal(answer.status, status, answer.body.toString());
  assert.equal(answer.header('content-type'), 'application/json');
  assert.deepEqual(answer.json(), body);
}
