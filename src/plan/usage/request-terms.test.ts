import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { operationRows } from '../../core/operations/index.ts';
import { createUsageObserver } from './usage.ts';

const usage = { prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 };

async function tierIn(operation: 'chat' | 'responses' | 'messages' | 'embeddings', type: string, text: string) {
  const observer = createUsageObserver(type, undefined, undefined, operationRows[operation]);
  // In pieces, as networks deliver it.
  for (let at = 0; at < text.length; at += 7) observer.push(Buffer.from(text.slice(at, at + 7)));
  return (await observer.finish())?.units?.serviceTier;
}

const json = 'application/json';
const events = 'text/event-stream';
const long = 'x'.repeat(40_000);

test('reads the service tier beside the usage, before or after it, and not from generated text', async () => {
  const choices = [{ message: { content: '"service_tier":"priority"', extra: { service_tier: 'priority' } } }];
  const behind = JSON.stringify({ choices, usage, service_tier: 'flex', system_fingerprint: null });
  assert.equal(await tierIn('chat', json, behind), 'flex');
  assert.equal(await tierIn('chat', json, JSON.stringify({ choices, service_tier: 'flex', usage })), 'flex');
  assert.equal(await tierIn('chat', json, JSON.stringify({ service_tier: 'flex', choices: [long], usage })), 'flex');
  assert.equal(await tierIn('chat', json, JSON.stringify({ choices, usage })), undefined);
  assert.equal(await tierIn('chat', json, JSON.stringify({ choices, usage, service_tier: null })), undefined);
  assert.equal(await tierIn('embeddings', json, behind), undefined);
});

test("reads the service tier from a stream's last event, and in the Responses API from its response object", async () => {
  const chunk = (more: object) => `data: ${JSON.stringify({ object: 'chunk', ...more })}\n\n`;
  const chunks = `${chunk({ service_tier: 'auto', choices: [] })}${chunk({ usage, choices: [], service_tier: 'priority' })}data: [DONE]\n\n`;
  assert.equal(await tierIn('chat', events, chunks), 'priority');
  const counted = { input_tokens: 5, output_tokens: 3 };
  const ends = {
    type: 'response.completed',
    response: { output: [], service_tier: 'flex', tools: [], usage: counted },
  };
  const begins = { type: 'response.created', response: { service_tier: 'auto', usage: null } };
  const stream = [begins, ends].map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join('');
  assert.equal(await tierIn('responses', events, stream), 'flex');
});

test("reads Anthropic's service tier from the usage", async () => {
  const counted = { input_tokens: 5, output_tokens: 3, service_tier: 'batch', inference_geo: 'us' };
  assert.equal(await tierIn('messages', json, JSON.stringify({ content: [], usage: counted })), 'batch');
  const start = { type: 'message_start', message: { usage: { ...counted, output_tokens: 1 } } };
  const delta = { type: 'message_delta', usage: { output_tokens: 3 } };
  const stream = [start, delta].map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join('');
  assert.equal(await tierIn('messages', events, stream), 'batch');
});
