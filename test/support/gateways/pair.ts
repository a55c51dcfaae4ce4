/** A gateway with one scriptable upstream, whose model `m` serves every operation. */

import type { TestContext } from 'node:test';
import type { Exchange } from '../../../src/core/exchange.ts';
import type { HeaderField } from '../clients/http-message.ts';
import { type RawResponse, toRequestBytes } from '../clients/raw-client.ts';
import { type FakeUpstream, type Script, startFakeUpstream } from '../upstreams/fake-upstream.ts';
import { type Rig, startRig, testKey } from './rig.ts';

export const upstreamCredential = 'sk-upstream/credential+0123456789';

export interface Pair {
  readonly upstream: FakeUpstream;
  readonly rig: Rig;
}

interface PairOptions {
  /** Further keys of the upstream's entry in the configuration, such as its timeouts. */
  readonly upstream?: Readonly<Record<string, unknown>>;
  readonly server?: Readonly<Record<string, unknown>>;
  /** Further keys of the model, and of its target. */
  readonly model?: Readonly<Record<string, unknown>>;
  readonly target?: Readonly<Record<string, unknown>>;
}

export async function startPair(t: TestContext, script?: Script, options: PairOptions = {}): Promise<Pair> {
  const upstream = await startFakeUpstream(script);
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    ...toDocument(upstream.url, options.upstream, options.target, options.model),
    server: options.server ?? {},
  });
  return { upstream, rig };
}

export function toDocument(
  baseUrl: string,
  upstream: Readonly<Record<string, unknown>> = {},
  target: Readonly<Record<string, unknown>> = {},
  model: Readonly<Record<string, unknown>> = {},
): Readonly<Record<string, unknown>> {
  return {
    upstreams: [{ id: 'up', family: 'openai', base_url: baseUrl, api_key: upstreamCredential, ...upstream }],
    // One request is one call, whatever the upstream answers.
    models: [
      {
        id: 'm',
        space: 'a space',
        retry: { same_target: 0 },
        targets: [{ upstream: 'up', ...target }],
        ...model,
      },
    ],
  };
}

export const question = '{"model":"m","input":"x"}';

export function authorized(...more: readonly HeaderField[]): HeaderField[] {
  return [['Authorization', `Bearer ${testKey}`], ...more];
}

/** An embeddings request, or another body to the same route. */
export function questionBytes(body: string | Buffer = question, headers: readonly HeaderField[] = []): Buffer {
  return toRequestBytes({ path: '/v1/embeddings', headers: authorized(...headers), body });
}

export function ask(pair: Pair, ...headers: readonly HeaderField[]): Promise<RawResponse> {
  return pair.rig.post('/v1/embeddings', question, { headers: authorized(...headers) });
}

/** The settled exchange of the newest request, where every request so far has reached the upstream. */
export function newestExchange({ rig, upstream }: Pair): Promise<Exchange> {
  return rig.exchange(upstream.requests.length);
}

const addedByGateway = /^(?:connection|keep-alive|transfer-encoding|x-request-id|x-postern-.*)$/i;

/** The fields of an answer that came from the upstream, in order and spelling. */
export function fromUpstream(answer: RawResponse): HeaderField[] {
  return answer.headers.filter(
    ([name, value]) => !addedByGateway.test(name) && !(name === 'server-timing' && value.startsWith('gateway;')),
  );
}
