/** Calls to upstreams that need a signature: each is valid for its service, and the signing secret stays here. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import * as z from 'zod';
import { answerInvoke, bedrockError } from '../families/bedrock.ts';
import { vectorOf } from '../families/wire.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { type RawResponse, request } from '../support/clients/raw-client.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import { startGatewayProcess } from '../support/gateways/gateway-process.ts';
import { type Rig, startRig } from '../support/gateways/rig.ts';
import { type Service, type ServiceAnswer, type ServiceCall, startService } from '../support/upstreams/service.ts';
import { type Account, faultOfSignature } from '../support/upstreams/sigv4.ts';
import { privateKeyText, startTokenEndpoint, type TokenEndpoint } from '../support/upstreams/token-endpoint.ts';

const answer = z.object({ data: z.array(z.object({ embedding: z.array(z.number()) })) });

const embed = (rig: Rig, input: readonly string[]): Promise<RawResponse> =>
  rig.post('/v1/embeddings', { model: 'm', input });

function assertVectors(said: RawResponse, texts: readonly string[]): void {
  assert.equal(said.status, 200, said.body.toString());
  assert.deepEqual(
    answer.parse(said.json()).data.map(({ embedding }) => embedding),
    texts.map((text) => vectorOf(text)),
  );
}

/** What is asked of the second target, which needs no signature. */
const plainAnswer = { object: 'list', data: [{ object: 'embedding', index: 0, embedding: [7] }] };

async function startPlain(t: TestContext): Promise<object> {
  const { url } = await startService(t, () => ({ body: plainAnswer }));
  return { id: 'plain', family: 'openai', base_url: url, api_key: 'sk-plain-0123456789' };
}

const to = (model: string, ...others: readonly object[]): object[] => [
  { id: 'm', operations: ['embeddings'], space: 's', targets: [{ upstream: 'up', model, priority: 0 }, ...others] },
];

const plainTarget = { upstream: 'plain', model: 'x', priority: 1 };

const account: Account = {
  id: 'ASIAIOSFODNN7EXAMPLE',
  secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY',
  sessionToken: `IQoJb3JpZ2luX2VjEXAMPLE/${'s'.repeat(200)}==`,
};
const scope = { region: 'eu-central-1', service: 'bedrock' };
const apiKey = `${account.id}:${account.secret}:${account.sessionToken}`;

/** Repeats what it was sent, as the real one does where a signature does not match. */
function answerSigned(call: ServiceCall): ServiceAnswer {
  const fault = faultOfSignature({ ...call, body: call.text }, account, scope);
  if (fault === undefined) return answerInvoke({ path: call.path, body: JSON.parse(call.text) });
  return bedrockError(403, `${fault}: User arn:aws:iam::123456789012:user/x`, 'InvalidSignatureException');
}

const bedrock = (url: string, key: object): object => ({
  id: 'up',
  family: 'bedrock',
  base_url: url,
  options: { region: scope.region },
  ...key,
});

test('every AWS call has its own signature over path, body and headers', async (t) => {
  const { url, calls } = await startService(t, answerSigned);
  const rig = await startRig(t, {
    upstreams: [{ ...bedrock(url, { api_key: apiKey }), headers: { 'X-Amz-Custom': 'two  spaces', 'X-Team': 'red' } }],
    models: to('eu.cohere.embed-v4:0'),
  });
  const texts = Array.from({ length: 200 }, (_, index) => `Zürich ${index} 🚀`);
  assertVectors(await embed(rig, texts), texts);
  assert.equal(calls.length, 3);
  assert.deepEqual(new Set(calls.map(({ path }) => path)), new Set(['/model/eu.cohere.embed-v4%3A0/invoke']));
  assert.equal(new Set(calls.map(({ headers }) => headers.authorization)).size, 3);
});

test("a call under a proxy's path is signed for that path", async (t) => {
  const { url } = await startService(t, (call) => {
    const signed = answerSigned(call);
    return signed.status === 403 ? signed : answerInvoke({ path: call.path.slice(4), body: JSON.parse(call.text) });
  });
  const rig = await startRig(t, {
    upstreams: [bedrock(`${url}/aws`, { api_key: apiKey })],
    models: to('amazon.titan-embed-text-v2:0'),
  });
  assertVectors(await embed(rig, ['a', 'b', 'c']), ['a', 'b', 'c']);
});

test("if AWS rejects a key, the next key or target is used; without either, AWS's message is withheld", async (t) => {
  const { url, calls } = await startService(t, answerSigned);
  const wrong = `${account.id}:another-secret-0123456789:${account.sessionToken}`;
  const model = 'cohere.embed-v4:0';
  const twoKeys = await startRig(t, {
    upstreams: [bedrock(url, { credentials: [{ api_key: wrong, weight: 1000 }, { api_key: apiKey }] })],
    models: to(model),
  });
  assertVectors(await embed(twoKeys, ['a']), ['a']);

  const twoTargets = await startRig(t, {
    upstreams: [bedrock(url, { api_key: wrong }), await startPlain(t)],
    models: to(model, plainTarget),
  });
  assert.deepEqual((await embed(twoTargets, ['a'])).json(), plainAnswer);

  const alone = await startRig(t, { upstreams: [bedrock(url, { api_key: wrong })], models: to(model) });
  const refused = await embed(alone, ['a']);
  assert.equal(refused.status, 403);
  assert.doesNotMatch(refused.rawBytes.toString('latin1'), /arn:aws|another signature/);
  assert.ok(calls.length >= 3);
});

test('an error that repeats the session token or key ID is withheld', async (t) => {
  for (const repeated of ['x-amz-security-token', 'authorization']) {
    const { url } = await startService(t, ({ headers }) => {
      const said = headers[repeated] ?? '';
      return bedrockError(
        400,
        `got ${repeated === 'authorization' ? said.replace(/^.*Credential=|\/.*$/g, '') : said}`,
      );
    });
    const rig = await startRig(t, {
      upstreams: [bedrock(url, { api_key: apiKey })],
      models: to('cohere.embed-v4:0'),
    });
    assertError(await embed(rig, ['a']), 'upstream_protocol_error', { message: /repeats a credential/ });
  }
});

interface Vertex {
  readonly endpoint: TokenEndpoint;
  readonly service: Service;
  readonly upstream: object;
}

const prediction = z.object({ instances: z.array(z.object({ content: z.string() })) });

/** Takes the tokens that the endpoint gave out, and no others. */
async function startVertex(t: TestContext): Promise<Vertex> {
  const endpoint = await startTokenEndpoint(t);
  const service = await startService(t, ({ headers, text }) => {
    const [, token = ''] = /^Bearer (.+)$/.exec(headers.authorization ?? '') ?? [];
    if (!endpoint.tokens.includes(token)) return { status: 401, body: { error: { code: 401, message: 'no token' } } };
    const { instances } = prediction.parse(JSON.parse(text));
    return {
      body: { predictions: instances.map(({ content }) => ({ embeddings: { values: vectorOf(content) } })) },
    };
  });
  const directory = await createDirectory(t, { 'account.json': endpoint.account });
  const upstream = {
    id: 'up',
    family: 'vertex',
    base_url: service.url,
    api_key_file: join(directory, 'account.json'),
    options: { project: 'p-1', location: 'europe-west4' },
  };
  return { endpoint, service, upstream };
}

const gemini = to('gemini-embedding-001');

/** Any few characters in a row of it would be a beginning. */
function assertNothingOfTheKey(text: string, what: string): void {
  const lines = privateKeyText.split('\n').filter((line) => line !== '' && !line.startsWith('-----'));
  const found = lines.find((line) => text.includes(line.slice(0, 12)));
  assert.equal(found, undefined, what);
}

test('parallel calls share one access token, and request it once', async (t) => {
  const { endpoint, service, upstream } = await startVertex(t);
  const rig = await startRig(t, { upstreams: [upstream], models: gemini });
  const answers = await Promise.all(Array.from({ length: 10 }, (_, index) => embed(rig, [`a${index}`, `b${index}`])));
  for (const [index, said] of answers.entries()) assertVectors(said, [`a${index}`, `b${index}`]);
  assert.equal(endpoint.asked, 1);
  assert.equal(service.calls.length, 20);
  assert.equal(service.calls[0]?.path.startsWith('/v1/projects/p-1/locations/europe-west4/'), true);
});

test('an expired token is replaced', async (t) => {
  const { endpoint, service, upstream } = await startVertex(t);
  endpoint.lifeS = 0.2;
  const rig = await startRig(t, { upstreams: [upstream], models: gemini });
  assertVectors(await embed(rig, ['a']), ['a']);
  await wait(250);
  assertVectors(await embed(rig, ['b']), ['b']);
  assert.equal(endpoint.asked, 2);
  assert.deepEqual(
    service.calls.map(({ headers }) => headers.authorization),
    endpoint.tokens.map((token) => `Bearer ${token}`),
  );
});

test('without a token nothing is sent: the next target is called, else the client gets 502', async (t) => {
  const { endpoint, service, upstream } = await startVertex(t);
  endpoint.failWith = { status: 400, body: { error: 'invalid_grant', error_description: privateKeyText } };
  const two = await startRig(t, {
    upstreams: [upstream, await startPlain(t)],
    models: to('gemini-embedding-001', plainTarget),
  });
  assert.deepEqual((await embed(two, ['a'])).json(), plainAnswer);

  const alone = await startRig(t, { upstreams: [upstream], models: gemini });
  const refused = await embed(alone, ['a', 'b', 'c']);
  assertError(refused, 'upstream_unreachable', { message: /could not be signed/ });
  assert.match((await alone.exchange()).errorCause ?? '', /the token endpoint answered 400 \(invalid_grant\)/);
  assert.equal(service.calls.length, 0);

  endpoint.failWith = undefined;
  assertVectors(await embed(alone, ['a']), ['a']);
});

test('an error that repeats the token is withheld', async (t) => {
  const { endpoint, upstream } = await startVertex(t);
  const service = await startService(t, ({ headers }) => ({
    status: 400,
    body: { error: { code: 400, message: `got ${headers.authorization}`, status: 'INVALID_ARGUMENT' } },
  }));
  const rig = await startRig(t, { upstreams: [{ ...upstream, base_url: service.url }], models: gemini });
  const refused = await embed(rig, ['a']);
  assertError(refused, 'upstream_protocol_error', { message: /repeats a credential/ });
  assert.equal(endpoint.asked, 1);
});

test('neither key nor token is in any response or log line', async (t) => {
  const { endpoint, upstream } = await startVertex(t);
  endpoint.failWith = { status: 500, body: privateKeyText };
  const gateway = await startGatewayProcess({ config: { upstreams: [upstream], models: gemini } });
  t.after(() => gateway.stop());
  const ask = (): Promise<RawResponse> =>
    request({
      port: gateway.port,
      path: '/v1/embeddings',
      headers: [
        ['Authorization', `Bearer ${gateway.key}`],
        ['Content-Type', 'application/json'],
      ],
      body: Buffer.from('{"model":"m","input":"a"}'),
    });
  const failed = await ask();
  assertError(failed, 'upstream_unreachable');
  endpoint.failWith = undefined;
  const served = await ask();
  assertVectors(served, ['a']);
  await gateway.stop();
  const written = [failed.rawBytes.toString(), served.rawBytes.toString(), gateway.stdout(), gateway.stderr()].join(
    '\n',
  );
  assertNothingOfTheKey(written, written.slice(0, 2000));
  for (const token of endpoint.tokens) assert.ok(!written.includes(token));
  assert.match(gateway.stdout(), /the token endpoint answered 500/);
});
