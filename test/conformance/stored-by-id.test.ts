/** Answers stored by an upstream, requested by their ID. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI, { AzureOpenAI } from 'openai';
import { assertError } from '../support/clients/error-answer.ts';
import { type Client, secrets, startStoredObjectsSetup } from '../support/gateways/stored-objects-setup.ts';

const calls = (id: string): readonly (readonly [method: string, path: string])[] => [
  ['GET', `/v1/responses/${id}`],
  ['HEAD', `/v1/responses/${id}`],
  ['GET', `/v1/responses/${id}?stream=true&starting_after=1`],
  ['GET', `/v1/responses/${id}/input_items?limit=2&order=asc`],
  ['POST', `/v1/responses/${id}/cancel`],
  ['DELETE', `/v1/responses/${id}`],
];

test('a request about a stored response goes to the account that created it, byte for byte, and is free', async (t) => {
  const { rig, up, ask, make } = await startStoredObjectsSetup(t);
  let settled = 0;
  for (let turn = 0; turn < 6; turn += 1) {
    const id = await make('one');
    settled += 1;
    const account = up.requests.at(-1)?.header('authorization');
    for (const [method, path] of calls(id)) {
      const client = turn % 2 === 0 ? 'one' : 'sibling';
      const answer = await ask(client, method, path);
      assert.equal(answer.status, 200, `${method} ${path}: ${answer.body.toString()}`);
      const request = up.requests.at(-1) ?? assert.fail();
      assert.equal(request.header('authorization'), account);
      assert.equal(request.method, method === 'HEAD' ? 'GET' : method);
      assert.equal(request.path, path.replace('/v1', ''));
      assert.deepEqual([request.body.length, request.header('content-type')], [0, undefined]);
      assert.equal(request.header('content-length'), method === 'POST' ? '0' : undefined);
      if (method === 'HEAD') assert.equal(answer.body.length, 0);
      settled += 1;
      const { bill, usage, outcome, route } = await rig.exchange(settled);
      assert.deepEqual([bill, usage, outcome], [null, null, 'ok']);
      assert.match(route?.path ?? '', /^\/v1\/responses\/\{id\}/);
    }
    assertError(await ask('one', 'GET', `/v1/responses/${id}`), 'object_not_found', { param: 'id' });
    settled += 1;
  }
});

test("another project's stored response gets the same 404 as an unknown ID, without an upstream call", async (t) => {
  const { up, far, ask, make } = await startStoredObjectsSetup(t);
  const ids: [string, Client[]][] = [
    [await make('one'), ['two', 'loner', 'other']],
    [await make('loner'), ['one', 'sibling', 'two', 'other']],
  ];
  const before = up.requests.length;
  for (const [id, others] of ids) {
    for (const client of others) {
      for (const [index, [method, path]] of calls(id).entries()) {
        const [, never = ''] = calls('resp_never')[index] ?? [];
        const answers = [await ask(client, method, path), await ask(client, method, never)];
        for (const answer of answers) {
          if (method === 'HEAD') assert.equal(answer.status, 404);
          else assertError(answer, 'object_not_found', { param: 'id', of: `${client} ${method} ${path}` });
        }
        assert.equal(answers[0]?.body.toString(), answers[1]?.body.toString());
      }
    }
  }
  const [[id] = assert.fail()] = ids;
  for (const spelling of [
    id.toUpperCase(),
    `${id}%00`,
    `${id}%20`,
    `%20${id}`,
    `..%2F${id}`,
    id.replace('resp', 'msg'),
    '%2E%2E',
  ]) {
    assertError(await ask('one', 'GET', `/v1/responses/${spelling}`), 'object_not_found', {
      param: 'id',
      of: spelling,
    });
  }
  assert.equal(up.requests.length, before);
  assert.equal(far.requests.length, 0);
  for (const spelling of [`${[...id].map((one) => `%${one.charCodeAt(0).toString(16)}`).join('')}`, `${id}/`]) {
    assert.equal((await ask('one', 'GET', `/v1/responses/${spelling}`)).status, 200, spelling);
    assertError(await ask('two', 'GET', `/v1/responses/${spelling}`), 'object_not_found', {
      param: 'id',
      of: spelling,
    });
  }
});

test('only known query parameters are sent upstream, and an item ID in the query must belong to the project', async (t) => {
  const { up, ask, make } = await startStoredObjectsSetup(t);
  const id = await make('one');
  const theirs = (await make('two')).replace('resp', 'msg');
  const sent = async (query: string): Promise<string | undefined> => {
    const answer = await ask('one', 'GET', `/v1/responses/${id}${query}`);
    assert.equal(answer.status, 200, `${query}: ${answer.body.toString()}`);
    return up.requests.at(-1)?.path.replace(`/responses/${id}`, '');
  };
  assert.equal(await sent('?key=sk-1&api-version=2024-10-21&limit=3'), '');
  assert.equal(
    await sent('?include[]=a.b&include[]=c&stream=false&x=1'),
    '?include%5B%5D=a.b&include%5B%5D=c&stream=false',
  );
  const own = id.replace('resp', 'msg');
  assert.equal(await sent(`/input_items?after=${own}`), `/input_items?after=${own}`);
  const before = up.requests.length;
  for (const [query, code, param] of [
    ['?stream=yes', 'unsupported_parameter', 'stream'],
    ['?stream=true&stream=false', 'duplicate_parameter', 'stream'],
    ['?starting_after=-1', 'unsupported_parameter', 'starting_after'],
    ['/input_items?limit=1e3', 'unsupported_parameter', 'limit'],
    [`/input_items?after=${theirs}`, 'object_not_found', 'id'],
    ['/input_items?after=msg_never', 'object_not_found', 'id'],
  ] as const) {
    assertError(await ask('one', 'GET', `/v1/responses/${id}${query}`), code, { param, of: query });
  }
  assert.equal(up.requests.length, before);
});

test('other methods get 405 with the allowed ones', async (t) => {
  const { ask, make } = await startStoredObjectsSetup(t);
  const id = await make('one');
  for (const [method, path, allowed] of [
    ['PUT', `/v1/responses/${id}`, 'GET, HEAD, DELETE'],
    ['POST', `/v1/responses/${id}`, 'GET, HEAD, DELETE'],
    ['GET', `/v1/responses/${id}/cancel`, 'POST'],
    ['DELETE', `/v1/responses/${id}/input_items`, 'GET, HEAD'],
  ] as const) {
    const answer = await ask('one', method, path, method === 'POST' ? {} : undefined);
    assertError(answer, 'method_not_allowed', { of: path });
    assert.equal(answer.header('allow'), allowed);
  }
});

test('a key that may no longer use the model or operation gets nothing', async (t) => {
  const { rig, ask, make } = await startStoredObjectsSetup(t);
  const id = await make('one');
  const reload = async (key: object): Promise<void> => {
    const current = await rig.compile({
      ...rig.document,
      keys: [{ id: 'one', secret: secrets.one, project: 'one', ...key }],
    });
    assert.deepEqual(rig.app.swap(current), []);
  };
  await reload({ models: ['away'] });
  assertError(await ask('one', 'GET', `/v1/responses/${id}`), 'object_not_found', { param: 'id' });
  await reload({ operations: ['chat'] });
  assertError(await ask('one', 'GET', `/v1/responses/${id}`), 'route_not_allowed');
  await reload({});
  assert.equal((await ask('one', 'GET', `/v1/responses/${id}`)).status, 200);
});

test('request limits apply, upstream errors pass, and a key is needed', async (t) => {
  const { rig, up, ask, make } = await startStoredObjectsSetup(t, { key: { limits: { requests_per_minute: 3 } } });
  const id = await make('one');
  up.respondWith((_request, reply) => reply.json(409, { error: { message: 'not now' } }));
  const answer = await ask('one', 'POST', `/v1/responses/${id}/cancel`);
  assert.deepEqual([answer.status, answer.body.toString()], [409, '{"error":{"message":"not now"}}']);
  await ask('one', 'GET', `/v1/responses/${id}`);
  assertError(await ask('one', 'GET', `/v1/responses/${id}`), 'rate_limit_exceeded');
  assertError(await rig.get(`/v1/responses/${id}`, { headers: [] }), 'missing_api_key');
});

test('with the store unreachable an ID is not reported as unknown', async (t) => {
  const { rig, ask, make } = await startStoredObjectsSetup(t);
  const id = await make('one');
  t.mock.method(rig.store.storedObjects, 'find', () => Promise.reject(new Error('away')));
  assertError(await ask('one', 'GET', `/v1/responses/${id}`), 'store_unavailable');
});

test('input items listed for a response can be referenced by its project, and not by another', async (t) => {
  const { ask, make } = await startStoredObjectsSetup(t);
  const id = await make('one');
  await ask('one', 'GET', `/v1/responses/${id}/input_items`);
  const input = [{ type: 'item_reference', id: 'msg_in' }];
  assert.equal((await ask('one', 'POST', '/v1/responses', { model: 'm', input })).status, 200);
  assertError(await ask('two', 'POST', '/v1/responses', { model: 'm', input }), 'object_not_found', {
    param: 'item_reference',
  });
});

test('the official libraries retrieve, stream, list, cancel and delete', async (t) => {
  const { rig } = await startStoredObjectsSetup(t);
  const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: secrets.one, maxRetries: 0 });
  const azure = new AzureOpenAI({
    endpoint: rig.url,
    apiKey: secrets.one,
    apiVersion: '2025-04-01-preview',
    maxRetries: 0,
  });
  for (const one of [client, azure]) {
    const { id } = await one.responses.create({ model: 'm', input: '2+2?' });
    assert.equal((await one.responses.retrieve(id, { include: ['reasoning.encrypted_content'] })).output_text, 'four');
    let last: string | undefined;
    for await (const { type } of await one.responses.retrieve(id, { stream: true, starting_after: 0 })) last = type;
    assert.equal(last, 'response.completed');
    assert.equal((await one.responses.inputItems.list(id, { limit: 5, order: 'asc' })).data.length, 1);
    assert.equal((await one.responses.cancel(id)).status, 'cancelled');
    await one.responses.delete(id);
    await assert.rejects(one.responses.retrieve(id), { status: 404, code: 'object_not_found' });
  }
});
