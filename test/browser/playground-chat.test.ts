import assert from 'node:assert/strict';
import type { TestContext } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { openConsole, testInBrowser } from '../support/console/browser.ts';
import { choose, shoot, tabOf } from '../support/console/playground.ts';
import { type Handler, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';

const chatEvents = (text: string): readonly unknown[] => [
  ...text.split(/(?<= )/).map((piece) => ({ choices: [{ index: 0, delta: { content: piece } }] })),
  { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  { choices: [], usage: { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 } },
  'data: [DONE]\n\n',
];

const toolEvents: readonly unknown[] = [
  { choices: [{ delta: { tool_calls: [{ index: 0, id: 'c1', function: { name: 'get_weather', arguments: '' } }] } }] },
  { choices: [{ delta: { tool_calls: [{ index: 0, function: { arguments: '{"city":"Lisbon"}' } }] } }] },
  { choices: [{ index: 0, delta: {}, finish_reason: 'tool_calls' }] },
  'data: [DONE]\n\n',
];

const messageEvents = (text: string): readonly unknown[] => [
  { type: 'message_start', message: { usage: { input_tokens: 5, output_tokens: 1 } } },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 7 } },
  { type: 'message_stop' },
];

const responseEvents = (text: string): readonly unknown[] => [
  { type: 'response.output_text.delta', output_index: 0, delta: text },
  {
    type: 'response.completed',
    response: { status: 'completed', usage: { input_tokens: 1, output_tokens: 2, total_tokens: 3 } },
  },
];

async function openChat(t: TestContext, handler: Handler) {
  const upstream = await startFakeUpstream(handler);
  t.after(() => upstream.close());
  const target = (id: string) => ({ targets: [{ upstream: id }] });
  const config = {
    upstreams: [
      { id: 'open', family: 'openai', base_url: upstream.url, api_key: 'sk-open-upstream-key' },
      { id: 'claude', family: 'anthropic', base_url: upstream.url, api_key: 'sk-claude-upstream-key' },
    ],
    models: [
      {
        id: 'talker',
        operations: ['chat', 'responses'],
        price: { input: 1, output: 2 },
        ...target('open'),
      },
      { id: 'other-talker', operations: ['messages'], ...target('claude') },
      { id: 'embedder', operations: ['embeddings'], ...target('open') },
    ],
  };
  const postern = await openConsole(t, { config });
  const visitor = await postern.signIn('editor');
  await visitor.open(tabOf('chat'));
  await choose(visitor.page, 'Model', 'talker');
  return { upstream, visitor, page: visitor.page };
}

const question = (page: Page): Locator => page.getByRole('textbox', { name: 'Question', exact: true });
const threadOf = (page: Page, model: string): Locator => page.getByRole('region', { name: `Talk with ${model}` });
const bodyOf = (request: { readonly body: Buffer } | undefined): ReturnType<typeof JSON.parse> =>
  JSON.parse(request?.body.toString() ?? '{}');

async function ask(page: Page, text: string): Promise<void> {
  await question(page).fill(text);
  await question(page).press('Enter');
}

const pixel = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);

testInBrowser(
  'a chat answer is shown as it streams, with tokens, cost and time to first token, and the next turn follows',
  async (t) => {
    const isSeen = Promise.withResolvers<void>();
    const { upstream, visitor, page } = await openChat(t, async (request, reply) => {
      if (upstream.requests.length > 1) return reply.sse(chatEvents('And you are welcome.'));
      assert.equal(request.path, '/chat/completions');
      await reply.head(200, [
        ['content-type', 'text/event-stream'],
        ['transfer-encoding', 'chunked'],
      ]);
      await reply.chunk('data: {"choices":[{"index":0,"delta":{"content":"A small "}}]}\n\n');
      await isSeen.promise;
      for (const event of chatEvents('gate.')) {
        await reply.chunk(typeof event === 'string' ? event : `data: ${JSON.stringify(event)}\n\n`);
      }
      return reply.lastChunk();
    });
    await page.getByRole('textbox', { name: 'System prompt' }).fill('Be brief.');
    await page
      .getByLabel('Add pictures')
      .or(page.locator('input[type=file]'))
      .first()
      .setInputFiles([
        { name: 'gate.png', mimeType: 'image/png', buffer: pixel },
        { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('no picture') },
      ]);
    await page.getByRole('img', { name: 'gate.png' }).waitFor();
    await page.getByText('notes.txt: PNG, JPEG').waitFor();
    await ask(page, 'What is a postern?');
    const thread = threadOf(page, 'talker');
    const said = thread.getByTestId('said');
    await said.filter({ hasText: /^A small\s*$/ }).waitFor();
    isSeen.resolve();
    await thread.getByText('ended by itself').waitFor();
    assert.equal(await said.textContent(), 'A small gate.');
    await thread.getByText('First word after', { exact: false }).waitFor();
    await thread.getByText('46 tokens: 12 in, 34 out').waitFor();
    await thread.getByText('$0.00008', { exact: false }).waitFor();
    assert.deepEqual(bodyOf(upstream.requests[0]).messages, [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'What is a postern?' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${pixel.toString('base64')}` } },
        ],
      },
    ]);
    await visitor.checkAccessibility();

    await ask(page, 'Thank you.');
    await said.filter({ hasText: 'welcome' }).waitFor();
    assert.deepEqual(bodyOf(upstream.requests[1]).messages.slice(2), [
      { role: 'assistant', content: 'A small gate.' },
      { role: 'user', content: 'Thank you.' },
    ]);
    await shoot(visitor, page, 'playground-chat');

    await thread.getByRole('button', { name: 'Ask differently' }).last().click();
    assert.equal(await question(page).inputValue(), 'Thank you.');
    assert.equal(await said.count(), 1);
    await page.getByRole('button', { name: 'Begin anew' }).click();
    assert.equal(await said.count(), 0);
  },
);

testInBrowser('a tool call in a chat is shown, its result can be typed, and the model answers it', async (t) => {
  const { upstream, visitor, page } = await openChat(t, (_request, reply) =>
    reply.sse(upstream.requests.length === 1 ? toolEvents : chatEvents('A light coat.')),
  );
  await page.getByRole('button', { name: 'Give it a tool' }).click();
  await page.getByRole('button', { name: 'Send', exact: true }).click();
  const thread = threadOf(page, 'talker');
  const call = thread.getByRole('region', { name: 'Call of get_weather' });
  await call.getByText('"city": "Lisbon"').waitFor();
  await question(page).fill('And tomorrow?');
  assert.equal(await page.getByRole('button', { name: 'Send', exact: true }).isDisabled(), true);
  await thread.getByRole('textbox', { name: 'What get_weather answers' }).fill('{"degrees": 14}');
  await visitor.checkAccessibility();
  await shoot(visitor, page, 'playground-chat-tools');
  await thread.getByRole('button', { name: 'Send the answer' }).click();
  await thread.getByText('A light coat.').first().waitFor();
  const [asked, answered] = upstream.requests.map(bodyOf);
  assert.equal(asked.tools[0].function.name, 'get_weather');
  assert.deepEqual(answered.messages.slice(1), [
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'c1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Lisbon"}' } }],
    },
    { role: 'tool', tool_call_id: 'c1', content: '{"degrees": 14}' },
  ]);
});

testInBrowser(
  'two models answer the same question side by side, one over /responses and one over /v1/messages',
  async (t) => {
    const { upstream, visitor, page } = await openChat(t, (request, reply) =>
      reply.sse(request.path === '/responses' ? responseEvents('By items.') : messageEvents('By blocks.')),
    );
    await choose(page, 'API', 'Responses');
    await choose(page, 'Compare with', 'other-talker');
    await ask(page, 'How do you answer?');
    await threadOf(page, 'talker').getByText('By items.').first().waitFor();
    await threadOf(page, 'other-talker').getByText('By blocks.').first().waitFor();
    const paths = upstream.requests.map(({ path }) => path).sort();
    assert.deepEqual(paths, ['/responses', '/v1/messages']);
    await threadOf(page, 'other-talker').getByText('12 tokens', { exact: false }).waitFor();
    await visitor.checkAccessibility();
    await shoot(visitor, page, 'playground-chat-two');

    await page.getByRole('combobox', { name: 'Model', exact: true }).click();
    await page.getByRole('option', { name: 'other-talker', exact: true }).waitFor();
    assert.equal(await page.getByRole('option', { name: 'embedder', exact: true }).count(), 0);
  },
);

testInBrowser(
  'a streaming chat answer is cancelled by Stop or by leaving the page, and a refused question can be retried',
  async (t) => {
    let turn = 0;
    const left = [Promise.withResolvers<void>(), Promise.withResolvers<void>()] as const;
    const { visitor, page } = await openChat(t, async (_request, reply) => {
      turn += 1;
      if (turn === 1) return reply.json(400, { error: { message: 'Not like this.', code: 'bad_thing' } });
      await reply.head(200, [
        ['content-type', 'text/event-stream'],
        ['transfer-encoding', 'chunked'],
      ]);
      await reply.chunk('data: {"choices":[{"index":0,"delta":{"content":"On and on"}}]}\n\n');
      await reply.clientClosed;
      left[turn - 2]?.resolve();
    });
    visitor.allow(/status of 400|net::ERR/);
    await ask(page, 'Will you?');
    const thread = threadOf(page, 'talker');
    await thread.getByText('Not like this.').waitFor();
    await thread.getByRole('button', { name: 'Try again' }).click();
    await thread.getByTestId('said').filter({ hasText: 'On and on' }).waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await thread.getByText('Stopped', { exact: true }).waitFor();
    await left[0].promise;

    await ask(page, 'Again?');
    await thread.getByTestId('said').nth(1).filter({ hasText: 'On and on' }).waitFor();
    await page.getByRole('link', { name: 'Models', exact: true }).first().click();
    await left[1].promise;
  },
);

const hostile = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>`;

testInBrowser('HTML in a chat question, answer, reasoning or tool call is shown as text', async (t) => {
  const { visitor, page } = await openChat(t, (_request, reply) =>
    reply.json(200, {
      choices: [
        {
          message: {
            content: hostile,
            reasoning_content: hostile,
            tool_calls: [{ id: hostile, function: { name: hostile, arguments: hostile } }, null, 'x'],
          },
          finish_reason: hostile,
        },
      ],
    }),
  );
  await page.getByRole('switch', { name: /^Show it word by word/ }).click();
  await ask(page, hostile);
  await page.getByTestId('said').getByText('onerror', { exact: false }).waitFor();
  await page.getByText('Thinking', { exact: true }).click();
  assert.equal(await page.evaluate('window.hacked'), undefined);
  assert.equal(await page.locator('main img').count(), 0);
  await visitor.checkAccessibility();
});
