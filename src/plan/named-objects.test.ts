/** Long bodies that may name stored objects: they are searched in time slices, within a limit of names. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as nextSlice } from 'node:timers/promises';
import { slowClock } from '../../test/support/time/slow-clock.ts';
import { GatewayError } from '../core/errors.ts';
import { responses } from '../routes/openai.ts';
import { type NamedObjects, namedObjectsIn } from './named-objects.ts';
import { ParsingMemory } from './parsing-memory.ts';
import { questionReaderOf } from './question.ts';

const readQuestion = questionReaderOf(responses);

async function namedIn(input: readonly object[]): Promise<NamedObjects> {
  return namedObjectsIn(
    await readQuestion(Buffer.from(JSON.stringify({ model: 'm', input }))),
    responses,
    new ParsingMemory(undefined),
  );
}

/** Items with IDs, half a mebibyte and more, so that they need several slices. */
const items = (count: number): object[] =>
  Array.from({ length: count }, (_, index) => ({ id: `msg_${index}`, content: 'x'.repeat(200), type: 'message' }));

test('a long body is searched completely for object IDs, in slices that yield to other work', async (t) => {
  await slowClock(t);
  const input = [
    ...items(4_000),
    ...Array.from({ length: 100_000 }, () => ({ a: [] })),
    { type: 'item_reference', id: 'msg_own' },
  ];
  const question = await readQuestion(Buffer.from(JSON.stringify({ model: 'm', input })));
  let slices = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; slices += 1) await nextSlice();
  })();
  const { needed, mentioned } = await namedObjectsIn(question, responses, new ParsingMemory(undefined));
  isOver = true;
  await counting;
  assert.deepEqual(needed, [{ kind: 'item', id: 'msg_own', param: 'item_reference' }]);
  assert.equal(mentioned.length, 4_001);
  // Two lists of a hundred thousand are read and searched.
  assert.ok(slices > 200, `${slices} slices`);
});

test('a body of many small values is searched for object IDs in slices that yield to other work', async (t) => {
  const body = Buffer.from(`{"model":"m","input":[${'{},'.repeat(50_000)}{"type":"item_reference","id":"msg_1"}]}`);
  const question = await readQuestion(body);
  await slowClock(t);
  let slices = 0;
  let isOver = false;
  const counting = (async () => {
    for (; !isOver; slices += 1) await nextSlice();
  })();
  await namedObjectsIn(question, responses, new ParsingMemory(undefined));
  isOver = true;
  await counting;
  assert.ok(slices > 20, `${slices} slices`);
});

test("a container in a tool's environment is required, and one in an earlier tool call is only mentioned", async () => {
  const there = { type: 'container_reference', container_id: 'cntr_1' };
  const read = async (body: object): Promise<NamedObjects> =>
    namedObjectsIn(
      await readQuestion(Buffer.from(JSON.stringify({ model: 'm', ...body }))),
      responses,
      new ParsingMemory(undefined),
    );
  const naming = { kind: 'container', id: 'cntr_1', param: 'container_id' } as const;
  const asTool = await read({ input: 'x', tools: [{ type: 'shell', environment: there }] });
  assert.deepEqual([asTool.needed, asTool.mentioned], [[naming], []]);
  for (const item of [
    { type: 'shell_call', environment: there },
    { type: 'code_interpreter_call', container_id: 'cntr_1' },
  ]) {
    const asItem = await read({ input: [item] });
    assert.deepEqual([asItem.needed, asItem.mentioned], [[], [naming]]);
  }
});

test('limits the number of stored objects that a request names, without duplicates', async () => {
  assert.equal((await namedIn(items(5_000))).mentioned.length, 5_000);
  assert.equal((await namedIn([...items(2), ...items(2)])).mentioned.length, 2);
  const isRefused = (error: unknown): boolean =>
    error instanceof GatewayError && error.code === 'unsupported_parameter' && error.message.includes('5000');
  await assert.rejects(namedIn(items(5_001)), isRefused);
  const references = Array.from({ length: 5_001 }, (_, index) => ({ type: 'item_reference', id: `msg_${index}` }));
  await assert.rejects(namedIn(references), isRefused);
});
