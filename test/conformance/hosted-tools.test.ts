/** Tools that the service runs itself, under a budget: refused by name until they have a price and a bound, then billed by the service's usage. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const output = [
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'a' } },
  { type: 'message', id: 'm_1', content: [{ type: 'output_text', text: 'four' }] },
];
const usage = { input_tokens: 1_000, output_tokens: 20, total_tokens: 1_020 };
const answer = { id: 'resp_1', object: 'response', status: 'completed', service_tier: 'priority', output, usage };
const question = { model: 'm', input: '2+2?', store: false, max_output_tokens: 50, tools: [{ type: 'web_search' }] };

async function startSetup(t: TestContext, model: object): Promise<Rig> {
  const up = await startFakeUpstream((_request, reply) => reply.json(200, answer));
  t.after(() => up.close());
  return startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: `${up.url}/v1`, api_key: 'sk-upstream' }],
    models: [{ id: 'm', targets: [{ upstream: 'up', model: 'real' }], ...model }],
    keys: [{ id: 'test', secret: testKey, budgets: [{ every: 'total', amount: 5 }] }],
  });
}

const ask = async (rig: Rig, more: object = {}) => {
  const response = await fetch(`${rig.url}/v1/responses`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...question, ...more }),
  });
  const body = (await response.json()) as { readonly error?: { readonly param?: string; readonly message?: string } };
  return { status: response.status, param: body.error?.param, message: body.error?.message ?? '' };
};

const price = { input: 1, output: 4, tools: { web_search: 0.01 }, factors: { service_tier: { priority: 2 } } };

test("a web search is billed beside the tokens, at the response's service tier", async (t) => {
  const rig = await startSetup(t, { context: 10_000, price });
  assert.equal((await ask(rig, { max_tool_calls: 3 })).status, 200);
  const bill = rig.settled.at(-1)?.bill;
  assert.equal(bill?.costNanos, (1_000 * 1_000 + 20 * 4_000) * 2 + 10_000_000);
  assert.deepEqual(bill?.units, { toolCalls: { web_search: 1 }, serviceTier: 'priority' });
  assert.equal(bill?.isEstimated, false);
});

test('under a budget, tools without max_tool_calls, a price or a context size get 400 that names what is missing', async (t) => {
  const rig = await startSetup(t, { context: 10_000, price });
  const unbounded = await ask(rig);
  assert.deepEqual([unbounded.status, unbounded.param], [400, 'tools']);
  assert.match(unbounded.message, /max_tool_calls/);
  const unpriced = await ask(rig, { max_tool_calls: 3, tools: [{ type: 'web_search' }, { type: 'file_search' }] });
  assert.deepEqual([unpriced.status, unpriced.param], [400, 'tools']);
  assert.match(unpriced.message, /price\.tools\.file_search/);
  const tier = await ask(rig, { max_tool_calls: 3, service_tier: 'ultrafast' });
  assert.deepEqual([tier.status, tier.param], [400, 'service_tier']);
  assert.match(tier.message, /price\.factors\.service_tier/);
  const dear = await ask(rig, { max_tool_calls: 600 });
  assert.equal(dear.status, 429);
  const narrow = await startSetup(t, { price });
  assert.deepEqual((await ask(narrow, { max_tool_calls: 3 })).param, 'tools');
});

test("a model's configured max_tool_calls bounds the tool calls that a budget reserves", async (t) => {
  const rig = await startSetup(t, { context: 10_000, max_tool_calls: 4, price });
  assert.equal((await ask(rig)).status, 200);
});
