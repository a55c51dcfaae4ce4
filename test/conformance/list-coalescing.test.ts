/** Small lists of many clients are sent as one, which only the time shows. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { connect } from '../support/clients/raw-connection.ts';
import { questionBytes } from '../support/gateways/pair.ts';
import { testKey } from '../support/gateways/rig.ts';
import { startSeveral } from '../support/gateways/several.ts';
import { patientMs } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';
import { embeddingsOf, embeds, inputsOf, ranked, ranks } from '../support/upstreams/list-service.ts';

const keys = [
  { id: 'test', secret: testKey },
  ...['one', 'two', 'three', 'four'].map((id) => ({ id, secret: `secret-of-the-key-named-${id}` })),
];
/** As long as requests sent together may take to arrive; a second is the longest there is. */
const window = `${Math.min(1_000, patientMs(100))}ms`;
const joining = {
  operations: ['embeddings', 'rerank'],
  coalesce: { window, max_items: 16 },
  price: { input: 100_000 },
};
const slowly: Handler = async (request, reply) => {
  await reply.sleep(patientMs(50));
  await embeds(request, reply);
};

async function startJoining(...[t, script, model = {}]: [Parameters<typeof startSeveral>[0], Handler, object?]) {
  const setup = await startSeveral(t, [script], { model: { ...joining, ...model }, more: { keys } });
  const ask = (key: string, body: object, path = '/v1/embeddings') =>
    setup.rig.post(path, { model: 'm', ...body }, { headers: [['x-api-key', `secret-of-the-key-named-${key}`]] });
  await ask('one', { input: 'first' });
  return { ...setup, ask, calls: () => setup.upstreams[0]?.requests.slice(1) ?? [] };
}

test('small lists of several keys are combined in one call, with separate responses and bills', async (t) => {
  const { rig, ask, calls } = await startJoining(t, embeds);
  const lists: [string, string | string[]][] = [
    ['one', 'a'],
    ['two', ['bb', 'ccc']],
    ['three', ['dddd']],
    ['four', ['a', 'bb']],
  ];
  const answers = await Promise.all(lists.map(([key, input]) => ask(key, { input })));
  assert.deepEqual(
    answers.map(({ body }) => body.toString()),
    lists.map(([, input]) => embeddingsOf([input].flat())),
  );
  assert.deepEqual(
    answers.map((answer) => answer.header('x-postern-usage')),
    lists.map(() => 'about'),
  );
  assert.deepEqual(calls().map(inputsOf), [['a', 'bb', 'ccc', 'dddd', 'a', 'bb']]);
  await rig.exchange(5);
  const bills = rig.settled
    .slice(1)
    .map(({ key, bill, outcome }) => [key?.id, bill?.inputTokens, bill?.items, bill?.costNanos, outcome]);
  assert.deepEqual(bills.toSorted(), [
    ['four', 3, 2, 3e8, 'ok'],
    ['one', 1, 1, 1e8, 'ok'],
    ['three', 4, 1, 4e8, 'ok'],
    ['two', 5, 2, 5e8, 'ok'],
  ]);
});

test('requests that differ are not combined: parameters, query, long lists', async (t) => {
  const script: Handler = (request, reply) => (request.path.endsWith('rerank') ? ranks : embeds)(request, reply);
  const { ask, calls } = await startJoining(t, script);
  const long = Array.from({ length: 17 }, (_, index) => `text ${index}`);
  const documents = ['a', 'bb'];
  const answers = await Promise.all([
    ask('one', { input: 'a', dimensions: 3 }),
    ask('two', { input: 'a', truncate: true }),
    ask('three', { input: long }),
    ask('one', { query: 'q', documents, top_n: 1 }, '/v1/rerank'),
    ask('two', { query: 'q', documents: ['ccc'], top_n: 2 }, '/v1/rerank'),
    ask('three', { query: 'other', documents }, '/v1/rerank'),
  ]);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.equal(calls().length, 5);
  assert.match(answers[3]?.body.toString() ?? '', /"results":\[\{"index":1,"relevance_score":0\.0200\}\]/);
  assert.equal(answers[5]?.body.toString(), ranked(documents));
});

test("one client's invalid item does not fail other clients", async (t) => {
  const script: Handler = (request, reply) =>
    inputsOf(request).includes('bad')
      ? reply.json(400, { error: { message: 'a bad item', type: 't', param: null, code: null } })
      : embeds(request, reply);
  const { ask } = await startJoining(t, script);
  const [good, bad, other] = await Promise.all([
    ask('one', { input: 'a' }),
    ask('two', { input: ['b', 'bad'] }),
    ask('three', { input: 'ccc' }),
  ]);
  assert.equal(good?.body.toString(), embeddingsOf(['a']));
  assert.deepEqual([bad?.status, /a bad item/.test(bad?.body.toString() ?? '')], [400, true]);
  assert.equal(other?.body.toString(), embeddingsOf(['ccc']));
});

test('a client that disconnects does not affect the others, and the call ends when all have', async (t) => {
  let left = 0;
  const script: Handler = async (request, reply) => {
    if (!inputsOf(request).includes('for nobody')) return slowly(request, reply);
    await reply.clientClosed;
    left += 1;
  };
  const { rig, ask, calls } = await startJoining(t, script);
  const body = (input: string) => questionBytes(JSON.stringify({ model: 'm', input }));
  const leaving = await connect(rig.port);
  await leaving.write(body('leaves'));
  const staying = ask('one', { input: 'stays' });
  await until(() => calls().length > 0);
  leaving.destroy();
  assert.equal((await staying).body.toString(), embeddingsOf(['stays']));
  assert.deepEqual(calls().map(inputsOf), [['leaves', 'stays']]);

  const both = await Promise.all([connect(rig.port), connect(rig.port)]);
  for (const one of both) await one.write(body('for nobody'));
  await until(() => calls().length !== 1);
  for (const one of both) one.destroy();
  await until(() => left !== 0);
  assert.equal(left, 1);
});

test('more items than the maximum make several calls, and a busy key does not delay others', async (t) => {
  const { ask, calls } = await startJoining(t, embeds, { coalesce: { window, max_items: 4 } });
  const many = Array.from({ length: 6 }, (_, index) => ask('one', { input: `many ${index}` }));
  const few = ask('two', { input: 'few' });
  const answers = await Promise.all([...many, few]);
  assert.deepEqual(new Set(answers.map(({ status }) => status)), new Set([200]));
  assert.ok(calls().every((request) => inputsOf(request).length <= 4));
  assert.ok(calls().length >= 2 && calls().length < 7);
});

test('combined with a cache, only unknown items are sent', async (t) => {
  const { ask, calls } = await startJoining(t, embeds, { cache: { scope: 'shared' } });
  await ask('one', { input: ['a', 'bb'] });
  const answers = await Promise.all([ask('two', { input: ['a', 'ccc'] }), ask('three', { input: ['dddd', 'bb'] })]);
  assert.deepEqual(
    answers.map(({ body }) => body.toString()),
    [embeddingsOf(['a', 'ccc']), embeddingsOf(['dddd', 'bb'])],
  );
  assert.deepEqual(calls().slice(1).map(inputsOf), [['ccc', 'dddd']]);
});
