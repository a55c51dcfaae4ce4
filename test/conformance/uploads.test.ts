/** Forms with files: what is refused and how, what reaches an upstream, how often, and what it takes of memory and disk. */

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request as httpRequest } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type TestContext, test } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { assertError } from '../support/clients/error-answer.ts';
import { boundary, formType, type Part, toForm } from '../support/clients/forms.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { heldBytes } from '../support/held-bytes.ts';
import { type FakeUpstream, type Handler, type Script, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const path = '/v1/audio/transcriptions';
const MiB = 1024 ** 2;
const transcribing: Handler = (_request, reply) =>
  reply.json(200, { text: 'hello', usage: { type: 'duration', seconds: 90 } });
const busy: Handler = (_request, reply) => reply.json(429, { error: { message: 'later' } });

const named = (value: string): Part => ({ name: 'model', value });
const soundOf = (bytes: number, seed = 7): Part => {
  const value = Buffer.alloc(bytes);
  for (let at = 0, state = seed; at < bytes; at += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    value[at] = state >>> 16;
  }
  return { name: 'file', value, filename: 'a.mp3', type: 'audio/mpeg' };
};

interface Setup {
  readonly rig: Rig;
  readonly ups: readonly FakeUpstream[];
  readonly directory: string;
  post(body: Buffer, type?: string): Promise<RawResponse>;
}

async function startSetup(
  t: TestContext,
  scripts: readonly Script[],
  { server = {}, model = {}, key = {} }: { server?: object; model?: object; key?: object } = {},
): Promise<Setup> {
  const directory = mkdtempSync(join(tmpdir(), 'postern-uploads-'));
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20 }));
  const ups = await Promise.all(scripts.map((script) => startFakeUpstream(script)));
  t.after(() => Promise.all(ups.map((up) => up.close())));
  const rig = await startRig(t, {
    server: { upload_directory: directory, ...server },
    upstreams: ups.map(({ url }, index) => ({
      id: `up${index}`,
      family: 'openai',
      base_url: url,
      api_key: 'sk-upstream',
    })),
    models: [
      {
        id: 'm',
        operations: ['transcriptions', 'image_edits'],
        targets: ups.map((_, index) => ({ upstream: `up${index}`, model: `name-at-${index}`, priority: index })),
        ...model,
      },
    ],
    keys: [{ id: 'test', secret: testKey, ...key }],
  });
  const post = (body: Buffer, type = formType): Promise<RawResponse> =>
    rig.post(path, body, {
      headers: [
        ['Authorization', `Bearer ${testKey}`],
        ['Content-Type', type],
      ],
      timeoutMs: 60_000,
    });
  return { rig, ups, directory, post };
}

test('an ambiguous form is refused by name before anything is sent', async (t) => {
  const { post, ups } = await startSetup(t, [transcribing]);
  const file = soundOf(10);
  const rows: readonly [parts: readonly Part[], code: Parameters<typeof assertError>[1], param?: string][] = [
    [[file], 'missing_required_parameter', 'model'],
    [[named('m')], 'missing_required_parameter', 'file'],
    [[named('m'), file, named('m')], 'duplicate_parameter', 'model'],
    [[named('m'), { name: 'Model', value: 'x' }, file], 'duplicate_parameter', 'model'],
    [[named('m'), { name: 'model[]', value: 'x' }, file], 'duplicate_parameter', 'model'],
    [[named('m'), { name: 'model[0][a]', value: 'x' }, file], 'duplicate_parameter', 'model'],
    [[named('m'), { name: "'model'", value: 'x' }, file], 'duplicate_parameter', 'model'],
    [[{ name: 'MODEL', value: 'm' }, file], 'invalid_type', 'model'],
    [[{ ...named('m'), filename: '' }, file], 'invalid_type', 'model'],
    [[{ ...named('m'), filename: 'm.txt' }, file], 'invalid_type', 'model'],
    [[{ ...named('m'), type: 'application/json' }, file], 'invalid_type', 'model'],
    [[{ ...named('m'), type: 'text/plain; charset=utf-16' }, file], 'invalid_type', 'model'],
    [[named('m'.repeat(2_000)), file], 'invalid_type', 'model'],
    [[named('m'.repeat(200_000)), file], 'invalid_type', 'model'],
    [[{ name: 'model', value: Buffer.from([0x6d, 0xff]) }, file], 'invalid_type', 'model'],
    [[{ name: 'model', value: 'mü', type: 'text/plain; charset=ISO-8859-1' }, file], 'invalid_type', 'model'],
    [[named('unknown'), file], 'model_not_found', 'model'],
    [[named('m'), { ...file, more: ['Content-Transfer-Encoding: base64'] }], 'invalid_multipart'],
    [[named('m'), ...Array.from({ length: 300 }, (): Part => ({ name: 'x', value: '' })), file], 'invalid_multipart'],
    [[named('m'), { ...file, more: [`X: ${'y'.repeat(9_000)}`] }], 'invalid_multipart'],
  ];
  for (const [parts, code, param] of rows)
    assertError(await post(toForm(parts)), code, param === undefined ? {} : { param });
  const good = toForm([named('m'), file]);
  for (const body of [good.subarray(0, -8), good.subarray(4), Buffer.concat([good, good]), Buffer.from('{}')]) {
    assertError(await post(body), 'invalid_multipart');
  }
  for (const type of ['multipart/form-data', 'multipart/form-data; boundary=', `${formType}; boundary=x`]) {
    assertError(await post(good, type), 'invalid_multipart');
  }
  assertError(await post(Buffer.from('{"model":"m"}'), 'application/json'), 'unsupported_media_type');
  assert.equal(ups[0]?.requests.length, 0);
  assert.equal((await post(good)).status, 200);
});

test('accepts a model as clients for Java send it: with a transfer encoding, and in ISO-8859-1', async (t) => {
  const { post } = await startSetup(t, [transcribing]);
  const rows: readonly (readonly [type: string, encoding: string])[] = [
    ['text/plain; charset=ISO-8859-1', '8bit'],
    ['text/plain; charset=utf-8', 'binary'],
  ];
  for (const [type, encoding] of rows) {
    const model: Part = { ...named('m'), type, more: [`Content-Transfer-Encoding: ${encoding}`] };
    assert.equal((await post(toForm([model, soundOf(10)]))).status, 200, type);
  }
});

test('a compressed form is refused, and a form over upload_limit gets 413 that names the setting', async (t) => {
  const { rig, post, ups } = await startSetup(t, [transcribing], { server: { upload_limit: '2MiB' } });
  const headers = [
    ['Authorization', `Bearer ${testKey}`],
    ['Content-Type', formType],
  ] as const;
  const packed = await rig.post(path, Buffer.from('x'), { headers: [...headers, ['Content-Encoding', 'gzip']] });
  assertError(packed, 'unsupported_encoding');
  const long = toForm([named('m'), soundOf(2 * MiB)]);
  const announced = await post(long);
  assertError(announced, 'body_too_large');
  assert.match(announced.body.toString(), /server\.upload_limit/);
  const chunked = Buffer.concat([Buffer.from(`${long.length.toString(16)}\r\n`), long, Buffer.from('\r\n0\r\n\r\n')]);
  assertError(
    await rig.post(path, chunked, { headers: [...headers, ['Transfer-Encoding', 'chunked']] }),
    'body_too_large',
  );
  assert.equal(ups[0]?.requests.length, 0);
});

test('from memory or a file, a retried form is identical except for the model name', async (t) => {
  for (const bytes of [10, 200_000, 400_000, 3 * MiB]) {
    const { post, ups, directory } = await startSetup(t, [busy, transcribing]);
    const order = (model: string): Buffer =>
      toForm([
        { name: 'timestamp_granularities[]', value: 'word' },
        soundOf(bytes),
        named(model),
        { name: 'language', value: 'de' },
      ]);
    const answer = await post(order('m'));
    assert.equal(answer.status, 200, answer.body.toString());
    for (const [index, up] of ups.entries()) {
      const [seen] = up.requests;
      assert.ok(seen);
      assert.ok(seen.body.equals(order(`name-at-${index}`)), `${bytes} bytes at ${index}`);
      assert.equal(seen.header('content-type'), formType);
      assert.equal(seen.header('content-length'), String(seen.body.length));
    }
    assert.deepEqual(readdirSync(directory), []);
  }
});

test('upload files left by a dead process are removed at the start, and nothing else', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'postern-uploads-'));
  t.after(() => rmSync(directory, { recursive: true, force: true, maxRetries: 20 }));
  writeFileSync(join(directory, 'x.upload'), 'x');
  writeFileSync(join(directory, 'x.other'), 'x');
  await startSetup(t, [transcribing], { server: { upload_directory: directory } });
  assert.deepEqual(readdirSync(directory), ['x.other']);
});

test('disk space of forms is limited, and released after the response or a disconnect', async (t) => {
  const held: (() => void)[] = [];
  const server = { upload_limit: '3MiB', upload_disk: '3MiB' };
  const { rig, post, ups } = await startSetup(t, [transcribing], { server });
  const [up] = ups;
  up?.respondWith((request, reply) => {
    held.push(() => void transcribing(request, reply));
  });
  const form = toForm([soundOf(2 * MiB), named('m')]);
  const first = post(form);
  await up?.nextRequest();
  const refused = await post(form);
  assertError(refused, 'overloaded');
  assert.match(refused.body.toString(), /server\.upload_disk/);
  const disk = rig.app.uploadDisk();
  assert.ok(disk.heldBytes >= form.length);
  assert.equal(disk.totalBytes, 3 * MiB);
  for (const answer of held.splice(0)) answer();
  assert.equal((await first).status, 200);
  assert.equal(rig.app.uploadDisk().heldBytes, 0);

  const leaving = httpRequest(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': formType, 'content-length': form.length },
  });
  leaving.on('error', () => undefined);
  await new Promise<void>((resolve) => leaving.write(form.subarray(0, form.length - 100), () => resolve()));
  leaving.destroy();
  await rig.exchange(3);
  up?.respondWith(transcribing);
  assert.equal((await post(form)).status, 200);
});

test('an upload of 100 MB passes in bounded memory, byte for byte', async (t) => {
  const seen = createHash('sha256');
  let seenBytes = 0;
  let mostBytes = 0;
  const service = createServer((request, response) => {
    request.on('data', (piece: Buffer) => {
      seen.update(piece);
      seenBytes += piece.length;
    });
    request.on('end', () => response.setHeader('content-type', 'application/json').end('{"text":"hello"}'));
  });
  await new Promise<void>((resolve) => service.listen(0, '127.0.0.1', resolve));
  t.after(() => service.close());
  const { port } = service.address() as AddressInfo;
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: `http://127.0.0.1:${port}`, api_key: 'sk-upstream' }],
    models: [{ id: 'm', operations: ['transcriptions'], targets: [{ upstream: 'up', model: 'm' }] }],
  });
  const piece = soundOf(256 * 1024).value;
  const pieces = 400;
  const [before, after] = toForm([{ ...soundOf(0), value: '|' }, named('m')])
    .toString('latin1')
    .split('|');
  const sent = createHash('sha256');
  let sentBytes = 0;
  function* body(): Generator<Buffer | string> {
    for (const [index, one] of [before ?? '', ...Array<Buffer | string>(pieces).fill(piece), after ?? ''].entries()) {
      sent.update(one);
      sentBytes += one.length;
      // Rarely: among many tests in one process, measuring all memory takes a second or more.
      if (index % 130 === 65) mostBytes = Math.max(mostBytes, heldBytes());
      yield one;
    }
  }
  const startBytes = heldBytes();
  const call = httpRequest(`${rig.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${testKey}`, 'content-type': formType },
  });
  const answered = new Promise<number>((resolve, reject) => {
    call.on('response', (response) => resolve(response.resume().statusCode ?? 0));
    call.on('error', reject);
  });
  await pipeline(Readable.from(body()), call);
  assert.equal(await answered, 200);
  assert.equal(seenBytes, sentBytes);
  assert.equal(seen.digest('hex'), sent.digest('hex'));
  // Of three times 100 MB that went through this process: client, gateway, service. Garbage of other tests may be among it.
  assert.ok(mostBytes - startBytes < 64 * MiB, `${Math.round((mostBytes - startBytes) / MiB)} MiB`);
});

test('a recording is billed by the reported seconds, else by an estimate from its bytes', async (t) => {
  const price = { minute: 0.006 };
  const counted = await startSetup(t, [transcribing], { model: { price } });
  await counted.post(toForm([named('m'), soundOf(16_000)]));
  const { bill } = await counted.rig.exchange(1);
  assert.deepEqual([bill?.costNanos, bill?.isEstimated], [9_000_000, false]);
  const silent = await startSetup(
    t,
    [(_request, reply) => reply.bytes(200, [['content-type', 'text/plain']], 'hello')],
    {
      model: { price },
    },
  );
  await silent.post(toForm([named('m'), soundOf(160_000)]));
  const { bill: likely } = await silent.rig.exchange(1);
  assert.deepEqual([likely?.costNanos, likely?.isEstimated], [1_000_000, true]);
});

test("the transcribed text is a lower bound for a recording's length, whatever its compression", async (t) => {
  const price = { minute: 0.6 };
  const billFor = async (type: string, text: string, model: object = {}) => {
    const answers: Handler = (_request, reply) => reply.bytes(200, [['content-type', type]], text);
    const setup = await startSetup(t, [answers], { model: { price, ...model } });
    await setup.post(toForm([named('m'), soundOf(1_000)]));
    const { bill } = await setup.rig.exchange(1);
    return [bill?.units?.seconds, bill?.costNanos, bill?.isEstimated];
  };
  const said = 'a'.repeat(1_500);
  assert.deepEqual(await billFor('text/plain', said), [100, 1_000_000_000, true]);
  assert.deepEqual(await billFor('text/plain', said, { max_audio: '30s' }), [30, 300_000_000, true]);
  const subtitles = '1\n00:00:00,000 --> 00:00:02,000\na\n\n2\n00:00:02,000 --> 01:00:01,500\nb\n';
  assert.deepEqual(await billFor('text/plain; charset=utf-8', subtitles), [3_601.5, 36_015_000_000, true]);
  assert.deepEqual(await billFor('text/vtt', 'WEBVTT\n\n00:00.000 --> 00:12.250\na\n'), [12.25, 122_500_000, true]);
});

test("under a budget a recording reserves the model's max_audio, and is refused without one", async (t) => {
  const key = { budgets: [{ every: 'day', amount: '0.1' }] };
  const price = { minute: 0.006 };
  const form = toForm([named('m'), soundOf(1_000)]);
  const open = await startSetup(t, [transcribing], { key, model: { price } });
  assertError(await open.post(form), 'unsupported_parameter', { param: 'file' });
  const bounded = await startSetup(t, [transcribing], { key, model: { price, max_audio: '10m' } });
  assert.equal((await bounded.post(form)).status, 200);
  const tooLong = await startSetup(t, [transcribing], { key, model: { price, max_audio: '20m' } });
  assertError(await tooLong.post(form), 'budget_exceeded');
});

test('an image edit form passes with the model renamed, and its n field counts for the bill', async (t) => {
  const { rig, ups } = await startSetup(t, [transcribing], { model: { price: { image: 0.02 } } });
  const parts = [
    { name: 'image[]', value: 'PNG', filename: 'a.png' },
    { name: 'image[]', value: 'PNG2', filename: 'b.png' },
    { name: 'prompt', value: 'grün' },
    { name: 'n', value: '3' },
  ];
  const headers = [
    ['Authorization', `Bearer ${testKey}`],
    ['Content-Type', formType],
  ] as const;
  const answer = await rig.post('/v1/images/edits', toForm([...parts, named('m')]), { headers: [...headers] });
  assert.equal(answer.status, 200, answer.body.toString());
  assert.ok(ups[0]?.requests[0]?.body.equals(toForm([...parts, named('name-at-0')])));
  const { bill } = await rig.exchange(1);
  assert.deepEqual([bill?.images, bill?.costNanos], [3, 60_000_000]);
});

test("an image edit that names a file stored in the operator's account is refused, in JSON or a form", async (t) => {
  const { rig, ups } = await startSetup(t, [transcribing]);
  const json = { model: 'm', prompt: 'p', images: [{ file_id: 'file-1' }] };
  assertError(await rig.post('/v1/images/edits', json), 'object_not_found', { param: 'file_id' });
  const headers = [
    ['Authorization', `Bearer ${testKey}`],
    ['Content-Type', formType],
  ] as const;
  const parts = [
    { name: 'image', value: 'PNG', filename: 'a.png' },
    { name: 'images[0][file_id]', value: 'file-1' },
    { name: 'prompt', value: 'p' },
  ];
  const form = await rig.post('/v1/images/edits', toForm([...parts, named('m')]), { headers: [...headers] });
  assertError(form, 'object_not_found', { param: 'file_id' });
  assert.equal(ups[0]?.requests.length, 0);
});

test('a captured form has its fields, and only names and sizes of files', async (t) => {
  const { rig, post } = await startSetup(t, [transcribing], { key: { capture: '1d' } });
  await post(toForm([soundOf(100), named('m'), { name: 'language', value: 'de' }]));
  const { captured } = await rig.exchange(1);
  assert.deepEqual(JSON.parse(captured?.request.toString() ?? ''), {
    file: { filename: 'a.mp3', bytes: 100 },
    model: 'm',
    language: 'de',
  });
});

test('the official library transcribes and edits images', async (t) => {
  const { rig, ups } = await startSetup(t, [transcribing]);
  const client = new OpenAI({ baseURL: `${rig.url}/v1`, apiKey: testKey, maxRetries: 0 });
  const file = await toFile(Buffer.from('ID3'), 'a.mp3');
  const { text } = await client.audio.transcriptions.create({ file, model: 'm' });
  assert.equal(text, 'hello');
  assert.match(ups[0]?.requests[0]?.body.toString() ?? '', /name="model"\r\n\r\nname-at-0\r\n/);
  const image = [await toFile(Buffer.from('PNG'), 'a.png', { type: 'image/png' })];
  await client.images.edit({ image, model: 'm', prompt: 'p' });
  assert.notEqual(ups[0]?.requests[1]?.body.toString().includes(boundary), true);
});
