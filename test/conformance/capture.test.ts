/** What is asked and answered is kept nowhere, unless an operator switched that on for a key: then redacted, cut, and for a time. */

import assert from 'node:assert/strict';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gzipSync } from 'node:zlib';
import type { Capture } from '../../src/core/accounting/ledger-row.ts';
import { systemClock } from '../../src/lib/clock.ts';
import { openStore } from '../../src/store/open-store.ts';
import { type Rig, startRig } from '../support/gateways/rig.ts';
import { until } from '../support/time/until.ts';
import { type Script, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const keptSecret = 'kept-key-with-enough-characters';
const plainSecret = 'plain-key-with-enough-characters';
/** It stands in each row. */
const unkeptKey = 'key-whose-bodies-nobody-keeps';
const upstreamKey = 'upstream-credential-of-the-house';
const asked = 'canary-of-the-question';
const answered = 'canary-of-the-answer';

const headersOf = (secret: string): [string, string][] => [
  ['Authorization', `Bearer ${secret}`],
  ['Content-Type', 'application/json'],
];

interface Setup {
  readonly rig: Rig;
  readonly directory: string;
  /** Asks with the key whose bodies are kept, and waits for what is kept of it. */
  ask(body: unknown, path?: string, headers?: readonly [string, string][]): Promise<Capture>;
  /** All that lies on the disk, as one text. */
  disk(): Promise<string>;
}

async function startSetup(t: TestContext, script: Script): Promise<Setup> {
  const directory = await mkdtemp(join(tmpdir(), 'postern-capture-'));
  t.after(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const up = await startFakeUpstream(script);
  t.after(() => up.close());
  const rig = await startRig(t, {
    store: `sqlite:${join(directory, 'postern.db')}`,
    ledger: { journal: join(directory, 'journal') },
    upstreams: [{ id: 'up', family: 'openai', base_url: up.url, api_key: upstreamKey }],
    models: [{ id: 'm', operations: ['embeddings', 'completions'], targets: [{ upstream: 'up' }] }],
    keys: [
      { id: 'kept', secret: keptSecret, capture: '1m' },
      { id: unkeptKey, secret: plainSecret },
    ],
  });
  let count = 0;
  return {
    rig,
    directory,
    async ask(body, path = '/v1/embeddings', headers = []) {
      await rig.post(path, body, { headers: [...headersOf(keptSecret), ...headers] });
      count += 1;
      const { id } = await rig.exchange(count);
      await imported(rig, id);
      const capture = await rig.store.ledger.capture(id);
      assert.ok(capture, 'nothing was kept');
      return capture;
    },
    async disk() {
      const files = await readdir(directory, { recursive: true, withFileTypes: true });
      const texts = files
        .filter((file) => file.isFile())
        .map((file) => readFile(join(file.parentPath, file.name), 'latin1'));
      return (await Promise.all(texts)).join('\n');
    },
  };
}

async function imported(rig: Rig, id: string): Promise<void> {
  await until(async () => (await rig.store.ledger.get(id)) !== undefined);
}

test('without capture, no content of requests and responses is stored anywhere', async (t) => {
  const { rig, disk } = await startSetup(t, (_request, reply) => reply.json(200, { text: answered }));
  const answer = await rig.post('/v1/embeddings', { model: 'm', input: asked }, { headers: headersOf(plainSecret) });
  assert.ok(answer.body.includes(answered));
  const { id, captured } = await rig.exchange(1);
  assert.equal(captured, undefined);
  await imported(rig, id);
  assert.equal(await rig.store.ledger.capture(id), undefined);
  const found = await disk();
  assert.ok(found.includes(unkeptKey), 'the search would find it');
  for (const canary of [asked, answered]) assert.equal(found.includes(canary), false, canary);
});

test('with capture both bodies are stored, and the client gets every byte unchanged', async (t) => {
  const body = JSON.stringify({ text: `${answered} sk-abcdefgh12345678` });
  const { rig, ask, disk } = await startSetup(t, (_request, reply) =>
    reply.bytes(200, [['Content-Type', 'application/json']], body),
  );
  const question = { model: 'm', input: asked };
  const { request, response } = await ask(question);
  assert.equal(request, JSON.stringify(question));
  assert.equal(response, JSON.stringify({ text: `${answered} [credential]` }));
  const found = await disk();
  assert.ok(found.includes(asked));
  assert.equal(found.includes('sk-abcdefgh12345678'), false);
  const again = await rig.post('/v1/embeddings', question, { headers: headersOf(keptSecret) });
  assert.equal(again.body.toString(), body);
});

test('secrets and personal data are never stored, in any part of a request', async (t) => {
  const secrets = [
    'sk-abcdefgh12345678',
    'bob@example.com',
    '4111 1111 1111 1111',
    upstreamKey,
    `pst_${'a1'.repeat(22)}`,
  ];
  const text = `x ${secrets.join(' | ')} y`;
  const { ask, disk } = await startSetup(t, (_request, reply) => reply.sse([{ text }, '[DONE]']));
  const { request, response } = await ask({ model: 'm', prompt: text, stream: true }, '/v1/completions');
  const redacted = 'x [credential] | [e-mail address] | [number] | [credential] | [credential] y';
  assert.equal(request, JSON.stringify({ model: 'm', prompt: redacted, stream: true }));
  // The answer repeats the upstream's own credential, so the client does not get it either.
  assert.equal(response.includes(upstreamKey), false);
  const found = await disk();
  for (const secret of secrets) assert.equal(found.includes(secret), false, secret);
});

test('a stream is captured as received', async (t) => {
  const events = [{ choices: [{ text: 'a' }] }, { choices: [{ text: answered }] }, '[DONE]'];
  const { ask } = await startSetup(t, (_request, reply) => reply.sse(events, { everyMs: 5 }));
  const { response } = await ask({ model: 'm', prompt: 'x', stream: true }, '/v1/completions');
  assert.equal(
    response,
    events.map((event) => `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`).join(''),
  );
});

test('bodies over 64 KiB are truncated with a mark', async (t) => {
  const long = 'z'.repeat(100_000);
  const { ask } = await startSetup(t, (_request, reply) => reply.json(200, { text: long }));
  const { request, response } = await ask({ model: 'm', input: long });
  for (const [kept, whole] of [
    [request, JSON.stringify({ model: 'm', input: long })],
    [response, JSON.stringify({ text: long })],
  ] as const) {
    assert.equal(kept, `${whole.slice(0, 65_536)}… [cut: ${whole.length} bytes in all]`);
  }
});

test('a compressed response is recorded by size and encoding only, without its content', async (t) => {
  const packed = gzipSync(JSON.stringify({ text: answered }));
  const { ask } = await startSetup(t, (_request, reply) =>
    reply.bytes(
      200,
      [
        ['Content-Type', 'application/json'],
        ['Content-Encoding', 'gzip'],
      ],
      packed,
    ),
  );
  const { response } = await ask({ model: 'm', input: 'x' }, '/v1/embeddings', [['Accept-Encoding', 'gzip']]);
  assert.equal(response, `[not kept: ${packed.length} bytes, compressed with gzip]`);
});

test('refused requests and upstream errors are captured, too', async (t) => {
  const { ask } = await startSetup(t, (_request, reply) => reply.json(400, { error: { message: answered } }));
  const question = { model: 'nobody', input: asked };
  assert.deepEqual((({ request, response }) => [request, response])(await ask(question)), [
    JSON.stringify(question),
    '',
  ]);
  const passed = await ask({ ...question, model: 'm' });
  assert.ok(passed.response.includes(answered));
});

test('the secret of the calling key is redacted from both bodies, in every encoding', async (t) => {
  const { ask } = await startSetup(t, (_request, reply) => reply.json(200, { text: `you are ${keptSecret}` }));
  const escaped = keptSecret.replaceAll('-', '\\u002d');
  const { request, response } = await ask(`{"model":"m","input":["${keptSecret}","${escaped}"]}`);
  assert.equal(request, '{"model":"m","input":["[credential]","[credential]"]}');
  assert.equal(response, '{"text":"you are [credential]"}');
});

test('an expired capture is not shown, and is deleted', async (t) => {
  const { rig, directory, ask } = await startSetup(t, (_request, reply) => reply.json(200, { text: answered }));
  const beforeMs = Date.now();
  const { expiresAtMs } = await ask({ model: 'm', input: asked });
  assert.ok(expiresAtMs >= beforeMs + 60_000 && expiresAtMs <= Date.now() + 60_000);
  const id = rig.settled[0]?.id ?? '';
  const later = await openStore(`sqlite:${join(directory, 'postern.db')}`, {
    cwd: directory,
    clock: { ...systemClock, nowMs: () => expiresAtMs },
  });
  try {
    assert.equal(await later.ledger.capture(id), undefined);
    assert.equal(await later.ledger.pruneCaptures(expiresAtMs), 1);
    assert.equal(await rig.store.ledger.capture(id), undefined);
    assert.equal((await later.ledger.get(id))?.outcome, 'ok');
  } finally {
    await later.close();
  }
});
