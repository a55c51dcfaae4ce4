/** Google's interactions over upstreams that have them: bytes pass, what Google keeps belongs to the project that made it, and what is counted is billed. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { GoogleGenAI } from '@google/genai';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { type Rig, startRig } from '../support/gateways/rig.ts';
import { type FakeUpstream, type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const secrets = {
  one: 'first-key-of-project-one-000',
  sibling: 'second-key-of-project-one-000',
  two: 'first-key-of-project-two-000',
} as const;
type Client = keyof typeof secrets;

const usage = {
  total_tokens: 345,
  total_input_tokens: 26,
  input_tokens_by_modality: [
    { modality: 'text', tokens: 6 },
    { modality: 'image', tokens: 20 },
  ],
  total_cached_tokens: 10,
  total_output_tokens: 290,
  total_tool_use_tokens: 4,
  total_thought_tokens: 25,
  grounding_tool_count: [{ type: 'google_search', count: 2 }],
};

const event = (data: { readonly event_type: string }): string =>
  `event: ${data.event_type}\ndata: ${JSON.stringify(data)}\n\n`;
const textStep = { type: 'model_output', content: [{ type: 'text', text: 'Hé "usage":{"total_input_tokens":9}' }] };
const wholeOf = (id: string): string =>
  JSON.stringify({ id, object: 'interaction', model: 'gemini-real', status: 'completed', steps: [textStep], usage });
const eventsOf = (id: string): string => {
  const events = [
    { event_type: 'interaction.created', interaction: { id, status: 'in_progress' } },
    { event_type: 'step.start', index: 0, step: { type: 'model_output' } },
    { event_type: 'step.delta', index: 0, delta: { type: 'text', text: 'Hé' } },
    { event_type: 'step.stop', index: 0, usage: { total_input_tokens: 1 }, step_usage: { total_input_tokens: 1 } },
    { event_type: 'interaction.completed', interaction: { id, status: 'completed', usage } },
  ];
  return `${events.map(event).join('')}event: done\ndata: [DONE]\n\n`;
};

interface Google {
  readonly handler: Handler;
  /** Those that it keeps. */
  readonly kept: Set<string>;
}

function createGoogle(): Google {
  const kept = new Set<string>();
  let made = 0;
  const handler: Handler = ({ method, path, body }, reply) => {
    const [, id] = /^\/v1beta\/interactions\/([^/?]+)/.exec(path) ?? [];
    if (method === 'POST' && path === '/v1beta/interactions') {
      const asked = JSON.parse(body.toString());
      const said = `int-${++made}`;
      if (asked.store !== false) kept.add(said);
      return asked.stream === true
        ? reply.bytes(200, [['content-type', 'text/event-stream']], eventsOf(said))
        : reply.bytes(200, [['content-type', 'application/json']], wholeOf(said));
    }
    if (id === undefined || !kept.has(id)) {
      return reply.json(404, { error: { code: 404, message: 'no such interaction', status: 'NOT_FOUND' } });
    }
    if (method === 'DELETE') kept.delete(id);
    return reply.bytes(200, [['content-type', 'application/json']], method === 'DELETE' ? '{}' : wholeOf(id));
  };
  return { handler, kept };
}

interface Setup {
  readonly rig: Rig;
  readonly up: FakeUpstream;
  readonly google: Google;
  ask(client: Client, method: string, path: string, body?: object | string): Promise<RawResponse>;
}

async function startSetup(t: TestContext, key: object = {}): Promise<Setup> {
  const google = createGoogle();
  const up = await startFakeUpstream(google.handler);
  t.after(() => up.close());
  const serves = {
    operations: ['generate'],
    price: { input: 1, cached_input: 0.5, output: 10, tools: { google_search: 0.014 } },
  };
  const secret = { api_key: 'AIza-upstream-credential-0123456789' };
  const rig = await startRig(t, {
    upstreams: [
      { id: 'google', family: 'gemini', base_url: up.url, ...secret },
      {
        id: 'anywhere',
        family: 'vertex',
        base_url: up.url,
        api_key: 'token-0123456789',
        options: { project: 'p', location: 'global' },
      },
    ],
    models: [
      { id: 'flash', ...serves, targets: [{ upstream: 'google', model: 'gemini-real' }] },
      { id: 'foreign', ...serves, targets: [{ upstream: 'anywhere', model: 'gemini-real' }] },
    ],
    projects: [{ id: 'one' }, { id: 'two' }],
    keys: [
      { id: 'one', secret: secrets.one, project: 'one', ...key },
      { id: 'sibling', secret: secrets.sibling, project: 'one' },
      { id: 'two', secret: secrets.two, project: 'two' },
    ],
  });
  return {
    rig,
    up,
    google,
    ask(client, method, path, body) {
      const headers: [string, string][] = [['x-goog-api-key', secrets[client]]];
      if (body === undefined) return rig.get(path, { method, headers });
      const bytes = Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
      return rig.post(path, bytes, { headers: [...headers, ['Content-Type', 'application/json']] });
    },
  };
}

const paths = ['/v1beta/interactions', '/v1/interactions', '/gemini/v1beta/interactions', '/gemini/v1/interactions'];

test('an interaction passes byte for byte, plain and streamed, and its usage is billed', async (t) => {
  const { rig, up, ask } = await startSetup(t);
  for (const path of paths) {
    for (const stream of [false, true]) {
      const body = (model: string): string =>
        `{ "input":"\\u00e9","model":"${model}" ,"stream":${stream},"generation_config":{"temperature":1e0}}`;
      const answer = await ask('one', 'POST', path, body('flash'));
      const id = `int-${up.requests.length}`;
      assert.equal(answer.status, 200, answer.body.toString());
      assert.equal(answer.body.toString(), stream ? eventsOf(id) : wholeOf(id));
      const sent = await up.nextRequest();
      assert.deepEqual([sent.path, sent.body.toString()], ['/v1beta/interactions', body('gemini-real')]);
      const { bill, usage: counted } = await rig.exchange(rig.settled.length);
      assert.deepEqual([counted?.promptTokens, counted?.completionTokens, counted?.cachedTokens], [30, 315, 10]);
      assert.deepEqual(counted?.units, { imageInputTokens: 20, reasoningTokens: 25, toolCalls: { google_search: 2 } });
      const searches = 2 * 14_000_000;
      assert.deepEqual(
        [bill?.costNanos, bill?.isEstimated],
        [20 * 1_000 + 10 * 500 + 315 * 10_000 + searches, false],
        `${path} ${stream}`,
      );
    }
  }
});

test('stored interactions belong to the project that created them: to continue, read and delete', async (t) => {
  const { google, up, ask } = await startSetup(t);
  for (const stream of [false, true]) {
    await ask('one', 'POST', '/v1beta/interactions', { model: 'flash', input: 'a', stream });
    const id = [...google.kept].at(-1) ?? assert.fail('nothing is kept');
    const goOn = { model: 'flash', input: 'b', previous_interaction_id: id };
    for (const client of ['one', 'sibling'] as const) {
      assert.equal((await ask(client, 'POST', '/v1beta/interactions', goOn)).status, 200);
      const fetched = await ask(client, 'GET', `/v1beta/interactions/${id}?include_input=true&other=x`);
      assert.equal(fetched.body.toString(), wholeOf(id));
      assert.equal(up.requests.at(-1)?.path, `/v1beta/interactions/${id}?include_input=true`);
    }
    const before = up.requests.length;
    for (const [method, path, body] of [
      ['POST', '/v1beta/interactions', goOn],
      ['POST', '/v1/interactions', { ...goOn, stream: true }],
      ['GET', `/v1beta/interactions/${id}`, undefined],
      ['GET', `/gemini/v1beta/interactions/${id}`, undefined],
      ['DELETE', `/v1beta/interactions/${id}`, undefined],
    ] as const) {
      const answer = await ask('two', method, path, body);
      const { error } = JSON.parse(answer.body.toString());
      assert.deepEqual([answer.status, error.status], [404, 'NOT_FOUND'], `${method} ${path}`);
    }
    assert.equal(up.requests.length, before, 'nobody was asked');
    assert.equal((await ask('sibling', 'DELETE', `/v1beta/interactions/${id}`)).status, 200);
    assert.equal(google.kept.has(id), false);
    assert.equal((await ask('one', 'GET', `/v1beta/interactions/${id}`)).status, 404);
    assert.equal((await ask('one', 'POST', '/v1beta/interactions', goOn)).status, 404);
    assert.equal(up.requests.length, before + 1);
  }
});

test('the requested API revision is forwarded', async (t) => {
  const { rig, up } = await startSetup(t);
  const headers: [string, string][] = [
    ['x-goog-api-key', secrets.one],
    ['Content-Type', 'application/json'],
    ['Api-Revision', '2026-05-20'],
  ];
  await rig.post('/v1beta/interactions', { model: 'flash', input: 'a' }, { headers });
  const sent = (await up.nextRequest()).headers.find(([name]) => name.toLowerCase() === 'api-revision');
  assert.equal(sent?.[1], '2026-05-20');
});

test('an interaction with store: false is not recorded', async (t) => {
  const { up, ask } = await startSetup(t);
  await ask('one', 'POST', '/v1beta/interactions', { model: 'flash', input: 'a', store: false });
  assert.equal((await ask('one', 'GET', '/v1beta/interactions/int-1')).status, 404);
  assert.equal(up.requests.length, 1);
});

test("unsupported or unattributable requests are refused by name, in Google's shape", async (t) => {
  const { up, ask } = await startSetup(t);
  const of = (more: object) => ({ model: 'flash', input: 'a', ...more });
  for (const [more, status, expected] of [
    [{ previousInteractionId: 'int-1' }, 404, /"previousInteractionId"/],
    [{ agent: 'deep-research' }, 404, /"agent"/],
    [{ cached_content: 'cachedContents/x' }, 404, /"cached_content"/],
    [{ continuation_token: 'x' }, 404, /"continuation_token"/],
    [{ environment: 'env-1' }, 404, /"environment"/],
    [{ webhook_config: { uris: ['https://x.example'] } }, 404, /"webhook_config"/],
    [{ tools: [{ type: 'file_search', file_search_store_names: ['s'] }] }, 404, /file_search/],
    [{ tools: [{ type: 'retrieval' }] }, 404, /"retrieval"/],
    [{ input: [{ type: 'image', uri: 'https://generativelanguage.googleapis.com/v1beta/files/x' }] }, 404, /"uri"/],
    [{ input: [{ type: 'image', uri: 'gs://bucket/x' }] }, 404, /"uri"/],
    [{ background: true }, 400, /"background"|background/],
    [{ background: true, store: false }, 400, /background/],
    [{ models: ['other'] }, 400, /"models"/],
    [{ generation_config: { routing_config: { model: 'other' } } }, 400, /routing_config/],
    [{ model: 'nobody' }, 404, /nobody/],
    [{ model: 'foreign' }, 400, /foreign/],
    [{ input: 7 }, 400, /"input" must be/],
  ] as const) {
    const answer = await ask('one', 'POST', '/v1beta/interactions', of(more));
    const { error } = JSON.parse(answer.body.toString());
    assert.deepEqual([answer.status, error.code], [status, status], `${JSON.stringify(more)}: ${answer.body}`);
    assert.match(error.message, expected);
  }
  assert.equal(up.requests.length, 0);
  const picture = { input: [{ type: 'image', uri: 'https://pictures.example/a.png' }] };
  const call = { tools: [{ type: 'function', name: 'f', parameters: { properties: { uri: { type: 'string' } } } }] };
  for (const more of [picture, call]) {
    assert.equal((await ask('one', 'POST', '/v1beta/interactions', of(more))).status, 200);
  }
});

test("Google's library creates, streams, continues, reads and deletes interactions", async (t) => {
  const { rig } = await startSetup(t);
  for (const baseUrl of [rig.url, `${rig.url}/gemini`]) {
    const ai = new GoogleGenAI({ apiKey: secrets.one, vertexai: false, httpOptions: { baseUrl } });
    const first = await ai.interactions.create({ model: 'flash', input: 'Hello' });
    assert.deepEqual([first.status, first.usage?.total_input_tokens], ['completed', 26]);
    const types: string[] = [];
    const events = await ai.interactions.create({
      ...{ model: 'flash', input: 'And?', previous_interaction_id: first.id, stream: true },
    });
    for await (const one of events) types.push(one.event_type);
    assert.equal(types.at(0), 'interaction.created');
    assert.equal(types.at(-1), 'interaction.completed');
    assert.equal((await ai.interactions.get(first.id)).id, first.id);
    await ai.interactions.delete(first.id);
    await assert.rejects(ai.interactions.get(first.id));
  }
});

test('a budget bounds the output, and refuses content of unknown length', async (t) => {
  const bounded = await startSetup(t, { budgets: [{ every: 'day', amount: '0.5' }] });
  const ask = (more: object) =>
    bounded.ask('one', 'POST', '/v1beta/interactions', { model: 'flash', input: 'a', ...more });
  const good = { generation_config: { max_output_tokens: 100 } };
  const first = await ask(good);
  assert.equal(first.status, 200, first.body.toString());
  for (const [more, status] of [
    [{}, 429],
    [{ generation_config: { max_output_tokens: 1e9 } }, 429],
    [{ ...good, previous_interaction_id: 'int-1' }, 400],
    [{ ...good, tools: [{ type: 'google_search' }] }, 400],
    [{ ...good, input: [{ type: 'image', uri: 'https://pictures.example/a.png' }] }, 400],
  ] as const) {
    assert.equal((await ask(more)).status, status, JSON.stringify(more));
  }
  assert.equal(bounded.up.requests.length, 1);
});
