/** Requests spoiled at random: whatever comes of them, every one ends, nothing breaks, and only whole requests go upstream. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from '../support/clients/raw-connection.ts';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const requestCount = 1500;
const sideBySide = 16;
/** Of a failure, to be seen again: `POSTERN_FUZZ_SEED=... npm test`. */
const seed = Number(process.env.POSTERN_FUZZ_SEED ?? Math.floor(Math.random() * 2 ** 31));

const body = '{"model":"m","input":["x","y"],"dimensions":8,"prompt":"x"}';
const good = [
  `POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nx-api-key: ${testKey}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  `POST /v1/engines/m/embeddings?x=1 HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${testKey}\r\nAccept: a\r\nTransfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\nX-T: 1\r\n\r\n`,
  `GET /v1/models HTTP/1.1\r\nHost: x\r\nConnection: keep-alive\r\nx-api-key: ${testKey}\r\nX-Request-Id: abc\r\n\r\n`,
  `POST /v1/completions HTTP/1.0\r\nConnection: keep-alive\r\nx-api-key: ${testKey}\r\nExpect: 100-continue\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
].map((text) => Buffer.from(text, 'latin1'));

const morsels = [
  ...'\r\n\0\t :;,/?#\\"{}[]01-+%\xff',
  '\r\n',
  '\r\n\r\n',
  '%00',
  '%2e%2e',
  'chunked',
  'HTTP/1.1',
  '\\u006dodel',
  '"model":"x",',
  'Host: y\r\n',
  'Content-Length: 5\r\n',
  'Transfer-Encoding: chunked\r\n',
  'Expect: 100-continue\r\n',
  'Connection: close\r\n',
  'Content-Encoding: gzip\r\n',
];

function createChance(start: number): (below: number) => number {
  let state = start >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
}

function spoil(request: Buffer, chance: (below: number) => number): Buffer {
  const at = chance(request.length + 1);
  const before = request.subarray(0, at);
  const morsel = Buffer.from(morsels[chance(morsels.length)] ?? '', 'latin1');
  switch (chance(6)) {
    case 0:
      return Buffer.concat([before, morsel, request.subarray(at)]);
    case 1:
      return Buffer.concat([before, request.subarray(at + 1 + chance(8))]);
    case 2:
      return Buffer.concat([before, Buffer.from([chance(256)]), request.subarray(at + 1)]);
    case 3:
      return Buffer.concat([before, request.subarray(at, at + 1 + chance(40)), request.subarray(at)]);
    case 4:
      return Buffer.concat([request, good[chance(good.length)] ?? request]);
    default: {
      const lineEnd = request.indexOf('\r\n', at) + 2;
      return Buffer.concat([request.subarray(0, lineEnd), morsel, request.subarray(lineEnd)]);
    }
  }
}

test(`${requestCount} randomly corrupted requests all end, and break nothing`, async (t) => {
  t.diagnostic(`seed ${seed}`);
  const upstream = await startFakeUpstream((request, reply) => reply.bytes(200, [], request.body));
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    server: { timeouts: { headers: '1s', request: '1s' } },
    upstreams: [
      {
        id: 'up',
        family: 'openai',
        base_url: upstream.url,
        api_key: 'sk-upstream-key',
        limits: { concurrency: sideBySide, queue: 0 },
      },
    ],
    models: [{ id: 'm', operations: ['embeddings', 'completions'], targets: [{ upstream: 'up' }] }],
  });
  const chance = createChance(seed);
  const faults: string[] = [];
  let asked = 0;
  async function ask(): Promise<void> {
    while (asked < requestCount) {
      asked += 1;
      let bytes: Buffer = good[chance(good.length)] ?? Buffer.alloc(0);
      for (let times = 1 + chance(4); times > 0; times -= 1) bytes = spoil(bytes, chance);
      const connection = await connect(rig.port);
      await connection.write(bytes);
      const manner = chance(10);
      if (manner === 0) connection.reset();
      else {
        if (manner < 4) connection.finish();
        const { status, closed } = await connection.nextResponse();
        const ended = status === 0 ? closed !== 'open' : status < 500;
        if (!ended) faults.push(`${status} ${closed} ${JSON.stringify(bytes.toString('latin1'))}`);
      }
      connection.destroy();
    }
  }
  await Promise.all(Array.from({ length: sideBySide }, ask));
  for (let seen = -1; seen < rig.settled.length; await wait(300)) seen = rig.settled.length;

  assert.deepEqual(faults, []);
  assert.deepEqual(
    rig.settled.filter(({ status }) => status >= 500).map(({ errorCause }) => errorCause),
    [],
  );
  assert.deepEqual(upstream.malformed, []);
  assert.ok(upstream.requests.length > 0, 'some were good in spite of it');
  for (const request of upstream.requests) {
    assert.match(request.path, /^\/(embeddings|completions)$/);
    if (request.complete) assert.equal(JSON.parse(request.body.toString()).model, 'm');
  }
  // A call that never ended would still hold its slot at the upstream.
  const last = await Promise.all(Array.from({ length: sideBySide }, () => rig.post('/v1/embeddings', body)));
  assert.deepEqual(
    last.map(({ status }) => status),
    last.map(() => 200),
  );
});
