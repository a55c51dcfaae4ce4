/** Files at the upstream that the operator names for a project. */

import assert from 'node:assert/strict';
import { type TestContext, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { assertError } from '../support/clients/error-answer.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { type Rig, type RigDocument, startRig } from '../support/gateways/rig.ts';
import { type Client, secrets } from '../support/gateways/stored-objects-setup.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { createFileService } from '../support/upstreams/file-service.ts';
import { createKeepingService } from '../support/upstreams/keeping-service.ts';

interface Setup {
  readonly rig: Rig;
  readonly up: FakeUpstream;
  ask(client: Client, method: string, path: string, body?: object): Promise<RawResponse>;
  send(client: Client, form: string): Promise<RawResponse>;
  make(client: Client, more?: string): Promise<string>;
}

const part = (head: string, content: string): string =>
  `--b\r\nContent-Disposition: form-data; ${head}\r\n\r\n${content}\r\n`;
const filePart = part('name="file"; filename="x.txt"', 'hello \0\xff there');
const purposePart = part('name="purpose"', 'user_data');

async function startSetup(t: TestContext, keyOne: RigDocument = {}): Promise<Setup> {
  const files = createFileService();
  const answers = createKeepingService();
  const up = await startFakeUpstream((request, reply) =>
    (request.path.includes('/files') ? files : answers).handler(request, reply),
  );
  t.after(() => up.close());
  const accounts = [{ api_key: 'sk-account-one-0123456789' }, { api_key: 'sk-account-two-0123456789' }];
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: up.url, credentials: accounts }],
    models: [{ id: 'm', operations: ['responses', 'chat'], context: 8_000, targets: [{ upstream: 'up' }] }],
    projects: [{ id: 'one', files: 'up' }, { id: 'two', files: 'up' }, { id: 'none' }],
    keys: [
      { id: 'one', secret: secrets.one, project: 'one', ...keyOne },
      { id: 'sibling', secret: secrets.sibling, project: 'one' },
      { id: 'two', secret: secrets.two, project: 'two' },
      { id: 'loner', secret: secrets.loner },
      { id: 'other', secret: secrets.other, project: 'none' },
    ],
  });
  const bearer = (client: Client): [string, string] => ['Authorization', `Bearer ${secrets[client]}`];

  async function send(client: Client, form: string): Promise<RawResponse> {
    const type: [string, string] = ['Content-Type', 'multipart/form-data; boundary=b'];
    return rig.post('/v1/files', Buffer.from(`${form}--b--\r\n`, 'latin1'), { headers: [bearer(client), type] });
  }

  return {
    rig,
    up,
    send,
    ask(client, method, path, body) {
      if (body === undefined) return rig.get(path, { method, headers: [bearer(client)] });
      return rig.post(path, body, { method, headers: [bearer(client), ['Content-Type', 'application/json']] });
    },
    async make(client, more = '') {
      const answer = await send(client, filePart + purposePart + more);
      assert.equal(answer.status, 200, answer.body.toString());
      return JSON.parse(answer.body.toString()).id;
    },
  };
}

const listOf = async ({ ask }: Setup, client: Client, query = ''): Promise<string[]> => {
  const answer = await ask(client, 'GET', `/v1/files${query}`);
  assert.equal(answer.status, 200, answer.body.toString());
  return JSON.parse(answer.body.toString()).data.map(({ id }: { id: string }) => id);
};

test('a file is uploaded, read, downloaded and deleted, byte for byte, by every key of the project', async (t) => {
  const setup = await startSetup(t);
  const { rig, up, ask, make } = setup;
  const id = await make('one', part('name="expires_after[seconds]"', '3600'));
  const form = `${filePart}${purposePart}${part('name="expires_after[seconds]"', '3600')}--b--\r\n`;
  assert.equal(up.requests[0]?.body.toString('latin1'), form);
  assert.equal(up.requests[0]?.header('content-type'), 'multipart/form-data; boundary=b');
  for (const client of ['one', 'sibling'] as const) {
    assert.equal(JSON.parse((await ask(client, 'GET', `/v1/files/${id}`)).body.toString()).id, id);
    assert.equal((await ask(client, 'GET', `/v1/files/${id}/content`)).body.toString('latin1'), form);
    assert.deepEqual(await listOf(setup, client), [id]);
  }
  assert.equal((await ask('sibling', 'DELETE', `/v1/files/${id}`)).status, 200);
  assertError(await ask('one', 'GET', `/v1/files/${id}`), 'object_not_found', { param: 'id' });
  assert.deepEqual(await listOf(setup, 'one'), []);
  for (const { bill, outcome, route } of rig.settled.slice(0, 5)) {
    assert.deepEqual([bill, outcome], [null, 'ok']);
    assert.match(route?.path ?? '', /^\/v1\/files/);
  }
});

test('a file is unknown to another project: by ID, in lists and in request bodies', async (t) => {
  const setup = await startSetup(t);
  const { up, ask, make } = setup;
  const id = await make('one');
  const own = await make('two');
  const before = up.requests.length;
  for (const [method, tail] of [
    ['GET', ''],
    ['HEAD', ''],
    ['GET', '/content'],
    ['DELETE', ''],
  ] as const) {
    const answers = [
      await ask('two', method, `/v1/files/${id}${tail}`),
      await ask('two', method, `/v1/files/file-never${tail}`),
    ];
    for (const answer of answers) {
      if (method === 'HEAD') assert.equal(answer.status, 404);
      else assertError(answer, 'object_not_found', { param: 'id' });
    }
    assert.equal(answers[0]?.body.toString(), answers[1]?.body.toString());
  }
  assert.deepEqual(await listOf(setup, 'two'), [own]);
  assertError(await ask('two', 'GET', `/v1/files?after=${id}`), 'object_not_found', { param: 'id' });
  for (const [path, body, param] of [
    ['/v1/responses', { input: [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }] }, 'file_id'],
    [
      '/v1/responses',
      { input: 'x', tools: [{ type: 'code_interpreter', container: { type: 'auto', file_ids: [own, id] } }] },
      'file_ids',
    ],
    [
      '/v1/chat/completions',
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }] },
      'file_id',
    ],
  ] as const) {
    assertError(await ask('two', 'POST', path, { model: 'm', ...body }), 'object_not_found', { param });
  }
  assertError(await ask('two', 'GET', `/v1/responses/${id}`), 'object_not_found', { param: 'id' });
  assert.equal(up.requests.length, before);
});

test('a request that names a file goes to the account that holds it', async (t) => {
  const { up, ask, make } = await startSetup(t);
  const id = await make('one');
  const account = up.requests[0]?.header('authorization');
  for (let turn = 0; turn < 8; turn += 1) {
    const input = [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }];
    assert.equal((await ask('one', 'POST', '/v1/responses', { model: 'm', input })).status, 200);
    assert.equal(up.requests.at(-1)?.header('authorization'), account);
  }
});

test('without a files upstream in the project the file paths do not exist', async (t) => {
  const { up, ask, send } = await startSetup(t);
  for (const client of ['loner', 'other'] as const) {
    assertError(await send(client, filePart + purposePart), 'route_not_found');
    assertError(await ask(client, 'GET', '/v1/files'), 'route_not_found');
    assertError(await ask(client, 'GET', '/v1/files/file-1'), 'route_not_found');
  }
  assert.equal(up.requests.length, 0);
});

test('an ambiguous form, or one unfit for a batch, is refused by name', async (t) => {
  const { up, send, ask } = await startSetup(t);
  for (const [form, code, param] of [
    [purposePart, 'missing_required_parameter', 'file'],
    [filePart, 'missing_required_parameter', 'purpose'],
    [filePart + purposePart + purposePart, 'duplicate_parameter', 'purpose'],
    [filePart + purposePart + part('name="Purpose"', 'batch'), 'duplicate_parameter', 'purpose'],
    [filePart + purposePart + part('name="purpose[]"', 'batch'), 'duplicate_parameter', 'purpose'],
    [filePart + purposePart + part(`name="'purpose'"`, 'batch'), 'duplicate_parameter', 'purpose'],
    [filePart + filePart + purposePart, 'duplicate_parameter', 'file'],
    [part('name="file"', 'x') + purposePart, 'invalid_type', 'file'],
    [filePart + part('name="purpose"', 'batch'), 'invalid_json', 'file'],
    [filePart + part('name="purpose"', 'batch_output'), 'unsupported_parameter', 'purpose'],
    [filePart + part('name="purpose"; filename="p"', 'user_data'), 'invalid_type', 'purpose'],
  ] as const) {
    assertError(await send('one', form), code, { param, of: form });
  }
  assertError(await ask('one', 'POST', '/v1/files', { purpose: 'user_data' }), 'unsupported_media_type');
  assert.equal(up.requests.length, 0);
});

test('lists are paged, in either order, and filtered by purpose', async (t) => {
  const setup = await startSetup(t);
  const ids: string[] = [];
  for (let no = 0; no < 5; no += 1) {
    ids.push(await setup.make('one'));
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  const [, second = '', third = ''] = ids;
  assert.deepEqual(await listOf(setup, 'one'), ids.toReversed());
  assert.deepEqual(await listOf(setup, 'one', '?order=asc&limit=2'), ids.slice(0, 2));
  assert.deepEqual(await listOf(setup, 'one', `?order=asc&limit=2&after=${second}`), ids.slice(2, 4));
  assert.deepEqual(await listOf(setup, 'one', `?after=${third}`), ids.slice(0, 2).toReversed());
  assert.deepEqual(await listOf(setup, 'one', '?purpose=vision'), []);
  const page = JSON.parse((await setup.ask('one', 'GET', '/v1/files?limit=4')).body.toString());
  assert.deepEqual([page.has_more, page.first_id, page.last_id], [true, ids[4], ids[1]]);
});

test('a file that cannot be recorded gives the client an error', async (t) => {
  const { rig, send } = await startSetup(t);
  t.mock.method(rig.store.storedObjects, 'add', () => Promise.reject(new Error('the disk is full')));
  const answer = await send('one', filePart + purposePart);
  assertError(answer, 'store_unavailable');
  assert.doesNotMatch(answer.body.toString(), /file-1/);
});

test('an upload counts as a concurrent request of its key while it arrives', async (t) => {
  const { rig, ask } = await startSetup(t, { limits: { concurrency: 1 } });
  const form = Buffer.from(`${filePart}${purposePart}--b--\r\n`, 'latin1');
  const connection = await connect(rig.port);
  const lines = [
    'POST /v1/files HTTP/1.1',
    'Host: 127.0.0.1',
    `Authorization: Bearer ${secrets.one}`,
    'Content-Type: multipart/form-data; boundary=b',
    `Content-Length: ${form.length}`,
  ];
  await connection.write(`${lines.join('\r\n')}\r\n\r\n`);
  const list = () => ask('one', 'GET', '/v1/files');
  let other = await list();
  for (let turn = 0; turn < 500 && other.status === 200; turn += 1) other = await list();
  assertError(other, 'rate_limit_exceeded');
  await connection.write(form);
  assert.equal((await connection.nextResponse()).status, 200);
  assert.equal((await list()).status, 200);
});

test('a project with a files upstream that cannot store them is a configuration fault', async (t) => {
  const { rig } = await startSetup(t);
  const upstreams = [{ id: 'jina', family: 'jina', api_key: 'x' }];
  for (const [files, why] of [
    ['nobody', /no upstream is called/],
    ['jina', /keeps no files, as family jina does not/],
  ] as const) {
    const document = { upstreams, models: [], projects: [{ id: 'one', files }], keys: [] };
    await assert.rejects(rig.compile(document), why);
  }
});

test('the official library uploads, lists, downloads and deletes files', async (t) => {
  const { rig } = await startSetup(t);
  const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: secrets.one, maxRetries: 0 });
  const file = await client.files.create({ file: await toFile(Buffer.from('hello'), 'a.txt'), purpose: 'user_data' });
  assert.equal((await client.files.retrieve(file.id)).id, file.id);
  const listed: string[] = [];
  for await (const one of client.files.list({ limit: 1 })) listed.push(one.id);
  assert.deepEqual(listed, [file.id]);
  assert.match(await (await client.files.content(file.id)).text(), /hello/);
  assert.equal((await client.files.delete(file.id)).deleted, true);
});
