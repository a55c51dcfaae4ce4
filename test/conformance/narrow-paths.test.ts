/** Small gaps through which a request could have gone astray, each closed. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { send } from '../support/clients/raw-client.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { startRig, testKey } from '../support/gateways/rig.ts';
import { startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const credential = 'sk-upstream+secret/with=signs';

test("a name matched by a pattern cannot change a native upstream's path", async (t) => {
  const upstream = await startFakeUpstream();
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    upstreams: [{ id: 'up', family: 'openai', base_url: upstream.url, api_key: credential, legacy_engines: 'native' }],
    models: [{ id: 'n-*', operations: ['embeddings'], space: 's', targets: [{ upstream: 'up', model: '*' }] }],
  });
  for (const name of ['n-..', 'n-%2e%2e', 'n-.', 'n-', 'n-*']) {
    const answer = await rig.post(`/v1/engines/${name}/embeddings`, { input: 'x' });
    assert.equal(answer.status, 404, name);
  }
  assert.equal(upstream.receivedBytes, 0);
  assert.equal((await rig.post('/v1/engines/n-..a/embeddings', { input: 'x' })).status, 200);
  assert.equal(upstream.requests[0]?.path, '/engines/..a/embeddings');
});

test('a credential is found in an error in any JSON escaping', async (t) => {
  const spellings = [
    'sk\\u002dupstream\\u002Bsecret\\u002fwith\\u003Dsigns',
    'sk-upstream\\u002bsecret\\/with=signs',
    'sk-upstream%2bsecret%2Fwith%3dsigns',
  ];
  const upstream = await startFakeUpstream((request, reply) =>
    reply.bytes(
      401,
      [['content-type', 'application/json']],
      `{"error":"no such key: ${request.header('x-spelling')}"}`,
    ),
  );
  t.after(() => upstream.close());
  const rig = await startRig(t, {
    upstreams: [
      { id: 'up', family: 'openai', base_url: upstream.url, api_key: credential, forward_headers: ['x-spelling'] },
    ],
    models: [{ id: 'm', targets: [{ upstream: 'up' }] }],
  });
  const ask = (spelling: string) =>
    rig.post(
      '/v1/moderations',
      { model: 'm', input: 'x' },
      {
        headers: [
          ['Authorization', `Bearer ${testKey}`],
          ['Content-Type', 'application/json'],
          ['X-Spelling', spelling],
        ],
      },
    );
  for (const spelling of spellings) {
    const answer = await ask(spelling);
    assert.equal(answer.status, 502, spelling);
    assert.equal(answer.header('x-postern-upstream'), 'up');
  }
  assert.equal((await ask('another\\u002dkey')).status, 401);
});

test('a client that half-closes can still read its error', async (t) => {
  const rig = await startRig(t, { server: { body_limit: '1MiB' }, upstreams: [{ id: 'local', family: 'local' }] });
  const body = 'x'.repeat(8 * 1024 * 1024);
  const heads = [
    `POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${testKey}\r\n`,
    'POST /v1/embeddings HTTP/1.0\r\n',
  ];
  const statuses = [];
  for (const head of heads) {
    const answer = await send(rig.port, [`${head}Content-Length: ${body.length}\r\n\r\n`, body], { until: 'close' });
    statuses.push(answer.status);
    assert.equal(answer.complete, true);
    assert.equal(answer.closed, 'fin');
  }
  assert.deepEqual(statuses, [413, 401]);
});

test('CONNECT and duplicate framing headers are refused in the usual error shape', async (t) => {
  const rig = await startRig(t, { upstreams: [{ id: 'local', family: 'local' }] });
  const requests = [
    'CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n',
    'GET /v1/models HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n',
    'POST /v1/rerank HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n',
  ];
  for (const request of requests) {
    const answer = await send(rig.port, request, { until: 'close' });
    assert.equal(answer.status, 400, request);
    assert.match(answer.body.toString(), /"code":"malformed_request"/);
  }
});

test('a client that disconnects after CONNECT affects no other', async (t) => {
  const rig = await startRig(t, { upstreams: [{ id: 'local', family: 'local' }] });
  for (const reads of [true, false]) {
    const connection = await connect(rig.port);
    await connection.write('CONNECT example.com:443 HTTP/1.1\r\nHost: example.com\r\n\r\n');
    if (reads) assert.equal((await connection.nextResponse()).status, 400);
    else await rig.get('/healthz'); // by then it has come
    connection.reset();
    assert.equal((await rig.get('/healthz')).status, 200);
  }
});

test('a duplicate field that only some upstreams read gets 400, whatever its value', async (t) => {
  const rig = await startRig(t, { upstreams: [{ id: 'local', family: 'local' }] });
  const bodies: [path: string, param: string, body: string][] = [
    ['/v1/completions', 'stream', '{"model":"local/echo","prompt":"x","stream":false,"Stream":true}'],
    ['/v1/rerank', 'top_n', '{"model":"local/bm25","query":"a","documents":["a"],"top_n":1,"top_n":2}'],
    [
      '/v1/embeddings',
      'encoding_format',
      '{"model":"local/hash-embed","input":"x","encoding_format":1,"encoding_format":2}',
    ],
    ['/v1/engines/local/hash-embed/embeddings', 'dimensions', '{"input":"x","dimensions":2,"dimensions":3}'],
  ];
  for (const [path, param, body] of bodies) {
    const answer = await rig.post(path, body);
    assert.equal(answer.status, 400, path);
    assert.match(answer.body.toString(), new RegExp(`"param":"${param}","code":"duplicate_parameter"`));
  }
});

test('a key sees only models that it can call for some operation', async (t) => {
  const rig = await startRig(t, {
    upstreams: [{ id: 'local', family: 'local' }],
    keys: [{ id: 'k', secret: testKey, operations: ['embeddings'] }],
  });
  const listed = await rig.get('/v1/models');
  const { data } = listed.json() as { data: { id: string }[] };
  assert.deepEqual(
    data.map(({ id }) => id),
    ['local/hash-embed'],
  );
  assert.equal((await rig.get('/v1/models/local/bm25')).status, 404);
});
