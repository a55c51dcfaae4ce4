/** Requests that name what an upstream keeps: for whom they pass, and where they go. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import OpenAI from 'openai';
import { assertError } from '../support/clients/error-answer.ts';
import { type Client, secrets, startStoredObjectsSetup } from '../support/gateways/stored-objects-setup.ts';

const path = '/v1/responses';

/** Every way in which a body can name an answer or an item. */
const namings = (response: string): readonly (readonly [more: object, param: string])[] => {
  const [item, reasoning] = [response.replace('resp', 'msg'), response.replace('resp', 'rs')];
  return [
    [{ previous_response_id: response }, 'previous_response_id'],
    [{ input: [{ type: 'item_reference', id: item }] }, 'item_reference'],
    [{ input: [{ type: 'item_reference', id: item, result: 'x' }] }, 'item_reference'],
    [{ input: [{ id: item }] }, 'input'],
    [{ input: [{ id: item, type: null }] }, 'input'],
    [{ input: [{ type: 'reasoning', id: reasoning, summary: [] }] }, 'input'],
    [{ input: [{ type: 'reasoning', id: reasoning, summary: [], content: [] }] }, 'input'],
    [{ input: [{ type: 'compaction', id: item }] }, 'input'],
    [{ input: [{ type: 'image_generation_call', id: item }] }, 'image_generation_call'],
  ];
};

test('keys of its project may name a stored object, and the request goes to the account that holds it', async (t) => {
  const { up, ask, make } = await startStoredObjectsSetup(t);
  const accounts = new Set<string | undefined>();
  // Which account makes it is left to chance.
  for (let turn = 0; turn < 6 || (accounts.size < 2 && turn < 100); turn += 1) {
    const id = await make('one');
    const account = up.requests.at(-1)?.header('authorization');
    accounts.add(account);
    for (const client of ['one', 'sibling'] as const) {
      for (const [more] of namings(id)) {
        const answer = await ask(client, 'POST', path, { model: 'm', input: 'x', ...more });
        assert.equal(answer.status, 200, `${client} ${JSON.stringify(more)}: ${answer.body.toString()}`);
        assert.equal(up.requests.at(-1)?.header('authorization'), account, JSON.stringify(more));
      }
    }
  }
  assert.equal(accounts.size, 2);
});

test("a request that names another project's stored object gets the same 404 as for an unknown ID", async (t) => {
  const { rig, up, far, ask, make } = await startStoredObjectsSetup(t);
  const made: [Client, string][] = [
    ['one', await make('one')],
    ['loner', await make('loner')],
  ];
  const others: Readonly<Record<string, readonly Client[]>> = {
    one: ['two', 'loner', 'other'],
    loner: ['one', 'two', 'other'],
  };
  const before = up.requests.length;
  for (const [owner, id] of made) {
    for (const client of others[owner] ?? []) {
      for (const [index, [more, param]] of namings(id).entries()) {
        const answer = await ask(client, 'POST', path, { model: 'm', input: 'x', ...more });
        assertError(answer, 'object_not_found', { param, of: `${client} ${JSON.stringify(more)}` });
        const [never] = namings('resp_never')[index] ?? assert.fail();
        const unknown = await ask(client, 'POST', path, { model: 'm', input: 'x', ...never });
        assert.equal(answer.body.toString(), unknown.body.toString());
      }
      // An item given in full passes if its ID is unknown, and not if it belongs to someone else.
      const inFull = (item: string) => ({
        model: 'm',
        input: [{ type: 'message', role: 'assistant', id: item, content: [{ type: 'output_text', text: 'four' }] }],
      });
      assertError(await ask(client, 'POST', path, inFull(id.replace('resp', 'msg'))), 'object_not_found', {
        param: 'input',
      });
    }
  }
  assert.equal(up.requests.length, before);
  assert.equal(far.requests.length, 0);
  assert.equal(rig.settled.filter(({ status }) => status >= 500).length, 0);
});

test('a foreign ID passes in no spelling: duplicate, escaped, folded or of another kind', async (t) => {
  const { up, ask, make } = await startStoredObjectsSetup(t);
  const theirs = await make('one');
  const own = await make('two');
  const before = up.requests.length;
  const [theirItem, ownItem] = [theirs.replace('resp', 'msg'), own.replace('resp', 'msg')];
  const escaped = [...theirItem].map((one) => `\\u00${one.charCodeAt(0).toString(16)}`).join('');
  for (const body of [
    `{"model":"m","input":"x","previous_response_id":"${own}","previous_response_id":"${theirs}"}`,
    `{"model":"m","input":"x","previous_response_id":"${own}","Previous_Response_Id":"${theirs}"}`,
    `{"model":"m","input":"x","previous\\u005fresponse_id":"${theirs}"}`,
    `{"model":"m","input":"x","Previous_response_id":"${theirs}"}`,
    `{"model":"m","input":"x","previous_response_id":{"id":"${theirs}"}}`,
    `{"model":"m","input":"x","previous_response_id":["${theirs}"]}`,
    `{"model":"m","input":[{"type":"item_reference","id":"${theirItem}","id":"${ownItem}"}]}`,
    `{"model":"m","input":[{"type":"item_reference","id":"${ownItem}","id":"${theirItem}"}]}`,
    `{"model":"m","input":[{"type":"item_reference","\\u0069d":"${theirItem}","id":"${ownItem}"}]}`,
    `{"model":"m","input":[{"type":"item\\u005freference","type":"message","id":"${theirItem}","content":"x"}]}`,
    `{"model":"m","input":[{"type":"item_reference","id":"${escaped}"}]}`,
    `{"model":"m","input":[{"type":"message","content":"x","id":"${escaped}"}]}`,
    `{"model":"m","input":[{"type":"message","content":"x","id":"${theirItem}","id":"${ownItem}"}]}`,
    `{"model":"m","input":"x","previous_response_id":"${theirItem}"}`,
    `{"model":"m","input":"x","previous_response_id":"${ownItem}"}`,
    `{"model":"m","input":[{"type":"item_reference","id":"${own}"}]}`,
    `{"model":"m","input":"x","tools":[{"type":"code_interpreter","container":"${own}"}]}`,
    `{"model":"m","input":[{"content":[{"file\\u005fid":"file-1","file_id":{}}]}]}`,
    `{"model":"m","input":[{"type":"item_reference","id":"${'x'.repeat(5_000)}"}]}`,
  ]) {
    const answer = await ask('two', 'POST', path, body);
    assert.ok([400, 404].includes(answer.status), `${answer.status} ${body}`);
  }
  assert.equal(up.requests.length, before);
});

test("a request that names objects of two accounts, or a model not served at the object's account, gets 400", async (t) => {
  const { ask, make } = await startStoredObjectsSetup(t);
  const [near, distant] = [await make('one'), await make('one', { model: 'away' })];
  const reference = { type: 'item_reference', id: distant.replace('resp', 'msg') };
  const named = { previous_response_id: near, input: [reference] };
  assertError(await ask('one', 'POST', path, { model: 'both', ...named }), 'unsupported_parameter', {
    param: 'item_reference',
  });
  assertError(
    await ask('one', 'POST', path, { model: 'away', input: 'x', previous_response_id: near }),
    'unsupported_parameter',
    { param: 'previous_response_id' },
  );
});

test('of several upstreams only the one that holds it is called, even if it fails', async (t) => {
  const { up, far, ask, make } = await startStoredObjectsSetup(t);
  const id = await make('one', { model: 'away' });
  const before = up.requests.length;
  for (let turn = 0; turn < 6; turn += 1) {
    const answer = await ask('one', 'POST', path, { model: 'both', input: 'x', previous_response_id: id });
    assert.equal(answer.status, 200);
  }
  far.respondWith((_request, reply) => reply.json(429, { error: { message: 'slow down' } }));
  const answer = await ask('one', 'POST', path, { model: 'both', input: 'x', previous_response_id: id });
  assert.equal(answer.status, 429);
  assert.equal(up.requests.length, before);
});

test('input items given in full go to the account that stores their ID, or to any if the ID is unknown', async (t) => {
  const { up, far, ask, make } = await startStoredObjectsSetup(t);
  const id = await make('one', { model: 'away' });
  const message = (item: string) => ({ type: 'message', role: 'assistant', id: item, content: 'four' });
  const before = up.requests.length;
  for (let turn = 0; turn < 6; turn += 1) {
    const answer = await ask('one', 'POST', path, { model: 'both', input: [message(id.replace('resp', 'msg'))] });
    assert.equal(answer.status, 200);
  }
  assert.equal(up.requests.length, before);
  assert.equal(
    (await ask('one', 'POST', path, { model: 'm', input: [message(id.replace('resp', 'msg'))] })).status,
    200,
  );
  assert.equal((await ask('two', 'POST', path, { model: 'away', input: [message('msg_of_mine')] })).status, 200);
  const sealed = { type: 'reasoning', id: 'rs_of_mine', summary: [], encrypted_content: 'abc' };
  assert.equal((await ask('two', 'POST', path, { model: 'away', input: [sealed] })).status, 200);
  assert.ok(far.requests.length > 0);
});

test('a long body naming the previous response passes, and one with a foreign item does not', async (t) => {
  const { ask, make } = await startStoredObjectsSetup(t);
  const id = await make('one');
  const picture = { type: 'input_image', image_url: `data:image/png;base64,${'A'.repeat(6 * 1024 ** 2)}` };
  const input = [{ type: 'message', role: 'user', content: [picture] }];
  assert.equal((await ask('one', 'POST', path, { model: 'm', input, previous_response_id: id })).status, 200);
  const theirs = { type: 'message', role: 'assistant', id: id.replace('resp', 'msg'), content: 'four' };
  assertError(await ask('two', 'POST', path, { model: 'm', input: [...input, theirs] }), 'object_not_found', {
    param: 'input',
  });
});

test("under a budget a stored conversation's length is the model's context, and a model without one is refused", async (t) => {
  const key = { budgets: [{ every: 'day', amount: '0.01' }] };
  const bounded = await startStoredObjectsSetup(t, { key, model: { context: 4_000 } });
  const small = { model: 'm', input: 'x', max_output_tokens: 16 };
  const id = await bounded.make('one', small);
  assert.equal((await bounded.ask('one', 'POST', path, { ...small, previous_response_id: id })).status, 200);
  const large = await startStoredObjectsSetup(t, { key, model: { context: 400_000 } });
  const other = await large.make('one', small);
  assertError(await large.ask('one', 'POST', path, { ...small, previous_response_id: other }), 'budget_exceeded');
  const open = await startStoredObjectsSetup(t, { key });
  const third = await open.make('one', small);
  assertError(await open.ask('one', 'POST', path, { ...small, previous_response_id: third }), 'unsupported_parameter', {
    param: 'previous_response_id',
  });
});

test('with the store unreachable, a named object gets 503, not 404, and requests that name none pass', async (t) => {
  const { rig, up, ask, make } = await startStoredObjectsSetup(t);
  const id = await make('one');
  t.mock.method(rig.store.storedObjects, 'find', () => Promise.reject(new Error('away')));
  const before = up.requests.length;
  assertError(
    await ask('one', 'POST', path, { model: 'm', input: 'x', previous_response_id: id }),
    'store_unavailable',
  );
  assert.equal(up.requests.length, before);
  assert.equal((await ask('one', 'POST', path, { model: 'm', input: 'x' })).status, 200);
});

test('the official library continues a stored conversation', async (t) => {
  const { rig } = await startStoredObjectsSetup(t);
  const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: secrets.one, maxRetries: 0 });
  const first = await client.responses.create({ model: 'm', input: '2+2?' });
  const second = await client.responses.create({ model: 'm', input: 'and?', previous_response_id: first.id });
  assert.equal(second.output_text, 'four');
  const input = first.output.map(({ id }) => ({ type: 'item_reference' as const, id: id ?? '' }));
  const stream = await client.responses.create({ model: 'm', input, stream: true });
  let last: string | undefined;
  for await (const { type } of stream) last = type;
  assert.equal(last, 'response.completed');
});
