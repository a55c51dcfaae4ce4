import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { operationRows } from '../../core/operations/index.ts';
import { createUsageObserver } from './usage.ts';

const usage = { input_tokens: 5, output_tokens: 3 };

async function callsIn(operation: 'responses' | 'generate' | 'messages', isStream: boolean, text: string, cut = false) {
  const type = isStream ? 'text/event-stream' : 'application/json';
  const observer = createUsageObserver(type, undefined, undefined, operationRows[operation], true);
  for (let at = 0; at < text.length; at += 11) observer.push(Buffer.from(text.slice(at, at + 11)));
  return (await observer.finish(cut))?.units?.toolCalls;
}

const items = [
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'a' } },
  { type: 'web_search_call', id: 'ws_2', status: 'completed', action: { type: 'open_page', url: 'u' } },
  { type: 'file_search_call', id: 'fs_1', queries: ['a'], status: 'completed' },
  { type: 'code_interpreter_call', id: 'ci_1', container_id: 'cntr_1' },
  { type: 'code_interpreter_call', id: 'ci_2', container_id: 'cntr_1' },
  { type: 'function_call', name: 'web_search_call', arguments: '{}' },
  { type: 'message', content: [{ type: 'output_text', text: '{"type":"web_search_call"}' }] },
];
const counted = { web_search: 1, file_search: 1, code_interpreter: 1 };

test('counts searches but no opened pages, and code interpreter calls once per container', async () => {
  assert.deepEqual(
    await callsIn('responses', false, JSON.stringify({ object: 'response', output: items, usage })),
    counted,
  );
  assert.deepEqual(await callsIn('responses', false, JSON.stringify({ output: [], usage })), {});
});

const event = (one: { readonly type: string }) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`;

test('counts each tool call of a stream once, when it begins', async () => {
  const passing = items.map((item) => {
    const { id, type } = item as { id?: string; type: string };
    return (
      event({ type: 'response.output_item.added', item: { id, type } } as never) +
      event({ type: 'response.output_item.done', item } as never)
    );
  });
  const end = event({ type: 'response.completed', response: { output: items, usage } } as never);
  assert.deepEqual(await callsIn('responses', true, passing.join('') + end), counted);
  const begun = event({ type: 'response.output_item.added', item: items[0] } as never);
  assert.deepEqual(await callsIn('responses', true, begun, true), { web_search: 1 });
  assert.deepEqual(await callsIn('responses', true, '', true), {});
});

test('counts Google answers grounded in search or maps, and their distinct search queries', async () => {
  const grounded = (...queries: string[]) => ({
    candidates: [
      { content: {}, groundingMetadata: { webSearchQueries: queries, groundingChunks: [{ web: { uri: 'u' } }] } },
    ],
  });
  const counts = { usageMetadata: { promptTokenCount: 5, candidatesTokenCount: 2 } };
  assert.deepEqual(await callsIn('generate', false, JSON.stringify({ ...grounded('a', 'b'), ...counts })), {
    google_search: 1,
    google_search_query: 2,
  });
  const chunks = [grounded('a'), { ...grounded('a', 'b'), ...counts }].map(
    (one) => `data: ${JSON.stringify(one)}\r\n\r\n`,
  );
  assert.deepEqual(await callsIn('generate', true, chunks.join('')), { google_search: 1, google_search_query: 2 });
  const maps = { candidates: [{ groundingMetadata: { groundingChunks: [{ maps: { uri: 'u' } }] } }], ...counts };
  assert.deepEqual(await callsIn('generate', false, JSON.stringify(maps)), { google_maps: 1 });
});

test("reads Anthropic's tool calls from the usage, by kind", async () => {
  const server = { server_tool_use: { web_search_requests: 2, web_fetch_requests: 0 } };
  assert.deepEqual(await callsIn('messages', false, JSON.stringify({ content: [], usage: { ...usage, ...server } })), {
    web_search: 2,
  });
});
