import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { responses } from '../../core/operations/responses.ts';
import { storedIdsIn } from './stored-ids.ts';

const { records } = responses;
assert.ok(records !== undefined);

function idsIn(contentType: string, chunks: readonly Buffer[]): string[] {
  const ids = storedIdsIn(contentType, records ?? assert.fail());
  assert.ok(ids !== undefined);
  return chunks.flatMap((chunk) => ids.push(chunk)).map(({ kind, id }) => `${kind} ${id}`);
}

const whole = JSON.stringify({
  id: 'resp_1',
  instructions: '{"id":"resp_no"}',
  output: [
    { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1', outputs: [{ id: 'no' }] },
    { type: 'shell_call', id: 'sh_1', environment: { type: 'container_reference', container_id: 'cntr_2' } },
    { id: 'msg_1', content: [{ type: 'output_text', text: '"id":"msg_no"' }] },
  ],
  tools: [{ id: 'no' }],
});
const inWhole = ['response resp_1', 'item ci_1', 'container cntr_1', 'item sh_1', 'container cntr_2', 'item msg_1'];

const events = [
  ': a remark with "id":"no"',
  'event: response.created',
  'data: {"type":"response.created","response":{"id":"resp_1","output":[]}}',
  '',
  'event: response.output_item.added',
  'data:{"item":{"id":"msg_1","type":"message"},"id":"no"}',
  '',
  'data: {"item":{"id":"sh_1","environment":{"container_id":"cntr_2"}}}',
  '',
  'data: {"item_id":"msg_1","delta":"\\"id\\":\\"no\\""}',
  '',
  'data: {"response":{"output":[{"id":"msg_1"},{"id":"rs_1"}],"id":"resp_1"}}',
  '',
  'data: [DONE]',
  '',
  '',
];
const inEvents = ['response resp_1', 'item msg_1', 'item sh_1', 'container cntr_2', 'item rs_1'];

test('finds each stored-object ID once, across any chunks', () => {
  const cases = [
    ['application/json; charset=utf-8', whole, inWhole],
    ['text/event-stream', events.join('\n'), inEvents],
    ['text/event-stream', events.join('\r\n'), inEvents],
    ['text/event-stream', events.join('\r'), inEvents],
  ] as const;
  for (const [contentType, text, expected] of cases) {
    const bytes = Buffer.from(text);
    for (let at = 0; at <= bytes.length; at += 1) {
      assert.deepEqual(idsIn(contentType, [bytes.subarray(0, at), bytes.subarray(at)]), expected, `cut at ${at}`);
    }
    assert.deepEqual(
      idsIn(
        contentType,
        [...bytes].map((byte) => Buffer.of(byte)),
      ),
      expected,
    );
  }
});

test('ignores invalid IDs, and drops the last of too many', () => {
  for (const id of ['', 'with space', 'ünlaut', 'x'.repeat(257), 'a\nb']) {
    assert.deepEqual(idsIn('application/json', [Buffer.from(JSON.stringify({ id }))]), [], id);
  }
  const output = Array.from({ length: 3_000 }, (_, no) => ({ id: `msg_${no}` }));
  assert.equal(idsIn('application/json', [Buffer.from(JSON.stringify({ output }))]).length, 2_000);
  assert.equal(storedIdsIn('audio/mpeg', records ?? assert.fail()), undefined);
  assert.equal(storedIdsIn(undefined, records ?? assert.fail()), undefined);
});

test('a chunk of only carriage returns is searched once for a line feed', (t) => {
  const ids = storedIdsIn('text/event-stream', records ?? assert.fail());
  const chunk = Buffer.from(`${'\r'.repeat(10_000)}data: {"response":{"id":"resp_1"}}\r\r`);
  const search = t.mock.method(chunk, 'indexOf');
  assert.deepEqual(ids?.push(chunk), [{ kind: 'response', id: 'resp_1' }]);
  const forLineFeeds = search.mock.calls.filter(({ arguments: [wanted] }) => Number(wanted) === 0x0a);
  assert.equal(forLineFeeds.length, 1);
});
