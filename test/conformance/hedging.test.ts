/** A call that takes long is sent a second time where that is allowed; one answer reaches the client, and the other call ends. */

import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, type Socket } from 'node:net';
import { test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from '../support/clients/raw-connection.ts';
import { questionBytes } from '../support/gateways/pair.ts';
import { answering, refusingWith, type SeveralOptions, silent, startSeveral } from '../support/gateways/several.ts';
import { patiently, patientMs } from '../support/time/patience.ts';
import { until } from '../support/time/until.ts';
import type { Handler } from '../support/upstreams/fake-upstream.ts';

const hedged = (after: string, more: SeveralOptions = {}): SeveralOptions => ({
  ...more,
  model: { operations: ['embeddings'], hedge: { after }, ...more.model },
});

const afterMs =
  (ms: number, name: string): Handler =>
  async (_request, reply) => {
    await reply.sleep(ms);
    await reply.json(200, { from: name });
  };

test('if the first target is slow the second answers, and the first call is cancelled', async (t) => {
  let firstLeft = false;
  const patient: Handler = async (_request, reply) => {
    await reply.clientClosed;
    firstLeft = true;
  };
  const setup = await startSeveral(t, [patient, answering('b')], hedged(patiently(10)));
  const answer = await setup.embed();
  assert.deepEqual(answer.json(), { from: 'b' });
  assert.equal(answer.header('x-postern-attempts'), '2');
  assert.equal(answer.header('x-postern-upstream'), 'b');
  await until(() => firstLeft);
  const { tries } = await setup.rig.exchange();
  assert.deepEqual(tries.map(({ upstream, outcome }) => `${upstream} ${outcome}`).toSorted(), [
    'a outrun',
    'b answered',
  ]);
});

test('if the first target answers in time, no second is called', async (t) => {
  const setup = await startSeveral(t, [afterMs(10, 'a'), answering('b')], hedged('2s'));
  assert.deepEqual((await setup.embed()).json(), { from: 'a' });
  assert.deepEqual(setup.seen(), [1, 0]);
});

test("the first target's response is used if it comes before the hedged call's", async (t) => {
  const setup = await startSeveral(t, [afterMs(patientMs(30), 'a'), silent], hedged(patiently(10)));
  const answer = await setup.embed();
  assert.deepEqual(answer.json(), { from: 'a' });
  assert.equal(answer.header('x-postern-upstream'), 'a');
  assert.deepEqual(setup.seen(), [1, 1]);
});

test('a failed hedged call is ignored if the first call succeeds', async (t) => {
  const setup = await startSeveral(t, [afterMs(patientMs(37.5), 'a'), refusingWith(503)], hedged(patiently(7.5)));
  assert.deepEqual((await setup.embed()).json(), { from: 'a' });
});

test('if the first and the hedged call fail, the next target is called', async (t) => {
  const failing: Handler = async (_request, reply) => {
    await reply.sleep(patientMs(20));
    await reply.json(500, {});
  };
  const setup = await startSeveral(t, [failing, refusingWith(503), answering('c')], hedged(patiently(7.5)));
  assert.deepEqual((await setup.embed()).json(), { from: 'c' });
  assert.deepEqual(setup.seen(), [1, 1, 1]);
});

test('a client that disconnects ends the first and the hedged call', async (t) => {
  const left: string[] = [];
  const waiting =
    (name: string): Handler =>
    async (_request, reply) => {
      await reply.clientClosed;
      left.push(name);
    };
  const setup = await startSeveral(t, [waiting('a'), waiting('b')], hedged(patiently(5)));
  const client = await connect(setup.rig.port);
  await client.write(questionBytes());
  await setup.upstreams[1]?.nextRequest();
  client.destroy();
  await until(() => left.length >= 2);
  assert.deepEqual(left.toSorted(), ['a', 'b']);
  assert.equal((await setup.rig.exchange()).errorCode, 'client_closed');
});

test('with p95, calls slower than the 95th percentile are hedged once enough is measured', async (t) => {
  let slow = false;
  const setup = await startSeveral(
    t,
    [(request, reply) => afterMs(slow ? 10_000 : 1, 'a')(request, reply), answering('b')],
    hedged('p95'),
  );
  for (let i = 0; i < 40; i += 1) assert.deepEqual((await setup.embed()).status, 200);
  slow = true;
  // Some of those were sent again, and may have been many on a busy machine: second calls are not without end.
  await wait(500);
  assert.deepEqual((await setup.embed()).json(), { from: 'b' });
});

test('an unsent second call does not use the retry budget', async (t) => {
  // A TLS handshake with it never ends.
  const mute = createServer().listen(0, '127.0.0.1');
  const sockets: Socket[] = [];
  mute.on('connection', (socket) => sockets.push(socket));
  t.after(() => {
    mute.close();
    for (const socket of sockets) socket.destroy();
  });
  await once(mute, 'listening');
  const address = mute.address();
  assert.ok(typeof address === 'object' && address !== null);
  // A handshake that fails would put it into cooldown.
  const timeouts = { connect: '5m' };
  const upstream = [{}, { base_url: `https://127.0.0.1:${address.port}/v1`, timeouts }];
  const setup = await startSeveral(
    t,
    [afterMs(patientMs(10), 'a'), answering('b')],
    hedged(patiently(1), { upstream }),
  );
  const attempts: string[] = [];
  for (let i = 0; i < 70; i += 1) attempts.push((await setup.embed()).header('x-postern-attempts') ?? '');
  assert.deepEqual(attempts, Array<string>(70).fill('2'));
});

test('second calls are limited by the retry budget', async (t) => {
  const setup = await startSeveral(
    t,
    [afterMs(patientMs(37.5), 'a'), afterMs(patientMs(37.5), 'b')],
    hedged(patiently(2.5), { target: [{}, {}] }),
  );
  const requests = 100;
  const startedMs = performance.now();
  await Promise.all(Array.from({ length: requests }, () => setup.embed()));
  const seconds = (performance.now() - startedMs) / 1000;
  const [first = 0, second = 0] = setup.seen();
  assert.equal(first, requests);
  assert.ok(second > 0 && second <= 20 + 10 * seconds, `${second} second calls in ${seconds.toFixed(1)} s`);
});
