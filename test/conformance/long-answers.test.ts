/** Long answers of many clients at once: what is read for one is never overwritten by what is read for another. */

import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { Agent, request } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { toChunk } from '../support/clients/http-message.ts';
import { createDirectory } from '../support/gateways/configuration.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const credential = 'sk-credential-of-up';
const usage = '"usage":{"prompt_tokens":7,"total_tokens":7}';

/** Another body for each name: parts of a credential in it let the search hold bytes back. */
function bodyFor(name: string): Buffer {
  const random = randomBytes(96 * 1024).toString('hex');
  const list = Array.from(
    { length: 20 },
    (_, part) => `"${name} ${part}", "${credential.slice(0, 4 + (part % 9))}", ${random}`,
  );
  return Buffer.from(`{"data":[{"embedding":[${list.join(',\n')}]}],${usage}}`);
}

const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex');

/** More than the system holds for a client that does not read: each block has another value. */
const blocks = 80;
const blockBytes = 1024 * 1024;
const blockOf = (block: number): Buffer => Buffer.alloc(blockBytes, String(block).padStart(4, '0'));
const beginning = Buffer.from('{"data":[{"embedding":["');
const end = Buffer.from(`"]}],${usage}}`);

async function startRigOf(t: TestContext, answers: Handler, server: object = {}): Promise<Rig> {
  const upstream = await startFakeUpstream(answers);
  t.after(() => upstream.close());
  return startRig(t, {
    server,
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: credential }],
    models: [{ id: 'm', operations: ['embeddings'], targets: [{ upstream: 'up' }] }],
  });
}

test('long responses arrive byte for byte at fast and slow readers, while other readers disconnect', async (t) => {
  const bodies = new Map<string, Buffer>();
  const answers: Handler = async ({ body }, reply) => {
    const name = /n-\d+/.exec(body.toString())?.[0];
    if (name === undefined) {
      const length = beginning.length + blocks * blockBytes + end.length;
      await reply.head(200, [
        ['content-type', 'application/json'],
        ['content-length', String(length)],
      ]);
      await reply.raw(beginning);
      for (let block = 0; block < blocks; block += 1) await reply.raw(blockOf(block));
      await reply.raw(end);
      return;
    }
    const bytes = bodyFor(name);
    bodies.set(name, bytes);
    const isChunked = name.endsWith('3');
    await reply.head(200, [
      ['content-type', 'application/json'],
      isChunked ? ['transfer-encoding', 'chunked'] : ['content-length', String(bytes.length)],
    ]);
    await reply.raw(isChunked ? toChunk(bytes) : bytes);
    if (isChunked) await reply.lastChunk();
  };
  const rig = await startRigOf(t, answers);

  const ask = (name: string, read: 'at once' | 'late' | 'in part') =>
    new Promise<Buffer | undefined>((resolve, reject) => {
      const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
      const asked = request({ port: rig.port, path: '/v1/embeddings', method: 'POST', headers }, async (response) => {
        assert.equal(response.statusCode, 200);
        const pieces: Buffer[] = [];
        if (read === 'late') await fastOnesRead;
        for await (const piece of response) {
          pieces.push(piece);
          if (read === 'in part') break;
        }
        resolve(read === 'in part' ? undefined : Buffer.concat(pieces));
      });
      asked.on('error', reject);
      asked.end(JSON.stringify({ model: 'm', input: name }));
    });

  const { promise: fastOnesRead, resolve: letRead } = Promise.withResolvers<void>();
  const late = ask('blocks', 'late');
  for (let round = 0; round < 3; round += 1) {
    const names = Array.from({ length: 8 }, (_, index) => `n-${round * 100 + index}`);
    await Promise.all(
      names.map(async (name, index) => {
        const came = await ask(name, index === 6 ? 'in part' : 'at once');
        const sent = bodies.get(name);
        if (came !== undefined && sent !== undefined) assert.equal(digestOf(came), digestOf(sent), name);
      }),
    );
  }
  letRead();
  const whole = await late;
  assert.equal(whole?.length, beginning.length + blocks * blockBytes + end.length);
  for (let block = 0; block < blocks; block += 1) {
    const start = beginning.length + block * blockBytes;
    assert.ok(whole.subarray(start, start + blockBytes).equals(blockOf(block)), `block ${block}`);
  }
  assert.equal(bodies.size, 24);
  await rig.exchange(25);
  const counts = rig.settled.filter(({ outcome }) => outcome === 'ok').map((one) => one.usage?.promptTokens);
  assert.ok(counts.length >= 20);
  assert.deepEqual(new Set(counts), new Set([7]));
});

/** One vector of a middling model: it comes in one read. */
const vectorFor = (name: string): Buffer =>
  Buffer.from(`{"data":[{"embedding":["${name} "${`,"${name}"`.repeat(2_200)}]}],${usage}}`);

const headsOf = (names: readonly string[]): string =>
  names
    .map((name) => {
      const body = JSON.stringify({ model: 'm', input: name });
      return `POST /v1/embeddings HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${testKey}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`;
    })
    .join('');

test('short responses arrive byte for byte, also at a client that pipelines 100 requests before it reads', async (t) => {
  const answers: Handler = async ({ body }, reply) => {
    const name = /[nl]-\d+/.exec(body.toString())?.[0] ?? '';
    await reply.bytes(200, [['content-type', 'application/json']], vectorFor(name));
  };
  // The system holds less for the reader of a local socket; it sends much ahead.
  const path = join(await createDirectory(t), 'p.sock');
  const rig = await startRigOf(t, answers, { socket: { path }, max_header_size: '256KiB' });
  const names = Array.from({ length: 100 }, (_, index) => `l-${10_000 + index}`);
  const late = connect({ path });
  t.after(() => late.destroy());
  late.pause();
  late.write(headsOf(names));

  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  t.after(() => agent.destroy());
  const headers = { authorization: `Bearer ${testKey}`, 'content-type': 'application/json' };
  const ask = (name: string) =>
    new Promise<Buffer>((resolve, reject) => {
      const options = { port: rig.port, path: '/v1/embeddings', method: 'POST', headers, agent };
      const asked = request(options, (response) =>
        response.toArray().then((all) => resolve(Buffer.concat(all)), reject),
      );
      asked.on('error', reject);
      asked.end(JSON.stringify({ model: 'm', input: name }));
    });
  await Promise.all(
    Array.from({ length: 600 }, async (_, index) => {
      const name = `n-${10_000 + index}`;
      assert.ok((await ask(name)).equals(vectorFor(name)), name);
    }),
  );

  const pieces: AsyncIterator<Buffer> = late[Symbol.asyncIterator]();
  let came: Buffer = Buffer.alloc(0);
  for (const name of names) {
    const vector = vectorFor(name);
    let start = came.indexOf('\r\n\r\n') + 4;
    while (start < 4 || came.length < start + vector.length) {
      const { value, done } = await pieces.next();
      assert.ok(!done, `the connection ended before ${name}`);
      came = Buffer.concat([came, value]);
      start = came.indexOf('\r\n\r\n') + 4;
    }
    assert.ok(came.subarray(start, start + vector.length).equals(vector), name);
    came = came.subarray(start + vector.length);
  }
});
