import assert from 'node:assert/strict';
import { test } from 'node:test';
import { firstCounter, model, payloads } from './payloads.ts';

test('every request names the model', () => {
  for (const { name, request, requestType } of payloads) {
    if (requestType !== 'application/json') assert.ok(request.includes(`\r\n\r\n${model}\r\n`), name);
    else assert.equal(JSON.parse(request.toString()).model, model, name);
  }
});

test('every request body has exactly one counter that can differ in each request', () => {
  for (const { name, request, counterAt } of payloads) {
    const text = request.toString('latin1');
    assert.deepEqual(text.split(String(firstCounter)).map(({ length }) => length)[0], counterAt, name);
    assert.equal(text.split(String(firstCounter)).length, 2, name);
  }
});

test('every response is JSON, or events of JSON that end with the last byte', () => {
  for (const { name, answer, eventEnds } of payloads) {
    if (eventEnds === undefined) {
      assert.doesNotThrow(() => JSON.parse(answer.toString()), name);
      continue;
    }
    assert.equal(eventEnds.at(-1), answer.length);
    const events = answer.toString().split('\n\n').slice(0, -1);
    assert.equal(events.length, eventEnds.length);
    assert.equal(events.pop(), 'data: [DONE]');
    for (const event of events) assert.doesNotThrow(() => JSON.parse(event.slice('data: '.length)), name);
  }
});

test('every embeddings response has as many vectors as its request has inputs', () => {
  const lists = payloads.filter(({ operation, eventEnds }) => operation === 'embeddings' && eventEnds === undefined);
  for (const { name, request, answer } of lists) {
    const { input } = JSON.parse(request.toString());
    const inputs = Array.isArray(input) && typeof input[0] === 'string' ? input.length : 1;
    assert.equal(JSON.parse(answer.toString()).data.length, inputs, name);
  }
});

test('the sizes of the payloads match their names', () => {
  const sizes = Object.fromEntries(payloads.map(({ name, request, answer }) => [name, { request, answer }]));
  const within = (bytes: number | undefined, low: number, high: number): void =>
    assert.ok(bytes !== undefined && bytes >= low && bytes <= high, String(bytes));
  within(sizes['rerank-10']?.answer.length, 400, 700);
  within(sizes['embed-1']?.answer.length, 18_000, 20_000);
  within(sizes['embed-100']?.answer.length, 1_800_000, 2_000_000);
  within(sizes['embed-tokens']?.request.length, 60_000, 70_000);
  within(sizes['rerank-100']?.request.length, 100_000, 110_000);
  within(sizes['chat-1']?.request.length, 1_000, 1_200);
  within(sizes['upload-10mb']?.request.length, 10_000_000, 10_001_000);
  within(sizes.escapes?.request.length, 60_000, 80_000);
});
