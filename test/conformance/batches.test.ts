/** Batches of requests at the upstream that the operator names for a project. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import OpenAI, { toFile } from 'openai';
import type { ErrorCode } from '../../src/core/errors.ts';
import { assertError } from '../support/clients/error-answer.ts';
import { type BatchSetup, chatLine, linesOf, startBatchSetup } from '../support/gateways/batch-setup.ts';
import { type Client, secrets } from '../support/gateways/stored-objects-setup.ts';
import { until } from '../support/time/until.ts';
import { chatAnswer } from '../support/upstreams/batch-service.ts';

const rowsOf = async ({ rig }: BatchSetup) => (await rig.store.ledger.page({}, { limit: 100 })).rows;

const idsOf = async ({ ask }: BatchSetup, client: Client, path: string): Promise<string[]> => {
  const answer = await ask(client, 'GET', path);
  assert.equal(answer.status, 200, answer.body.toString());
  return JSON.parse(answer.body.toString()).data.map(({ id }: { id: string }) => id);
};

async function settled(setup: BatchSetup): Promise<void> {
  await until(async () => (await setup.rig.store.batches.ofProject('one')).length === 0);
}

test('the model is renamed in every line, and every other byte is unchanged', async (t) => {
  const { up, send } = await startBatchSetup(t);
  const lines = [
    '{"custom_id":"a","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[],"x":1.0e3}}\r',
    ' { "body" : {"messages":[{"role":"user","content":"\u2028é"}],"seed":12345678901234567890,"\\u006dodel" : "\\u006d"} , "url":"/v1/chat/completions","method":"POST","custom_id":"b"}',
    '{"custom_id":"c","method":"POST","url":"/v1/chat/completions","body":{"messages":[],"model":"alias"}}',
  ];
  for (const ending of ['', '\n']) {
    const answer = await send('one', lines.join('\n') + ending);
    assert.equal(answer.status, 200, answer.body.toString());
    const expected = [
      lines[0]?.replace('"m"', '"gpt-real"'),
      lines[1]?.replace('"\\u006d"', '"gpt-real"'),
      lines[2]?.replace('"alias"', '"gpt-real"'),
    ].join('\n');
    assert.ok(up.requests.at(-1)?.body.includes(`\r\n\r\n${expected}${ending}\r\n--b`), 'the file is another one');
  }
});

test('a batch is created, read and listed, and billed by its output lines once it ended', async (t) => {
  const setup = await startBatchSetup(t);
  const { rig, service, ask, send, make } = setup;
  const id = await make('one', 5);
  const { bill, lane } = await rig.exchange(2);
  assert.deepEqual([bill, lane], [null, 'bulk']);
  assert.deepEqual(await idsOf(setup, 'sibling', '/v1/batches'), [id]);
  assert.equal(JSON.parse((await ask('one', 'GET', `/v1/batches/${id}`)).body.toString()).status, 'validating');
  service.finish((line, no) => (no === 4 ? { status: 400, body: { error: { message: 'no' } } } : chatAnswer(line)));
  await settled(setup);
  await until(async () => (await rowsOf(setup)).some(({ costNanos }) => costNanos !== 0));
  const row = (await rowsOf(setup)).find(({ costNanos }) => costNanos !== 0) ?? assert.fail();
  // Of each 6 at 2, 4 at 1 and 3 at 10 dollars a million, and a hundredth of a cent a request; half of it.
  assert.equal(row.costNanos, (4 * (12_000 + 4_000 + 30_000 + 100_000)) / 2);
  assert.deepEqual(
    [row.key, row.project, row.model, row.upstream, row.upstreamModel, row.route, row.operation, row.outcome],
    ['one', 'one', 'm', 'up', 'gpt-real', '/v1/batches', 'chat', 'ok'],
  );
  assert.deepEqual(
    [row.promptTokens, row.cachedTokens, row.completionTokens, row.totalTokens, row.isEstimated],
    [40, 16, 12, 52, false],
  );
  const batch = JSON.parse((await ask('one', 'GET', `/v1/batches/${id}`)).body.toString());
  const output = await ask('sibling', 'GET', `/v1/files/${batch.output_file_id}/content`);
  assert.deepEqual(output.body, service.files.get(batch.output_file_id)?.content);
  assert.match(output.body.toString(), /"model":"gpt-real"/);
  assert.equal((await ask('one', 'GET', `/v1/files/${batch.error_file_id}/content`)).status, 200);
  const listed = await idsOf(setup, 'one', '/v1/files?purpose=batch_output');
  assert.deepEqual(listed.toSorted(), [batch.error_file_id, batch.output_file_id].toSorted());
  const [shown] = JSON.parse((await ask('one', 'GET', '/v1/batches')).body.toString()).data;
  assert.deepEqual(shown, batch);
  assert.equal(rig.app.batches(), 0);
  assert.equal((await ask('one', 'DELETE', `/v1/files/${batch.output_file_id}`)).status, 200);
  assert.equal((await send('one', linesOf(1))).status, 200);
});

test('a batch and its files are unknown to another project: by ID, in lists and in request bodies', async (t) => {
  const setup = await startBatchSetup(t);
  const { up, service, ask, send, make } = setup;
  const id = await make('one', 2);
  service.finish();
  await settled(setup);
  const batch = JSON.parse((await ask('one', 'GET', `/v1/batches/${id}`)).body.toString());
  const own = JSON.parse((await send('two', linesOf(1))).body.toString()).id;
  const before = up.requests.length;
  for (const [method, path] of [
    ['GET', '/v1/batches/ID'],
    ['POST', '/v1/batches/ID/cancel'],
  ] as const) {
    const answers = await Promise.all(
      [id, 'batch_never', batch.output_file_id].map((one) => ask('two', method, path.replace('ID', one))),
    );
    for (const answer of answers) assertError(answer, 'object_not_found', { param: 'id' });
    assert.equal(new Set(answers.map(({ body }) => body.toString())).size, 1);
  }
  for (const file of [batch.output_file_id, batch.input_file_id]) {
    for (const [method, tail] of [
      ['GET', ''],
      ['GET', '/content'],
      ['DELETE', ''],
    ] as const) {
      assertError(await ask('two', method, `/v1/files/${file}${tail}`), 'object_not_found', { param: 'id' });
    }
    const wanted = { input_file_id: file, endpoint: '/v1/chat/completions', completion_window: '24h' };
    assertError(await ask('two', 'POST', '/v1/batches', wanted), 'object_not_found', { param: 'input_file_id' });
    assertError(
      await send(
        'two',
        `${chatLine('x', { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: file } }] }] })}\n`,
      ),
      'object_not_found',
      { param: 'file_id' },
    );
  }
  assertError(await ask('two', 'GET', `/v1/batches?after=${id}`), 'object_not_found', { param: 'id' });
  assert.deepEqual(await idsOf(setup, 'two', '/v1/batches'), []);
  assert.deepEqual(await idsOf(setup, 'two', '/v1/files'), [own]);
  for (const client of ['loner', 'other'] as const) {
    assertError(await ask(client, 'GET', '/v1/batches'), 'route_not_found');
    assertError(await ask(client, 'GET', `/v1/batches/${id}`), 'route_not_found');
    assertError(await ask(client, 'POST', '/v1/batches', {}), 'route_not_found');
  }
  assert.equal(up.requests.length, before);
});

test('a batch file with one invalid line is refused with line number and fault, and not sent upstream', async (t) => {
  const { up, send } = await startBatchSetup(t, { key: { models: ['m', 'embed', 'hidden', 'elsewhere', 'far'] } });
  const good = chatLine('good');
  const line = (more: object): string =>
    JSON.stringify({
      custom_id: 'x',
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model: 'm', messages: [] },
      ...more,
    });
  const rows: readonly (readonly [text: string, no: number | undefined, code: ErrorCode, param: string])[] = [
    ['', undefined, 'invalid_json', 'file'],
    [`\ufeff${good}\n`, 1, 'invalid_json', 'file'],
    [`${good}\n\n${chatLine('b')}\n`, 2, 'invalid_json', 'file'],
    [`${good}\n{"custom_id"\n`, 2, 'invalid_json', 'file'],
    [`${good}\n${chatLine('b')} ${chatLine('c')}\n`, 2, 'invalid_json', 'file'],
    [`${good}\n[1]\n`, 2, 'invalid_json', 'file'],
    [`${good}\n${chatLine('b').replace('{', '{\r')}\n`, 2, 'invalid_json', 'file'],
    [`${good}\n\r${chatLine('b')}\n`, 2, 'invalid_json', 'file'],
    [`${good}\n${good}\n`, 2, 'duplicate_parameter', 'custom_id'],
    [`${good}\n${good.replace('good', '\\u0067ood')}\n`, 2, 'duplicate_parameter', 'custom_id'],
    [`${line({ custom_id: undefined })}\n`, 1, 'missing_required_parameter', 'custom_id'],
    [`${line({ custom_id: 7 })}\n`, 1, 'invalid_type', 'custom_id'],
    [`${line({ custom_id: '' })}\n`, 1, 'invalid_type', 'custom_id'],
    [`${line({ custom_id: 'x'.repeat(1_023) })}\n`, 1, 'invalid_type', 'custom_id'],
    [`${line({ method: 'GET' })}\n`, 1, 'invalid_type', 'method'],
    [`${line({ method: undefined })}\n`, 1, 'missing_required_parameter', 'method'],
    [`${line({ url: '/v1/files' })}\n`, 1, 'unsupported_parameter', 'url'],
    [`${line({ url: '/v1/images/generations' })}\n`, 1, 'unsupported_parameter', 'url'],
    [`${line({ url: '/v1/chat/completions?x=1' })}\n`, 1, 'unsupported_parameter', 'url'],
    [`${line({ body: [] })}\n`, 1, 'invalid_type', 'body'],
    [`${line({ headers: {} })}\n`, 1, 'unsupported_parameter', 'headers'],
    [`${line({}).replace('{', '{"Body":{},')}\n`, 1, 'duplicate_parameter', 'body'],
    [`${line({}).replace('"model":"m"', '"model":"m","model":"m"')}\n`, 1, 'duplicate_parameter', 'model'],
    [`${line({}).replace('"model":"m"', '"model":"m","mod\\u0065l":"embed"')}\n`, 1, 'duplicate_parameter', 'model'],
    [`${line({}).replace('"model":"m"', '"model":"m","Model":"embed"')}\n`, 1, 'duplicate_parameter', 'model'],
    [`${line({ body: { messages: [] } })}\n`, 1, 'missing_required_parameter', 'model'],
    [`${line({ body: { model: 'never', messages: [] } })}\n`, 1, 'model_not_found', 'model'],
    [`${line({ body: { model: 'forbidden', messages: [] } })}\n`, 1, 'model_not_found', 'model'],
    [`${line({ body: { model: 'embed', messages: [] } })}\n`, 1, 'operation_not_supported', 'model'],
    [`${line({ body: { model: 'elsewhere', messages: [] } })}\n`, 1, 'operation_not_supported', 'model'],
    [`${line({ body: { model: 'm' } })}\n`, 1, 'missing_required_parameter', 'messages'],
    [`${line({ body: { model: 'm', messages: 'x' } })}\n`, 1, 'invalid_type', 'messages'],
    [`${line({ body: { model: 'm', messages: [], stream: true } })}\n`, 1, 'unsupported_parameter', 'stream'],
    [`${line({ body: { model: 'm', messages: [], models: ['forbidden'] } })}\n`, 1, 'unsupported_parameter', 'models'],
    [
      `${line({ body: { model: 'm', messages: [{ content: [{ file_id: 'file-never' }] }] } })}\n`,
      1,
      'object_not_found',
      'file_id',
    ],
    [
      `${line({ url: '/v1/responses', body: { model: 'm', input: 'x', previous_response_id: 'resp_never' } })}\n`,
      1,
      'object_not_found',
      'previous_response_id',
    ],
    [
      `${line({ url: '/v1/responses', body: { model: 'm', input: 'x', background: true } })}\n`,
      1,
      'unsupported_parameter',
      'background',
    ],
    [`${line({ url: '/v1/embeddings', body: { model: 'hidden', input: 'x' } })}\n`, 1, 'model_not_found', 'model'],
    [
      `${good}\n${line({ url: '/v1/responses', body: { model: 'm', input: 'x' } })}\n`,
      2,
      'unsupported_parameter',
      'url',
    ],
    [`${good}\n${line({ body: { model: 'far', messages: [] } })}\n`, 2, 'unsupported_parameter', 'body.model'],
    [`${good}\n${'x'.repeat(40_000)}`, 2, 'body_too_large', 'file'],
    [`${good}\n${'['.repeat(100)}`, 2, 'body_too_deep', 'file'],
  ];
  for (const [text, no, code, param] of rows) {
    const answer = await send('one', text);
    assertError(answer, code, { param, of: text.slice(0, 300) });
    if (no !== undefined)
      assert.match(answer.body.toString(), new RegExp(`"message":"Line ${no} of the file: `), text.slice(0, 300));
  }
  const utf8 = Buffer.concat([Buffer.from(`${good}\n{"a":"`), Buffer.from([0xff]), Buffer.from('"}')]);
  assertError(await send('one', utf8), 'invalid_json', { param: 'file' });
  assert.equal(up.requests.length, 0);
  assert.equal((await send('one', `${good}\n`)).status, 200);
});

test('a key needs the operation of the lines, and the model when the batch is created', async (t) => {
  const { up, ask, send, compile } = await startBatchSetup(t, { key: { operations: ['embeddings'] } });
  assertError(await send('one', linesOf(1)), 'route_not_allowed', { param: 'file' });
  assertError(await send('one', 'x', 'user_data'), 'route_not_allowed');
  const line = JSON.stringify({
    custom_id: 'x',
    method: 'POST',
    url: '/v1/embeddings',
    body: { model: 'embed', input: ['a', 'b'] },
  });
  assert.equal((await send('one', line)).status, 200);
  const file = JSON.parse((await send('sibling', linesOf(2))).body.toString()).id;
  const wanted = { input_file_id: file, endpoint: '/v1/chat/completions', completion_window: '24h' };
  const before = up.requests.length;
  assertError(await ask('one', 'POST', '/v1/batches', wanted), 'route_not_allowed');
  assertError(
    await ask('sibling', 'POST', '/v1/batches', { ...wanted, endpoint: '/v1/embeddings' }),
    'unsupported_parameter',
    { param: 'endpoint' },
  );
  assertError(
    await ask('sibling', 'POST', '/v1/batches', { ...wanted, input_blob: 'https://x' }),
    'unsupported_parameter',
    { param: 'input_blob' },
  );
  assertError(
    await ask('sibling', 'POST', '/v1/batches', { ...wanted, completion_window: undefined }),
    'missing_required_parameter',
    { param: 'completion_window' },
  );
  assertError(await ask('sibling', 'POST', '/v1/batches', { ...wanted, input_file_id: 7 }), 'invalid_type', {
    param: 'input_file_id',
  });
  const other = JSON.parse((await send('sibling', linesOf(2), 'user_data')).body.toString()).id;
  assertError(
    await ask('sibling', 'POST', '/v1/batches', { ...wanted, input_file_id: other }),
    'unsupported_parameter',
    { param: 'input_file_id' },
  );
  await compile({ model: { targets: [{ upstream: 'up', model: 'gpt-newer' }] } });
  assertError(await ask('sibling', 'POST', '/v1/batches', wanted), 'unsupported_parameter', { param: 'input_file_id' });
  assert.equal(up.requests.length, before + 1);
});

test('the worst case of all lines is reserved until the end, and the cost is charged then', async (t) => {
  // At most: for each of two lines 100 tokens of output at 10, and bytes at 2, of which half is charged in batches.
  const key = { budgets: [{ every: 'day', amount: '0.004' }] };
  const setup = await startBatchSetup(t, { key });
  const { service, send, ask, order } = setup;
  const lines = Array.from({ length: 2 }, (_, no) => chatLine(`l${no}`, { max_tokens: 100 })).join('\n');
  const file = JSON.parse((await send('one', lines)).body.toString()).id;
  assert.equal((await order('one', file)).status, 200);
  const spent = async () => (await setup.rig.store.ledger.page({}, { limit: 100 })).rows.length;
  const large = JSON.parse((await send('one', chatLine('large', { max_tokens: 500 }))).body.toString()).id;
  assertError(await order('one', large), 'budget_exceeded');
  service.finish();
  await settled(setup);
  assert.ok((await spent()) > 0);
  await until(async () => (await order('one', large)).status === 200);
  const hosted = await send('one', chatLine('x', { web_search_options: {} }));
  assert.equal(hosted.status, 200);
  assertError(await order('one', JSON.parse(hosted.body.toString()).id), 'unsupported_parameter', {
    param: 'web_search_options',
  });
  assert.equal((await ask('one', 'GET', '/v1/batches')).status, 200);
});

test("a batch counts with all its lines for the key's request limit, and as one call for the upstream's", async (t) => {
  const { rig, send, order } = await startBatchSetup(t, {
    key: { limits: { requests_per_minute: 8 } },
    upstream: { limits: { requests_per_minute: 4 } },
  });
  const file = JSON.parse((await send('one', linesOf(6))).body.toString()).id;
  assert.equal((await order('one', file)).status, 200);
  assertError(await order('one', file), 'rate_limit_exceeded');
  assert.equal(rig.app.batches(), 1);
});

test('an expired, failed or cancelled batch costs what was done', async (t) => {
  const setup = await startBatchSetup(t);
  const { service, make, ask } = setup;
  const one = (2 * 6_000 + 4_000 + 30_000 + 100_000) / 2;
  for (const [status, outcome, done, cost] of [
    ['expired', 'cut', 1, one],
    ['cancelled', 'aborted', 2, 2 * one],
    ['failed', 'error', 0, 0],
  ] as const) {
    const id = await make('one', 3);
    if (status === 'cancelled') {
      const answer = await ask('one', 'POST', `/v1/batches/${id}/cancel`);
      assert.equal(JSON.parse(answer.body.toString()).status, 'cancelling');
    }
    service.finish((line, no) => (no < done ? chatAnswer(line) : undefined), status);
    await settled(setup);
    await until(async () => (await rowsOf(setup)).some((row) => row.outcome === outcome));
    const row = (await rowsOf(setup)).find((found) => found.outcome === outcome);
    assert.deepEqual([row?.costNanos, row?.promptTokens], [cost, done === 0 ? null : 10 * done], status);
  }
});

test('after a shutdown the next process bills a running batch once', async (t) => {
  const setup = await startBatchSetup(t, { key: { budgets: [{ every: 'day', amount: 1 }] } });
  const { rig, service, make } = setup;
  const id = await make('one', 3);
  await until(() => rig.app.batches() === 1);
  const next = await setup.another();
  await rig.app.close();
  await until(() => next.batches() === 1);
  service.finish();
  await settled(setup);
  await until(async () => (await rowsOf(setup)).filter(({ costNanos }) => costNanos !== 0).length === 1);
  assert.equal(service.batches.get(id)?.status, 'completed');
});

test("a batch's output cannot be deleted before it is billed, and a lost output is billed as reserved", async (t) => {
  const setup = await startBatchSetup(t);
  const { up, service, make, ask } = setup;
  const id = await make('one', 2);
  up.respondWith((request, reply) =>
    request.path.endsWith('/content') ? reply.json(500, {}) : service.handler(request, reply),
  );
  service.finish();
  const batch = JSON.parse((await ask('one', 'GET', `/v1/batches/${id}`)).body.toString());
  assertError(await ask('one', 'DELETE', `/v1/files/${batch.output_file_id}`), 'unsupported_parameter', {
    param: 'id',
  });
  await wait(100);
  assert.equal((await setup.rig.store.batches.ofProject('one')).length, 1);
  up.respondWith((request, reply) =>
    request.path.endsWith('/content') ? reply.json(404, {}) : service.handler(request, reply),
  );
  await settled(setup);
  await until(async () => (await rowsOf(setup)).some(({ outcome }) => outcome === 'lost'));
  const lost = (await rowsOf(setup)).find(({ outcome }) => outcome === 'lost');
  assert.ok((lost?.costNanos ?? 0) > 146_000);
  assert.equal(lost?.isEstimated, true);
});

test('a batch line without usage is billed by an estimate of its text, and the bill marked as estimated', async (t) => {
  const setup = await startBatchSetup(t);
  const { service, make } = setup;
  await make('one', 2);
  service.finish((line, no) => {
    const { body } = chatAnswer(line);
    return { body: no === 0 ? body : { ...body, usage: null } };
  });
  await settled(setup);
  await until(async () => (await rowsOf(setup)).some(({ isEstimated }) => isEstimated));
  const row = (await rowsOf(setup)).find(({ isEstimated }) => isEstimated);
  assert.deepEqual([row?.promptTokens, row?.completionTokens], [10, 3]);
  assert.ok((row?.billedInputTokens ?? 0) > 10 && (row?.billedOutputTokens ?? 0) > 3);
});

test('a batch is created and billed even if the client disconnects meanwhile', async (t) => {
  const setup = await startBatchSetup(t);
  const { up, rig, service, send } = setup;
  const file = JSON.parse((await send('one', linesOf(2))).body.toString()).id;
  const asked = Promise.withResolvers<void>();
  const goOn = Promise.withResolvers<void>();
  up.respondWith(async (request, reply) => {
    if (request.method === 'POST' && request.path.endsWith('/batches')) {
      asked.resolve();
      await goOn.promise;
    }
    return service.handler(request, reply);
  });
  const left = new AbortController();
  const body = JSON.stringify({ input_file_id: file, endpoint: '/v1/chat/completions', completion_window: '24h' });
  const headers = { authorization: `Bearer ${secrets.one}`, 'content-type': 'application/json' };
  const creating = fetch(`${rig.url}/v1/batches`, { method: 'POST', body, headers, signal: left.signal });
  await asked.promise;
  left.abort();
  await assert.rejects(creating);
  // Until the gateway knows.
  await wait(200);
  goOn.resolve();
  await until(async () => (await rig.store.batches.ofProject('one')).length === 1);
  service.finish();
  await settled(setup);
  await until(async () => (await rowsOf(setup)).some(({ costNanos }) => costNanos === 146_000));
});

test('a batch that cannot be recorded is cancelled, and the client gets an error', async (t) => {
  const { rig, service, send, order } = await startBatchSetup(t);
  const file = JSON.parse((await send('one', linesOf(2))).body.toString()).id;
  t.mock.method(rig.store.batches, 'add', () => Promise.reject(new Error('the disk is full')));
  const answer = await order('one', file);
  assertError(answer, 'store_unavailable');
  assert.deepEqual(
    [...service.batches.values()].map(({ status }) => status),
    ['cancelling'],
  );
});

test('lists are paged, without objects the key may not use', async (t) => {
  const setup = await startBatchSetup(t, { key: { models: ['embed'] } });
  const ids: string[] = [];
  for (let no = 0; no < 3; no += 1) {
    ids.push(await setup.make('sibling', 1));
    await wait(2);
  }
  const [first = '', second = '', third = ''] = ids;
  assert.deepEqual(await idsOf(setup, 'sibling', '/v1/batches?limit=2'), [third, second]);
  assert.deepEqual(await idsOf(setup, 'sibling', `/v1/batches?after=${second}`), [first]);
  const page = JSON.parse((await setup.ask('sibling', 'GET', '/v1/batches?limit=1')).body.toString());
  assert.deepEqual([page.has_more, page.first_id, page.last_id], [true, third, third]);
  assert.deepEqual(await idsOf(setup, 'one', '/v1/batches'), []);
  assertError(await setup.ask('one', 'GET', `/v1/batches/${first}`), 'object_not_found', { param: 'id' });
});

test('a batch over a file with a model that its own key may not use gets model_not_found', async (t) => {
  const { up, send, order } = await startBatchSetup(t, { key: { models: ['embed'] } });
  const file = JSON.parse((await send('sibling', linesOf(2))).body.toString()).id;
  const before = up.requests.length;
  assertError(await order('one', file), 'model_not_found', { param: 'model' });
  assert.equal(up.requests.length, before);
});

test('a refused batch has the operation of its path, so that the sums of refused requests have one operation', async (t) => {
  const { rig, send, order } = await startBatchSetup(t, { key: { models: ['m'] } });
  const line = { custom_id: 'x', method: 'POST', url: '/v1/embeddings', body: { model: 'embed', input: 'a' } };
  const file = JSON.parse((await send('sibling', JSON.stringify(line))).body.toString()).id;
  assertError(await order('one', file, '/v1/embeddings'), 'model_not_found', { param: 'model' });
  const refused = rig.settled.at(-1);
  assert.deepEqual([refused?.modelId, refused?.route?.operation], [undefined, 'chat']);
});

test('a batch is billed by the reported tokens and the number of input items of all its lines', async (t) => {
  const setup = await startBatchSetup(t);
  const line = (id: string, input: unknown): string =>
    JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/embeddings', body: { model: 'embed', input } });
  const lines = [
    line('a', 'x'),
    line(
      'b',
      Array.from({ length: 99 }, () => 'some text'),
    ),
    line('c', ['y', 'z']),
  ];
  const file = JSON.parse((await setup.send('one', lines.join('\n'))).body.toString()).id;
  assert.equal((await setup.order('one', file, '/v1/embeddings')).status, 200);
  const counts = [1, 300, 2];
  setup.service.finish((_, no) => ({
    body: { object: 'list', data: [], usage: { prompt_tokens: counts[no], total_tokens: counts[no] } },
  }));
  await settled(setup);
  await until(async () => (await rowsOf(setup)).some(({ costNanos }) => costNanos !== 0));
  const row = (await rowsOf(setup)).find(({ costNanos }) => costNanos !== 0) ?? assert.fail();
  assert.deepEqual([row.operation, row.promptTokens, row.items, row.isEstimated], ['embeddings', 303, 102, false]);
  assert.equal(row.costNanos, 303 * 1_000 + 102 * 10);
});

test('tools run by the upstream are reserved at their maximum, and billed by use', async (t) => {
  const setup = await startBatchSetup(t, {
    model: { context: 1_000, price: { input: 0, output: 0, tools: { web_search: '0.01' }, batch: '50%' } },
    key: { budgets: [{ every: 'day', amount: '0.045' }] },
  });
  const line = (id: string): string => {
    const body = { model: 'm', input: 'x', tools: [{ type: 'web_search' }], max_tool_calls: 4, max_output_tokens: 20 };
    return JSON.stringify({ custom_id: id, method: 'POST', url: '/v1/responses', body });
  };
  const send = async (count: number): Promise<string> => {
    const lines = Array.from({ length: count }, (_, no) => line(`l${no}`)).join('\n');
    return JSON.parse((await setup.send('one', lines)).body.toString()).id;
  };
  assertError(await setup.order('one', await send(3), '/v1/responses'), 'budget_exceeded');
  assert.equal((await setup.order('one', await send(2), '/v1/responses')).status, 200);
  setup.service.finish((_, no) => {
    const calls = Array.from({ length: no + 1 }, (__, call) => ({
      type: 'web_search_call',
      id: `ws_${call}`,
      action: { type: 'search' },
    }));
    return { body: { id: 'resp_1', output: calls, usage: { input_tokens: 5, output_tokens: 2, total_tokens: 7 } } };
  });
  await settled(setup);
  await until(async () => (await rowsOf(setup)).some(({ costNanos }) => costNanos !== 0));
  const row = (await rowsOf(setup)).find(({ costNanos }) => costNanos !== 0);
  assert.deepEqual([row?.costNanos, row?.isEstimated], [(3 * 10_000_000) / 2, false]);
});

test('an ended batch is not billed before its output is available', async (t) => {
  const setup = await startBatchSetup(t);
  const { up, rig, service, make } = setup;
  await make('one', 2);
  up.respondWith((request, reply) => {
    if (!request.path.includes('/batches/')) return service.handler(request, reply);
    const counts = { total: 2, completed: 2, failed: 0 };
    return reply.json(200, { id: 'batch_2', status: 'completed', output_file_id: null, request_counts: counts });
  });
  service.finish();
  await wait(200);
  assert.equal((await rig.store.batches.ofProject('one')).length, 1);
  up.respondWith(service.handler);
  await settled(setup);
  await until(async () => (await rowsOf(setup)).some(({ costNanos }) => costNanos === 146_000));
});

test('the official library uploads a file, runs a batch, and reads its output', async (t) => {
  const setup = await startBatchSetup(t);
  const client = new OpenAI({ baseURL: `${setup.rig.url}/v1`, apiKey: secrets.one, maxRetries: 0 });
  const file = await client.files.create({ file: await toFile(Buffer.from(linesOf(3)), 'a.jsonl'), purpose: 'batch' });
  const made = await client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata: { note: 'x' },
  });
  assert.equal((await client.batches.retrieve(made.id)).status, 'validating');
  setup.service.finish();
  const done = await client.batches.retrieve(made.id);
  const text = await (await client.files.content(done.output_file_id ?? '')).text();
  assert.equal(text.trim().split('\n').length, 3);
  const listed: string[] = [];
  for await (const one of client.batches.list({ limit: 1 })) listed.push(one.id);
  assert.deepEqual(listed, [made.id]);
  assert.equal((await client.batches.cancel(made.id)).id, made.id);
  await settled(setup);
});
