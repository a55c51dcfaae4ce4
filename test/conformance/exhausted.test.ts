/** An exhausted account reported with status 400: another credential or target is called, and no client can provoke that. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import { startRig } from '../support/gateways/rig.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const limits = 'You have reached your specified API usage limits. You will regain access on 2026-12-01 at 00:00 UTC.';
const balance = 'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing.';
const ofAnthropic = (message: string): string =>
  JSON.stringify({ type: 'error', error: { type: 'invalid_request_error', message } });
const ofOpenai = (code: string | null, message = 'm', type = 'invalid_request_error'): string =>
  JSON.stringify({ error: { message, type, param: null, code } });

/** Two credentials, of which the account of the first is exhausted. */
async function startTwo(t: TestContext, family: string, status: number, said: string, isCompressed = false) {
  const answer: Handler = (request, reply) => {
    const secret = request.header('x-api-key') ?? request.header('authorization') ?? '';
    if (!secret.endsWith('empty')) return reply.json(200, { fine: true });
    const head = [['content-type', 'application/json']] as const;
    return isCompressed
      ? reply.bytes(status, [...head, ['content-encoding', 'gzip']], gzipSync(said))
      : reply.bytes(status, head, [said.slice(0, 9), said.slice(9)], { chunked: true });
  };
  const upstream = await startFakeUpstream(answer);
  t.after(() => upstream.close());
  const credentials = [
    { api_key: 'sk-account-that-is-empty', weight: 100 },
    { api_key: 'sk-account-with-money', weight: 1 },
  ];
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family, base_url: upstream.url, credentials }],
    models: [{ id: 'm', targets: [{ upstream: 'up' }] }],
  });
  const ask = (content: string) =>
    family === 'anthropic'
      ? rig.post('/v1/messages', JSON.stringify({ model: 'm', max_tokens: 9, messages: [{ role: 'user', content }] }))
      : rig.post('/v1/chat/completions', JSON.stringify({ model: 'm', messages: [{ role: 'user', content }] }));
  return { rig, upstream, ask };
}

test('on an exhausted account the next credential is used, and the exhausted one enters cooldown', async (t) => {
  for (const [family, status, said] of [
    ['anthropic', 400, ofAnthropic(limits)],
    ['anthropic', 400, ofAnthropic(balance)],
    ['openai', 400, ofOpenai('billing_hard_limit_reached')],
    ['openai', 400, ofOpenai('insufficient_quota')],
    ['openai', 404, ofOpenai(null, 'm', 'insufficient_quota')],
    ['openai', 400, ofOpenai(null, 'Billing hard limit has been reached')],
  ] as const) {
    for (const isCompressed of [false, true]) {
      const { upstream, ask } = await startTwo(t, family, status, said, isCompressed);
      for (let i = 0; i < 5; i += 1) assert.equal((await ask('hello')).status, 200, said);
      const empty = upstream.requests.filter(({ rawHead }) => rawHead.includes('empty')).length;
      assert.equal(empty, 1, said);
    }
  }
});

test("an error that only resembles an exhausted account, or repeats the client's text, passes unchanged", async (t) => {
  for (const [family, said, content] of [
    ['anthropic', ofAnthropic(`messages.0: ${limits}`), 'hello'],
    ['anthropic', ofAnthropic(limits), limits],
    ['anthropic', ofAnthropic(balance), `\\u0059our credit`],
    ['openai', ofOpenai('insufficient_quota_of_words'), 'hello'],
    ['openai', ofOpenai(null, 'insufficient_quota'), 'hello'],
    ['openai', ofOpenai('insufficient_quota'), 'insufficient_quota'],
  ] as const) {
    const { rig, upstream, ask } = await startTwo(t, family, 400, said);
    const escaped = content.startsWith('\\');
    for (let i = 0; i < 3; i += 1) {
      const answer = escaped
        ? await rig.post(
            '/v1/messages',
            `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"${content}"}]}`,
          )
        : await ask(content);
      if (answer.status === 200) continue;
      assert.equal(answer.status, 400, content);
      assert.equal(answer.body.toString(), said);
    }
    const empty = upstream.requests.filter(({ rawHead }) => rawHead.includes('empty')).length;
    assert.ok(empty >= 2, `${content}: nothing of it puts a credential into cooldown`);
  }
});

test('without another target the error of an exhausted account passes unchanged', async (t) => {
  const said = ofAnthropic(limits);
  const upstream = await startFakeUpstream((_request, reply) =>
    reply.bytes(400, [['content-type', 'application/json']], said),
  );
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'anthropic', base_url: upstream.url, api_key: 'sk-only-one-of-them' }],
    models: [{ id: 'm', targets: [{ upstream: 'up' }] }],
  });
  const body = '{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"hello"}]}';
  for (let i = 0; i < 3; i += 1) {
    const answer = await rig.post('/v1/messages', body);
    assert.equal(answer.status, 400);
    assert.equal(answer.body.toString(), said);
  }
  assert.equal(upstream.requests.length, 3);
});
