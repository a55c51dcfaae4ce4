/** A gateway in front of a fake batch service with two accounts, with keys of two projects and of none. */

import type { TestContext } from 'node:test';
import { bill } from '../../../src/accounting/billing.ts';
import { systemClock } from '../../../src/lib/clock.ts';
import { openAccounting } from '../../../src/serve/accounting.ts';
import { type App, createApp } from '../../../src/serve/app.ts';
import type { RawResponse } from '../clients/raw-client.ts';
import { patientMs } from '../time/patience.ts';
import { type BatchService, createBatchService } from '../upstreams/batch-service.ts';
import { type FakeUpstream, startFakeUpstream } from '../upstreams/fake-upstream.ts';
import { type Rig, startRig } from './rig.ts';
import { type Client, secrets } from './stored-objects-setup.ts';

export interface BatchSetup {
  readonly rig: Rig;
  readonly up: FakeUpstream;
  readonly service: BatchService;
  ask(client: Client, method: string, path: string, body?: object): Promise<RawResponse>;
  /** A file for a batch, where it has no other purpose. */
  send(client: Client, lines: string | Buffer, purpose?: string): Promise<RawResponse>;
  order(client: Client, file: string, endpoint?: string): Promise<RawResponse>;
  /** The ID of a batch of so many lines. */
  make(client: Client, lines: number): Promise<string>;
  /** Another configuration is in force. */
  compile(more: Changes): Promise<void>;
  /** Another node on the same store. */
  another(): Promise<App>;
}

interface Changes {
  readonly model?: object;
  readonly key?: object;
  readonly upstream?: object;
}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };

export const chatLine = (id: string, body: object = {}): string =>
  JSON.stringify({
    custom_id: id,
    method: 'POST',
    url: '/v1/chat/completions',
    body: { model: 'm', messages: [{ role: 'user', content: 'two and two?' }], ...body },
  });

export const linesOf = (count: number): string =>
  Array.from({ length: count }, (_, no) => `${chatLine(`line-${no}`)}\n`).join('');

export async function startBatchSetup(t: TestContext, changes: Changes = {}): Promise<BatchSetup> {
  const service = createBatchService();
  const up = await startFakeUpstream(service.handler);
  t.after(() => up.close());
  const price = { input: 2, cached_input: 1, output: 10, request: '0.0001', batch: '50%' };
  const chat = { operations: ['chat', 'responses'], price, max_output: 1_000 };
  const documentOf = ({ model = {}, key = {}, upstream = {} }: Changes): Record<string, unknown> => ({
    server: { body_limit: '32KiB' },
    upstreams: [
      {
        id: 'up',
        family: 'openai',
        base_url: up.url,
        credentials: [{ api_key: 'sk-account-one-0123456789' }, { api_key: 'sk-account-two-0123456789' }],
        ...upstream,
      },
      { id: 'far', family: 'openai', base_url: 'http://127.0.0.1:9', api_key: 'sk-far-account-0123456789' },
    ],
    models: [
      {
        id: 'm',
        aliases: ['alias'],
        ...chat,
        targets: [{ upstream: 'far' }, { upstream: 'up', model: 'gpt-real' }],
        ...model,
      },
      { id: 'far', ...chat, targets: [{ upstream: 'up' }] },
      { id: 'elsewhere', ...chat, targets: [{ upstream: 'far' }] },
      { id: 'forbidden', ...chat, targets: [{ upstream: 'up' }] },
      {
        id: 'embed',
        operations: ['embeddings'],
        price: { input: 1, item: '0.00000001' },
        targets: [{ upstream: 'up' }],
      },
      { id: 'hidden', operations: ['embeddings'], visible: false, price: { input: 1 }, targets: [{ upstream: 'up' }] },
    ],
    projects: [{ id: 'one', files: 'up' }, { id: 'two', files: 'up' }, { id: 'none' }],
    keys: [
      { id: 'one', secret: secrets.one, project: 'one', ...key },
      { id: 'sibling', secret: secrets.sibling, project: 'one' },
      { id: 'two', secret: secrets.two, project: 'two' },
      { id: 'loner', secret: secrets.loner },
      { id: 'other', secret: secrets.other, project: 'none' },
    ],
  });
  const rig = await startRig(t, documentOf(changes), {}, { backgroundEveryMs: 20 });
  const bearer = (client: Client): [string, string] => ['Authorization', `Bearer ${secrets[client]}`];

  function ask(client: Client, method: string, path: string, body?: object): Promise<RawResponse> {
    if (body === undefined) return rig.get(path, { method, headers: [bearer(client)] });
    return rig.post(path, body, { method, headers: [bearer(client), ['Content-Type', 'application/json']] });
  }

  function send(client: Client, lines: string | Buffer, purpose = 'batch'): Promise<RawResponse> {
    const head = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.jsonl"\r\n\r\n';
    const tail = `\r\n--b\r\nContent-Disposition: form-data; name="purpose"\r\n\r\n${purpose}\r\n--b--\r\n`;
    const form = Buffer.concat([Buffer.from(head), Buffer.from(lines), Buffer.from(tail)]);
    const headers = [bearer(client), ['Content-Type', 'multipart/form-data; boundary=b'] as const];
    return rig.post('/v1/files', form, { headers, timeoutMs: patientMs(20_000) });
  }

  const order = (client: Client, file: string, endpoint = '/v1/chat/completions'): Promise<RawResponse> =>
    ask(client, 'POST', '/v1/batches', { input_file_id: file, endpoint, completion_window: '24h' });

  return {
    rig,
    up,
    service,
    ask,
    send,
    order,
    async make(client, count) {
      const file = await send(client, linesOf(count));
      const made = await order(client, JSON.parse(file.body.toString()).id);
      const { id } = JSON.parse(made.body.toString());
      if (typeof id !== 'string') throw new Error(`no batch was made: ${made.body.toString()}`);
      return id;
    },
    async compile(more) {
      const reasons = rig.app.swap(await rig.compile(documentOf({ ...changes, ...more })));
      if (reasons.length > 0) throw new Error(reasons.join('; '));
    },
    async another() {
      const { store } = rig;
      const log = {
        ...silent,
        request: () => undefined,
        debug: () => undefined,
        flush: async () => undefined,
        follow: () => undefined,
        reopen: () => undefined,
        close: () => undefined,
      };
      const snapshot = await rig.compile(documentOf(changes));
      const clock = systemClock;
      const accounting = await openAccounting({
        snapshot,
        store,
        log,
        clock,
        random: Math.random,
        cwd: '/nowhere',
        proxyFor: () => undefined,
      });
      const { spending, ledger } = accounting;
      const deps = {
        snapshot,
        store,
        log,
        clock,
        installation: 'another',
        installedAtMs: 0,
        spending,
        ledger,
        bill,
        backgroundEveryMs: 20,
      };
      const app = createApp(deps);
      await app.listen();
      t.after(async () => {
        await app.close();
        await accounting.close();
      });
      return app;
    },
  };
}
