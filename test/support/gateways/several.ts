/** A gateway with several scriptable upstreams behind one model. */

import type { TestContext } from 'node:test';
import type { RawResponse } from '../clients/raw-client.ts';
import { type FakeUpstream, type Handler, type Script, startFakeUpstream } from '../upstreams/fake-upstream.ts';
import { type Rig, startRig } from './rig.ts';

export interface Several {
  readonly rig: Rig;
  /** In the order of the scripts; their IDs are `a`, `b`, `c`. */
  readonly upstreams: readonly FakeUpstream[];
  /** How many requests each has seen. */
  seen(): number[];
  /** One embeddings request to the model `m`. */
  embed(): Promise<RawResponse>;
  /** One completions request to the model `m`. */
  complete(): Promise<RawResponse>;
}

type Fields = Readonly<Record<string, unknown>>;

export interface SeveralOptions {
  /** Further keys of the model. */
  readonly model?: Fields;
  /** Further keys of each upstream, in their order, or of all of them. */
  readonly upstream?: Fields | readonly Fields[];
  /** Further keys of each target; without it they are tried in their order. */
  readonly target?: readonly Fields[];
  readonly server?: Fields;
  /** Further models. */
  readonly models?: readonly Fields[];
  /** Further sections of the document. */
  readonly more?: Fields;
}

const ids = ['a', 'b', 'c', 'd', 'e'] as const;

export async function startSeveral(
  t: TestContext,
  scripts: readonly Script[],
  options: SeveralOptions = {},
): Promise<Several> {
  const upstreams = await Promise.all(scripts.map((script) => startFakeUpstream(script)));
  t.after(() => Promise.all(upstreams.map((upstream) => upstream.close())));
  const rig = await startRig(t, toDocument(upstreams, options));
  /** A target that fails on one body alone may not be to blame. */
  let asked = 0;
  return {
    rig,
    upstreams,
    seen: () => upstreams.map(({ requests }) => requests.length),
    embed() {
      asked += 1;
      return rig.post('/v1/embeddings', { model: 'm', input: `x${asked}` });
    },
    complete: () => rig.post('/v1/completions', { model: 'm', prompt: 'x' }),
  };
}

function toDocument(upstreams: readonly { readonly url: string }[], options: SeveralOptions = {}): Fields {
  const { model = {}, upstream = {}, target = [], server = {}, more = {}, models = [] } = options;
  return {
    ...more,
    server,
    upstreams: upstreams.map(({ url }, index) => ({
      id: ids[index],
      family: 'openai',
      base_url: url,
      api_key: `sk-credential-of-${ids[index]}`,
      ...(Array.isArray(upstream) ? upstream[index] : upstream),
    })),
    models: [
      {
        id: 'm',
        operations: ['embeddings', 'rerank', 'moderations', 'completions', 'edits'],
        targets: upstreams.map((_, index) => ({ upstream: ids[index], priority: index, ...target[index] })),
        ...model,
      },
      ...models,
    ],
  };
}

export const answering =
  (name: string): Handler =>
  (_request, reply) =>
    reply.json(200, { from: name });

export const refusingWith =
  (status: number, headers: readonly (readonly [string, string])[] = []): Handler =>
  (_request, reply) =>
    reply.json(status, { error: { message: `no ${status}` } }, headers);

export const resetting: Handler = (_request, reply) => reply.reset();

export const silent: Handler = (_request, reply) => reply.stall();
