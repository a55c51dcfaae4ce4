/** Which headers come back: all but those that belong to one hop, to the upstream's account or to its host; and what Postern adds. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type HeaderField, toHead } from '../support/clients/http-message.ts';
import { send, toRequestBytes } from '../support/clients/raw-client.ts';
import { ask, authorized, fromUpstream, newestExchange, question, startPair } from '../support/gateways/pair.ts';
import { startRig } from '../support/gateways/rig.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const answering =
  (status: number, headers: readonly HeaderField[], body = '"body"'): Handler =>
  (_request, reply) =>
    reply.bytes(status, headers, body);

const withheld: readonly HeaderField[] = [
  ['Keep-Alive', 'timeout=90, max=7'],
  ['Proxy-Authenticate', 'Basic realm="inner"'],
  ['Proxy-Authorization', 'Basic eA=='],
  ['Proxy-Connection', 'keep-alive'],
  ['TE', 'trailers'],
  ['Upgrade', 'h2,h2c'],
  ['Set-Cookie', 'session=1; Path=/'],
  ['Set-Cookie', '__cf_bm=2'],
  ['Set-Cookie2', 'a=b'],
  ['Server', 'cloudflare'],
  ['Via', '1.1 inner.example'],
  ['Alt-Svc', 'h3=":443"; ma=86400'],
  ['Location', 'https://inner.example/'],
  ['WWW-Authenticate', 'Bearer realm="inner"'],
  ['Clear-Site-Data', '"*"'],
  ['Strict-Transport-Security', 'max-age=1'],
  ['Access-Control-Allow-Origin', '*'],
  ['Access-Control-Expose-Headers', 'x'],
  ['access-control-made-up', 'x'],
  ['X-Postern-Upstream', 'forged'],
  ['x-postern-anything', 'forged'],
  ['OpenAI-Organization', 'org-inner'],
  ['OpenAI-Project', 'proj-inner'],
  ['X-Accel-Redirect', '/internal/inner'],
  ['X-Accel-Buffering', 'no'],
  ['X-Accel-Expires', '60'],
  ['X-Sendfile', '/etc/inner'],
  ['X-Sendfile2', '/etc/inner 0-'],
  ['X-Lighttpd-Send-File', '/etc/inner'],
  ['X-LiteSpeed-Location', '/inner'],
  ['X-LiteSpeed-Purge', '*'],
  ['X-Reproxy-URL', 'http://inner/'],
  ['Proxy-Status', 'inner; error=x'],
  ['Surrogate-Control', 'max-age=1'],
  ['X-Envoy-Immediate-Health-Check-Fail', 'true'],
  ['Link', '</inner.js>; rel=preload; as=script'],
  ['Refresh', '0; url=https://inner.example/'],
  ['Service-Worker-Allowed', '/'],
  ['NEL', '{"report_to":"inner"}'],
  ['Report-To', '{"group":"inner"}'],
  ['Reporting-Endpoints', 'a="https://inner.example/"'],
  ['Public-Key-Pins', 'pin-sha256="inner"'],
  ['Public-Key-Pins-Report-Only', 'pin-sha256="inner"'],
  ['Content-Security-Policy', "default-src 'none'"],
  ['Content-Security-Policy-Report-Only', 'report-uri https://inner.example/'],
  ['Permissions-Policy', 'camera=*'],
  ['Cross-Origin-Opener-Policy', 'same-origin'],
  ['Authentication-Info', 'nextnonce="inner"'],
  ['Anthropic-Organization-Id', 'org-inner'],
  ['X-Goog-User-Project', 'proj-inner'],
  ['X-Amzn-Account-Id', '123456789012'],
  ['X-Amzn-Oidc-Identity', 'inner'],
];

const passing: readonly HeaderField[] = [
  ['Content-Type', 'application/json'],
  ['OpenAI-Processing-Ms', '12'],
  ['OpenAI-Version', '2020-10-01'],
  ['X-RateLimit-Limit-Requests', '3000'],
  ['x-ratelimit-reset-tokens', '6m0s'],
  ['Retry-After', '3'],
  ['X-Served-By', 'inner'],
  ['Cache-Control', 'no-store'],
  ['Vary', 'Origin'],
  ['CF-RAY', '8a1'],
  ['Server-Timing', 'inner;dur=3'],
  ['X-Postern', 'not ours: the dash is missing'],
  ['Content-Disposition', 'inline'],
  ['Link', '</next>; rel=next'],
  ['Date', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['Content-Length', '6'],
];

test('hop-by-hop, account and host headers are withheld, and all others pass', async (t) => {
  for (const status of [200, 401, 404, 503]) {
    // One of each in turn, so that no order and no neighbour decides.
    const mixed = passing.flatMap((field, i) => [field, ...withheld.slice(i, i + 1)]);
    const rest = withheld.slice(passing.length);
    for (const spell of [
      (name: string) => name,
      (name: string) => name.toLowerCase(),
      (n: string) => n.toUpperCase(),
    ]) {
      const spelled = [...rest, ...mixed].map(([name, value]): HeaderField => [spell(name), value]);
      // Each has its own, as the Retry-After among them is honoured.
      const pair = await startPair(t, answering(status, spelled));
      const answer = await ask(pair);
      assert.equal(answer.status, status);
      assert.deepEqual(
        fromUpstream(answer),
        passing.map(([name, value]) => [spell(name), value]),
      );
      assert.ok(!answer.rawBytes.includes('forged'));
      assert.equal(answer.header('keep-alive')?.includes('max=7'), false);
      assert.equal(answer.header('www-authenticate'), undefined);
    }
  }
});

test('headers named in `Connection` are hop-by-hop, in any case and number', async (t) => {
  const pair = await startPair(t);
  const own: HeaderField[] = [
    ['X-Hop', '1'],
    ['X-End', '2'],
    ['x-hop', '3'],
    ['X-Second-Hop', '4'],
    ['Content-Type', 'text/plain'],
  ];
  for (const said of [
    ['X-Hop, x-second-HOP'],
    ['keep-alive,x-hop', 'X-SECOND-HOP'],
    [' x-second-hop ,, X-Hop,close'],
  ]) {
    const connection = said.map((value): HeaderField => ['Connection', value]);
    pair.upstream.respondWith(answering(200, [...own, ...connection]));
    const answer = await ask(pair);
    assert.deepEqual(fromUpstream(answer), [
      ['X-End', '2'],
      ['Content-Type', 'text/plain'],
      ['content-length', '6'],
    ]);
    assert.equal(answer.body.toString(), '"body"');
  }
});

test("an upstream's offer to upgrade is ignored", async (t) => {
  const pair = await startPair(t);
  pair.upstream.respondWith(
    answering(200, [
      ['Upgrade', 'h2,h2c'],
      ['Connection', 'Upgrade, Keep-Alive'],
      ['X-End', '1'],
    ]),
  );
  const answer = await ask(pair);
  assert.equal(answer.status, 200);
  assert.equal(answer.header('upgrade'), undefined);
  assert.equal(answer.header('x-end'), '1');
});

test('framing headers are set anew even if `Connection` names them', async (t) => {
  const pair = await startPair(t);
  pair.upstream.respondWith(answering(200, [['Connection', 'Content-Length']]));
  const answer = await ask(pair);
  assert.equal(answer.complete, true);
  assert.equal(answer.body.toString(), '"body"');
});

test('header values pass with every byte HTTP allows, in head and trailers', async (t) => {
  const pair = await startPair(t);
  const bytes = [
    9,
    ...Array.from({ length: 0x5f }, (_, i) => 0x20 + i),
    ...Array.from({ length: 0x80 }, (_, i) => 0x80 + i),
  ];
  const value = `(${Buffer.from(bytes).toString('latin1')})`;
  const utf8 = Buffer.from('模型 – ünï').toString('latin1');
  const head = toHead('HTTP/1.1 200 OK', [
    ['X-All', value],
    ['X-Utf8', utf8],
    ["!#$%&'*+-.^_`|~09aZ", 'a name of every kind of character'],
    ['Transfer-Encoding', 'chunked'],
  ]);
  const end = toHead('0', [
    ['X-All', value],
    ['X-Utf8', utf8],
  ]);
  pair.upstream.respondWith((_request, reply) => reply.raw(Buffer.concat([head, Buffer.from('2\r\n{}\r\n'), end])));
  const answer = await ask(pair);
  assert.deepEqual(fromUpstream(answer), [
    ['X-All', value],
    ['X-Utf8', utf8],
    ["!#$%&'*+-.^_`|~09aZ", 'a name of every kind of character'],
  ]);
  assert.deepEqual(answer.trailers, [
    ['X-All', value],
    ['X-Utf8', utf8],
  ]);
});

test('200 headers pass, and a head of 60 KB', async (t) => {
  const pair = await startPair(t);
  const many = Array.from({ length: 200 }, (_, i): HeaderField => [`X-${i}`, 'v'.repeat(250)]);
  pair.upstream.respondWith(answering(200, many));
  assert.deepEqual(fromUpstream(await ask(pair)).slice(0, 200), many);
});

test('trailers pass, announced or not, as often and in the order they were sent', async (t) => {
  const pair = await startPair(t);
  const trailers: HeaderField[] = [
    ['X-Checksum', 'abc'],
    ['x-second', '1'],
    ['X-CHECKSUM', 'def'],
    ['X-Empty', ''],
  ];
  const forbidden: HeaderField[] = [
    ['X-Accel-Redirect', '/inner'],
    ['Link', '</inner>; rel=preload'],
    ['Set-Cookie', 'a=b'],
    ['Server', 'inner'],
    ['X-Postern-Upstream', 'forged'],
    ['Location', 'https://inner.example/'],
    ['OpenAI-Organization', 'org-inner'],
    ['Trailer', 'x'],
    ['Keep-Alive', 'timeout=1'],
  ];
  for (const announced of [true, false]) {
    for (const status of [200, 500]) {
      const head: HeaderField[] = [
        ['Transfer-Encoding', 'chunked'],
        ...(announced ? [['Trailer', 'X-Checksum, x-second'] as const] : []),
      ];
      const end = toHead('0', [...forbidden.slice(0, 3), ...trailers, ...forbidden.slice(3)]);
      pair.upstream.respondWith(async (_request, reply) => {
        await reply.head(status, head);
        await reply.chunk('"body"');
        await reply.raw(end);
      });
      const answer = await ask(pair);
      assert.equal(answer.status, status);
      assert.equal(answer.header('trailer'), announced ? 'X-Checksum, x-second' : undefined);
      assert.deepEqual(answer.trailers, trailers);
      assert.equal(answer.complete, true);
      assert.ok(!/forged|inner/.test(answer.rawBytes.toString()));
    }
  }
});

test('an HTTP/1.0 client gets no trailers, and the complete body', async (t) => {
  const pair = await startPair(t, async (_request, reply) => {
    await reply.head(200, [
      ['Transfer-Encoding', 'chunked'],
      ['Trailer', 'X-T'],
    ]);
    await reply.chunk('"body"');
    await reply.raw('0\r\nX-T: 1\r\n\r\n');
  });
  const head = toHead('POST /v1/embeddings HTTP/1.0', authorized(['Content-Length', String(question.length)]));
  const answer = await send(pair.rig.port, Buffer.concat([head, Buffer.from(question)]), { until: 'close' });
  assert.equal(answer.header('trailer'), undefined);
  assert.equal(answer.body.toString(), '"body"');
});

test("x-request-id is the client's if valid, else the gateway's; the upstream's becomes x-upstream-request-id", async (t) => {
  const pair = await startPair(t);
  const long = 'x'.repeat(128);
  const cases: [sent: HeaderField[], echoed: string | undefined][] = [
    [[['X-Request-Id', 'client-1']], 'client-1'],
    [[['x-request-id', 'A.b_c-9']], 'A.b_c-9'],
    [[['x-request-id', long]], long],
    [[['x-request-id', `${long}x`]], undefined],
    [[['x-request-id', 'two words']], undefined],
    [[['x-request-id', 'a"b']], undefined],
    [[['x-request-id', 'ümlaut']], undefined],
    [[['x-request-id', '']], undefined],
    [
      [
        ['x-request-id', 'one'],
        ['x-request-id', 'two'],
      ],
      undefined,
    ],
    [[], undefined],
  ];
  for (const [sent, echoed] of cases) {
    for (const status of [200, 500]) {
      pair.upstream.respondWith(
        answering(status, [
          ['X-Request-ID', 'req_upstream'],
          ['x-upstream-request-id', 'from further up'],
        ]),
      );
      const answer = await ask(pair, ...sent);
      const exchange = await newestExchange(pair);
      assert.equal(answer.header('x-request-id'), echoed ?? exchange.id);
      assert.match(exchange.id, /^[0-9a-f]{32}$/);
      assert.equal(exchange.clientRequestId, echoed);
      assert.deepEqual(fromUpstream(answer).slice(0, 2), [
        ['x-upstream-request-id', 'req_upstream'],
        ['x-upstream-request-id', 'from further up'],
      ]);
      assert.equal((await pair.upstream.nextRequest()).header('x-request-id'), exchange.id);
    }
  }
});

test('response headers give the upstream, number of calls, vector space and timing', async (t) => {
  const pair = await startPair(t);
  const paths: [path: string, body: object, space: string | undefined][] = [
    ['/v1/embeddings', { input: 'x' }, 'a%20space'],
    ['/v1/engines/m/embeddings', { input: 'x' }, 'a%20space'],
    ['/v1/completions', { prompt: 'x' }, undefined],
    ['/v1/rerank', { query: 'q', documents: [] }, undefined],
  ];
  for (const [path, body, space] of paths) {
    for (const status of [200, 429]) {
      pair.upstream.respondWith(answering(status, [['X-Own', 'yes']]));
      const answer = await pair.rig.post(path, { model: 'm', ...body });
      assert.equal(answer.status, status);
      assert.equal(answer.header('x-postern-upstream'), 'up');
      assert.equal(answer.header('x-postern-attempts'), '1');
      assert.equal(answer.header('x-postern-space'), space, path);
      assert.match(answer.header('server-timing') ?? '', /^gateway;dur=\d+\.\d+, upstream;dur=\d+\.\d+$/);
      const once = answer.headers.filter(([name]) => /^x-(postern-|request-id)/i.test(name)).map(([name]) => name);
      assert.equal(new Set(once).size, once.length);
    }
  }
});

test('with diagnostics off, only the request ID is added', async (t) => {
  const pair = await startPair(t, undefined, { server: { diagnostics: false } });
  const sent: HeaderField[] = [
    ['Server-Timing', 'inner;dur=3'],
    ['X-Postern-Upstream', 'forged'],
    ['X-Request-Id', 'req_upstream'],
    ['Content-Length', '6'],
  ];
  for (const status of [200, 500]) {
    pair.upstream.respondWith(answering(status, sent));
    const answer = await ask(pair);
    assert.deepEqual(
      answer.headers.filter(([name]) => !/^(connection|keep-alive)$/i.test(name)),
      [
        ['Server-Timing', 'inner;dur=3'],
        ['x-upstream-request-id', 'req_upstream'],
        ['Content-Length', '6'],
        ['x-request-id', (await newestExchange(pair)).id],
      ],
    );
  }
});

test('a response of the built-in upstream has the same headers as any other', async (t) => {
  const rig = await startRig(t, { upstreams: [{ id: 'here', family: 'local' }] });
  const answer = await rig.post('/v1/embeddings', { model: 'local/hash-embed', input: 'x' });
  assert.equal(answer.status, 200);
  assert.equal(answer.header('x-postern-upstream'), 'here');
  assert.equal(answer.header('x-postern-attempts'), '1');
  assert.equal(answer.header('content-length'), String(answer.body.length));
});

test("with CORS the upstream's headers are kept, duplicates too", async (t) => {
  const pair = await startPair(t, undefined, { server: { cors: { origins: ['https://app.example'] } } });
  const sent: HeaderField[] = [
    ['X-A', '1'],
    ['x-b', '2'],
    ['x-a', '3'],
    ['Access-Control-Allow-Origin', 'https://inner.example'],
    ['Vary', 'Accept-Encoding'],
    ['Content-Length', '6'],
  ];
  pair.upstream.respondWith(answering(200, sent));
  const bytes = toRequestBytes({
    path: '/v1/embeddings',
    headers: authorized(['Origin', 'https://app.example']),
    body: question,
  });
  const answer = await send(pair.rig.port, bytes);
  assert.equal(answer.header('access-control-allow-origin'), 'https://app.example');
  assert.match(answer.header('vary') ?? '', /origin/);
  assert.match(answer.header('vary') ?? '', /Accept-Encoding/);
  assert.deepEqual(
    ['X-A', 'x-b'].map((name) => answer.header(name)),
    ['1, 3', '2'],
  );
});

test('translated requests withhold the same headers, in successes and errors', async (t) => {
  const bodies = new Map<number, string>([
    [200, '{"id":"1","embeddings":{"float":[[0.5]]},"texts":["x"],"meta":{"billed_units":{"input_tokens":1}}}'],
    [400, '{"message":"no"}'],
  ]);
  for (const [status, body] of bodies) {
    const kept = passing.filter(([name]) => !/^(content-.*|date)$/i.test(name));
    const fields: HeaderField[] = [...withheld, ...kept, ['Content-Type', 'application/json']];
    const pair = await startPair(t, answering(status, fields, body), { upstream: { family: 'cohere' } });
    const answer = await ask(pair);
    assert.equal(answer.status, status);
    assert.equal(answer.header('x-postern-translated'), 'cohere');
    const came = fromUpstream(answer).filter(([name]) => !/^(content-.*|date)$/i.test(name));
    assert.deepEqual(came, kept);
  }
});

test("an upstream's own header list applies to head, trailers, successes and errors", async (t) => {
  const head: HeaderField[] = [
    ['Content-Type', 'text/plain'],
    ['X-Request-Id', 'req_upstream'],
    ['CF-RAY', '8a1'],
    ['X-RateLimit-Limit-Requests', '3000'],
    ['Date', 'Thu, 01 Jan 1970 00:00:00 GMT'],
    ['X-Accel-Redirect', '/internal'],
    ['Transfer-Encoding', 'chunked'],
  ];
  const end = toHead('0', [
    ['X-Checksum', 'abc'],
    ['X-Other', 'def'],
  ]);
  const list = { response_headers: ['X-RateLimit-*', 'x-checksum', 'x-request-id'] };
  for (const status of [200, 404]) {
    const pair = await startPair(
      t,
      async (_request, reply) => {
        await reply.head(status, head);
        await reply.chunk('"body"');
        await reply.raw(end);
      },
      { upstream: list },
    );
    const answer = await ask(pair);
    assert.equal(answer.status, status);
    assert.deepEqual(fromUpstream(answer), [
      ['Content-Type', 'text/plain'],
      ['x-upstream-request-id', 'req_upstream'],
      ['X-RateLimit-Limit-Requests', '3000'],
    ]);
    assert.deepEqual(answer.trailers, [['X-Checksum', 'abc']]);
  }

  const translated = await startPair(t, answering(429, [['Retry-After', '3'], ...passing], '{"message":"slow"}'), {
    upstream: { family: 'cohere', ...list },
  });
  const answer = await ask(translated);
  const names = fromUpstream(answer).map(([name]) => name.toLowerCase());
  assert.deepEqual(
    names.filter((name) => !/^content-/.test(name)),
    ['retry-after', 'x-ratelimit-limit-requests', 'x-ratelimit-reset-tokens', 'retry-after'],
  );
});
