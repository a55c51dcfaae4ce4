import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toUpstream } from '../../test/support/upstreams/upstream.ts';
import type { MadeAnswer } from '../core/family.ts';
import type { Answer, Call } from '../core/outcome.ts';
import { inProcessTransport } from './in-process.ts';

/** A call to a family with such an answer, and how often it ended. */
function callOf(make: (() => Promise<MadeAnswer>) | undefined) {
  const counted = { over: 0 };
  const call = {
    upstream: toUpstream('http://house.test'),
    offer: { path: '/', ...(make !== undefined && { make }) },
    client: { gone: false, work: undefined },
    body: Buffer.from('{}'),
    end: {
      over: () => {
        counted.over += 1;
      },
    },
  } as unknown as Call;
  return { call, counted };
}

async function answered(call: Call): Promise<Answer> {
  const outcome = await inProcessTransport(call);
  assert.ok(outcome.kind === 'answered');
  return outcome.answer;
}

async function* parts(): AsyncGenerator<Buffer> {
  yield Buffer.from('one');
  yield Buffer.from('two');
}

const streamed = async (): Promise<MadeAnswer> => ({ status: 200, headers: [], body: parts() });

test('an in-process call whose response body is not read ends when it is cancelled', async () => {
  const { call, counted } = callOf(streamed);
  const answer = await answered(call);
  assert.equal(counted.over, 0);
  answer.cancel();
  assert.equal(counted.over, 1);
});

test('an in-process call whose response body is read ends once, at the end of the body', async () => {
  const { call, counted } = callOf(streamed);
  const answer = await answered(call);
  const { promise, resolve } = Promise.withResolvers<void>();
  const seen: string[] = [];
  answer.take({
    onChunk: (chunk) => {
      seen.push(chunk.toString());
      assert.equal(counted.over, 0);
      return true;
    },
    onEnd: () => resolve(),
    onBroken: () => resolve(),
  });
  await promise;
  await new Promise(setImmediate);
  assert.deepEqual([seen, counted.over], [['one', 'two'], 1]);
  answer.cancel();
  assert.equal(counted.over, 1);
});

test('an in-process call to a family that has no local responses throws', async () => {
  await assert.rejects(inProcessTransport(callOf(undefined).call), /makes no answers of its own/);
});
