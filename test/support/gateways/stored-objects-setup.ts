/** A gateway in front of two fake services with stored responses, one with two accounts, and keys of two projects and of none. */

import type { TestContext } from 'node:test';
import type { RawResponse } from '../clients/raw-client.ts';
import { type FakeUpstream, startFakeUpstream } from '../upstreams/fake-upstream.ts';
import { createKeepingService, type KeepingService } from '../upstreams/keeping-service.ts';
import { type Rig, startRig } from './rig.ts';

export const secrets = {
  one: 'first-key-of-project-one-000',
  sibling: 'second-key-of-project-one-000',
  two: 'first-key-of-project-two-000',
  loner: 'first-key-without-a-project',
  other: 'other-key-without-a-project',
} as const;

export type Client = keyof typeof secrets;

export interface StoredObjectsSetup {
  readonly rig: Rig;
  readonly up: FakeUpstream;
  readonly far: FakeUpstream;
  readonly service: KeepingService;
  ask(client: Client, method: string, path: string, body?: object | string): Promise<RawResponse>;
  /** The ID of an answer that was made for it. */
  make(client: Client, more?: object): Promise<string>;
}

export async function startStoredObjectsSetup(
  t: TestContext,
  { model = {}, key = {} }: { readonly model?: object; readonly key?: object } = {},
): Promise<StoredObjectsSetup> {
  const service = createKeepingService();
  const up = await startFakeUpstream(service.handler);
  const far = await startFakeUpstream(createKeepingService('far').handler);
  t.after(() => Promise.all([up.close(), far.close()]));
  const price = { input: 2, cached_input: 1, output: 10 };
  const document = {
    upstreams: [
      {
        id: 'up',
        family: 'openai',
        base_url: up.url,
        credentials: [{ api_key: 'sk-account-one-0123456789' }, { api_key: 'sk-account-two-0123456789' }],
      },
      { id: 'far', family: 'openai', base_url: far.url, api_key: 'sk-far-account-0123456789' },
    ],
    models: [
      { id: 'm', operations: ['responses'], price, targets: [{ upstream: 'up', model: 'gpt-real' }], ...model },
      { id: 'both', operations: ['responses'], price, targets: [{ upstream: 'up' }, { upstream: 'far' }] },
      { id: 'away', operations: ['responses'], price, targets: [{ upstream: 'far' }] },
    ],
    projects: [{ id: 'one' }, { id: 'two' }],
    keys: [
      { id: 'one', secret: secrets.one, project: 'one', ...key },
      { id: 'sibling', secret: secrets.sibling, project: 'one' },
      { id: 'two', secret: secrets.two, project: 'two' },
      { id: 'loner', secret: secrets.loner },
      { id: 'other', secret: secrets.other },
    ],
  };
  const rig = await startRig(t, document, {}, { backgroundEveryMs: 20 });

  function ask(client: Client, method: string, path: string, body?: object | string): Promise<RawResponse> {
    const headers: [string, string][] = [['Authorization', `Bearer ${secrets[client]}`]];
    if (body !== undefined) headers.push(['Content-Type', 'application/json']);
    const bytes = body === undefined ? undefined : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
    const more = { method, headers, ...(bytes !== undefined && { body: bytes }) };
    return method === 'POST' && bytes !== undefined ? rig.post(path, bytes, more) : rig.get(path, more);
  }

  return {
    rig,
    up,
    far,
    service,
    ask,
    async make(client, more = {}) {
      const answer = await ask(client, 'POST', '/v1/responses', { model: 'm', input: 'x', ...more });
      const { id } = JSON.parse(answer.body.toString());
      if (typeof id !== 'string') throw new Error(`no answer was made: ${answer.body.toString()}`);
      return id;
    },
  };
}
