/** A request that takes several calls is one request: its answers in order, its limits kept, and no call left behind. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { assertError } from '../support/clients/error-answer.ts';
import { connect } from '../support/clients/raw-connection.ts';
import { questionBytes } from '../support/gateways/pair.ts';
import { refusingWith, startSeveral } from '../support/gateways/several.ts';
import {
  inputsIn,
  openaiAnswer,
  openaiEmbeds,
  startTranslated,
  type Translated,
  type TranslatedOptions,
  usageIn,
  vectorsIn,
} from '../support/gateways/translated.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

/** One input a call. */
const tei = (upstream: TranslatedOptions['upstream'] = {}): TranslatedOptions => ({
  family: 'tei',
  upstream: { options: { max_items: 1 }, limits: { concurrency: 8, queue: 0 }, ...upstream },
});

const questionOf = (count: number) => ({
  model: 'm',
  input: Array.from({ length: count }, (_, index) => String(index)),
});

/** Every call has a handler of its own, by its one input. */
const by =
  (handlers: Readonly<Record<number, Handler>>, others: Handler = openaiEmbeds): Handler =>
  (request, reply) =>
    (handlers[Number(inputsIn(request)[0])] ?? others)(request, reply);

/** Does not answer, and counts which calls were left. */
function leaving(): { readonly script: Handler; readonly left: () => number } {
  let left = 0;
  return {
    script: async (_request, reply) => {
      await reply.clientClosed;
      left += 1;
    },
    left: () => left,
  };
}

/** As many calls at a time as there are slots, and none may wait: each slot has to be free again. */
async function assertSlotsFree({ embed, upstream }: Translated, slots = 8): Promise<void> {
  const held: (() => void)[] = [];
  upstream.respondWith(async (request, reply) => {
    const together = new Promise<void>((resolve) => {
      held.push(resolve);
      if (held.length === slots) for (const release of held) release();
    });
    // If a slot is missing, the others must not wait for it for ever.
    await Promise.race([together, reply.sleep(3_000)]);
    await openaiEmbeds(request, reply);
  });
  const answers = await Promise.all(Array.from({ length: slots }, () => embed(questionOf(1))));
  assert.deepEqual([...new Set(answers.map(({ status }) => status))], [200]);
}

test('vectors are in input order, in whatever order the responses come', async (t) => {
  const { embed, upstream, rig } = await startTranslated(
    t,
    async (request, reply) => {
      await reply.sleep((17 * Number(inputsIn(request)[0])) % 40);
      await openaiEmbeds(request, reply);
    },
    tei(),
  );
  const answer = await embed(questionOf(30));
  assert.deepEqual(
    vectorsIn(answer).map(([first]) => first),
    Array.from({ length: 30 }, (_, index) => index),
  );
  assert.deepEqual(usageIn(answer), { prompt_tokens: 30, total_tokens: 30 });
  assert.equal(upstream.requests.length, 30);
  assert.deepEqual([answer.header('x-postern-attempts'), answer.header('x-postern-calls')], ['30', '30']);
  const { usage, id } = await rig.exchange();
  assert.equal(usage?.promptTokens, 30);
  assert.deepEqual([...new Set(upstream.requests.map((request) => request.header('x-request-id')))], [id]);
});

test('an idempotency key is not sent with several calls', async (t) => {
  const { embed, upstream } = await startTranslated(t, openaiEmbeds, tei());
  await embed(questionOf(2), ['Idempotency-Key', 'k']);
  assert.deepEqual(
    upstream.requests.map((request) => request.header('idempotency-key')),
    [undefined, undefined],
  );
});

test("a request has at most eight calls in flight, or the upstream's free slots", async (t) => {
  for (const { concurrency, wanted } of [
    { concurrency: 256, wanted: 8 },
    { concurrency: 3, wanted: 3 },
    { concurrency: 1, wanted: 1 },
  ]) {
    let now = 0;
    let most = 0;
    let allThere = () => {};
    const together = new Promise<void>((resolve) => {
      allThere = resolve;
    });
    const counting: Handler = async (request, reply) => {
      now += 1;
      most = Math.max(most, now);
      if (now === wanted) allThere();
      // Held until there are as many as may be, and a moment longer for one too many to show itself.
      await Promise.race([together, reply.sleep(patientMs(2_000))]);
      await reply.sleep(5);
      now -= 1;
      await openaiEmbeds(request, reply);
    };
    const setup = await startTranslated(t, counting, tei({ limits: { concurrency } }));
    assert.equal(vectorsIn(await setup.embed(questionOf(40))).length, 40);
    assert.equal(most, wanted);
    if (concurrency < 256) await assertSlotsFree(setup, concurrency);
  }
});

test('a request split into many calls does not hold slots that other requests wait for', async (t) => {
  const seen: string[] = [];
  const slow: Handler = async (request, reply) => {
    seen.push(inputsIn(request)[0] ?? '');
    await reply.sleep(20);
    await openaiEmbeds(request, reply);
  };
  const { embed } = await startTranslated(t, slow, tei({ limits: { concurrency: 2, queue: 5 } }));
  const large = embed(questionOf(20));
  await until(() => seen.length >= 2);
  const small = await embed({ model: 'm', input: '777' });
  assert.deepEqual(vectorsIn(small)[0]?.[0], 777);
  // It did not wait for the other request to end.
  assert.ok(seen.length < 12, String(seen.length));
  assert.equal(vectorsIn(await large).length, 20);
});

const failures: readonly {
  what: string;
  script: Handler;
  check: (answer: Awaited<ReturnType<Translated['embed']>>) => void;
}[] = [
  {
    what: 'is refused',
    script: (_request, reply) => reply.json(422, { error: 'too long', error_type: 'Validation' }),
    check(answer) {
      assert.equal(answer.status, 422);
      assert.match(answer.body.toString(), /"message":"too long"/);
      assert.equal(answer.header('x-postern-translated'), 'tei');
    },
  },
  {
    what: 'is an HTML page',
    script: (_request, reply) => reply.bytes(200, [['content-type', 'text/html']], '<html>busy</html>'),
    check: (answer) => assertError(answer, 'upstream_protocol_error', { message: /a page came instead of JSON/ }),
  },
  {
    what: 'is empty',
    script: (_request, reply) => reply.bytes(200, [], ''),
    check: (answer) => assertError(answer, 'upstream_protocol_error', { message: /its body is empty/ }),
  },
  {
    what: 'is truncated',
    async script(_request, reply) {
      await reply.head(200, [['content-length', '100']]);
      await reply.raw('{"data":');
      reply.cut();
    },
    check: (answer) => assertError(answer, 'upstream_unreachable'),
  },
  {
    what: 'is a connection reset',
    script: (_request, reply) => reply.reset(),
    check: (answer) => assertError(answer, 'upstream_unreachable'),
  },
  {
    what: 'is not HTTP',
    script: (_request, reply) => reply.raw('+PONG\r\n\r\n'),
    check: (answer) => assertError(answer, 'upstream_protocol_error'),
  },
  {
    what: 'is a redirect',
    script: (_request, reply) => reply.bytes(307, [['location', 'http://127.0.0.1:1/']], ''),
    check: (answer) => assertError(answer, 'upstream_protocol_error', { message: /redirect/ }),
  },
  {
    what: 'holds no vector',
    script: (_request, reply) => reply.json(200, { data: [] }),
    check: (answer) => assertError(answer, 'upstream_protocol_error', { message: /0 vectors for 1 inputs/ }),
  },
  {
    what: 'is longer than answer_limit',
    script: (_request, reply) => reply.bytes(200, [], `{"pad":"${'x'.repeat(3 * 1024 * 1024)}"}`),
    check: (answer) => assertError(answer, 'upstream_protocol_error', { message: /answer_limit/ }),
  },
];

for (const { what, script, check } of failures) {
  test(`if one of several responses ${what}, the whole request fails, and the other calls are cancelled`, async (t) => {
    const { script: stalled, left } = leaving();
    const isWhole = what === 'holds no vector';
    // An answer that is well-formed is judged with the others.
    const others = isWhole ? openaiEmbeds : stalled;
    const calls = isWhole ? 20 : 8;
    const last: Handler = async (request, reply) => {
      await until(() => setup.upstream.requests.length === calls);
      await script(request, reply);
    };
    const setup = await startTranslated(t, by({ 2: last }, others), tei({ answer_limit: '2MiB' }));
    check(await setup.embed(questionOf(20)));
    assert.equal(setup.upstream.requests.length, calls);
    if (!isWhole) await until(() => left() === 7);
    await assertSlotsFree(setup);
  });
}

test("answer_limit applies to each call's response", async (t) => {
  const padded: Handler = (request, reply) => {
    const pad = 'x'.repeat((inputsIn(request)[0] === '5' ? 1_100 : 300) * 1024);
    return reply.json(200, { ...openaiAnswer(request), pad });
  };
  const setup = await startTranslated(t, padded, tei({ answer_limit: '1MiB' }));
  assert.equal((await setup.embed(questionOf(5))).status, 200);
  assertError(await setup.embed(questionOf(6)), 'upstream_protocol_error', { message: /over 1048576 bytes/ });
  await assertSlotsFree(setup);
});

test('a client that disconnects ends every call', async (t) => {
  const { script, left } = leaving();
  const setup = await startTranslated(t, script, tei());
  const client = await connect(setup.rig.port);
  await client.write(questionBytes(JSON.stringify(questionOf(20))));
  await until(() => setup.upstream.requests.length === 8);
  client.destroy();
  await until(() => left() === 8);
  assert.equal((await setup.rig.exchange()).errorCode, 'client_closed');
  assert.equal(setup.upstream.requests.length, 8);
  await assertSlotsFree(setup);
});

test('a client that disconnects during the responses ends every call', async (t) => {
  const { script, left } = leaving();
  const beginning: Handler = async (request, reply) => {
    await reply.head(200, [['content-length', '100']]);
    await reply.raw('{"data":');
    await script(request, reply);
  };
  const setup = await startTranslated(t, by({ 0: openaiEmbeds, 1: openaiEmbeds }, beginning), tei());
  const client = await connect(setup.rig.port);
  await client.write(questionBytes(JSON.stringify(questionOf(9))));
  await until(() => setup.upstream.requests.length === 9);
  client.destroy();
  await until(() => left() === 7);
  await assertSlotsFree(setup);
});

test('timeouts apply to each call', async (t) => {
  const stalled: Handler = async (_request, reply) => {
    await reply.head(200, [['content-length', '100']]);
    await reply.stall();
  };
  const rows: [Handler, Record<string, string>, RegExp][] = [
    [(_request, reply) => reply.stall(), { first_byte: patiently(300) }, /timeouts\.first_byte/],
    [stalled, { idle: patiently(300) }, /timeouts\.idle/],
    [(_request, reply) => reply.stall(), { total: patiently(400) }, /timeouts\.total/],
  ];
  for (const [script, timeouts, message] of rows) {
    const setup = await startTranslated(t, by({ 11: script }), tei({ timeouts }));
    assertError(await setup.embed(questionOf(12)), 'upstream_timeout', { message });
    await assertSlotsFree(setup);
  }
});

test('calls to an unreachable target were never sent and use no retry budget', async (t) => {
  const setup = await startSeveral(t, [openaiEmbeds, openaiEmbeds], {
    model: { operations: ['embeddings'] },
    upstream: { family: 'tei', options: { max_items: 1 } },
  });
  await setup.upstreams[0]?.close();
  // More often than the retry budget of an upstream would allow.
  for (let i = 0; i < 60; i += 1) {
    const answer = await setup.rig.post('/v1/embeddings', questionOf(12));
    assert.equal(answer.status, 200);
    assert.equal(answer.header('x-postern-upstream'), 'b');
  }
  const { tries, attempts } = await setup.rig.exchange(1);
  const outcomes = new Set(tries.map(({ upstream, outcome }) => `${upstream} ${outcome}`));
  assert.deepEqual([...outcomes].toSorted(), ['a not-sent', 'b answered']);
  assert.ok(attempts <= 24, String(attempts));
});

test('a 429 moves only its part to the next target', async (t) => {
  const setup = await startSeveral(t, [by({ 5: refusingWith(429) }), openaiEmbeds], {
    model: { operations: ['embeddings'] },
    upstream: { family: 'tei', options: { max_items: 1 } },
  });
  const answer = await setup.rig.post('/v1/embeddings', questionOf(10));
  assert.deepEqual(
    vectorsIn(answer).map(([first]) => first),
    Array.from({ length: 10 }, (_, index) => index),
  );
  assert.deepEqual([answer.header('x-postern-calls'), answer.header('x-postern-attempts')], ['10', '11']);
  const { tries } = await setup.rig.exchange();
  assert.deepEqual(
    tries.map(({ upstream, outcome, detail }) => [upstream, outcome, detail]),
    [
      ['a', 'limited', 429],
      ['b', 'answered', 200],
    ],
  );
});

test("when a hedged target answers first, the slower target's calls are cancelled", async (t) => {
  const { script, left } = leaving();
  const setup = await startSeveral(t, [script, openaiEmbeds], {
    model: { operations: ['embeddings'], hedge: { after: patiently(10) } },
    upstream: { family: 'tei', options: { max_items: 1 } },
  });
  const answer = await setup.rig.post('/v1/embeddings', questionOf(10));
  assert.equal(vectorsIn(answer).length, 10);
  assert.equal(answer.header('x-postern-upstream'), 'b');
  const { tries } = await setup.rig.exchange();
  const outrun = tries.filter(({ upstream, outcome }) => upstream === 'a' && outcome === 'outrun').length;
  assert.ok(outrun > 0, JSON.stringify(tries));
  await until(() => left() === outrun);
});
