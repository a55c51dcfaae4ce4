/** Test cases of chat at any upstream: bytes pass, both ways. */

import assert from 'node:assert/strict';
import * as z from 'zod';
import { chatOf } from '../chat-shapes.ts';
import type { Setup } from '../family-setup.ts';
import type { FamilyFixture } from '../fixture.ts';

const route = '/v1/chat/completions';

/** As far as the pretended service reads it. */
const asked = z.looseObject({
  model: z.string(),
  messages: z.array(z.looseObject({ content: z.unknown() })).min(1),
  n: z.int().min(1).optional(),
  stream: z.boolean().optional(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).nullish(),
});

/** The service, which speaks chat too. */
export function withChat(fixture: FamilyFixture): FamilyFixture {
  const { chat, service } = fixture;
  if (chat === undefined) return fixture;
  return {
    ...fixture,
    service(call) {
      if (call.path.split('?', 1)[0] !== chat) return service(call);
      const { messages, ...rest } = asked.parse(call.body);
      return chatOf(JSON.stringify(messages.at(-1)?.content), rest, {
        countsApart: rest.stream_options?.include_usage,
      });
    },
  };
}

/** With white space, numbers, escapes, fields and roles as no parser would write them. */
const odd = (model: string): string =>
  `{ "messages" : [{"role":"developer","content":"\\u00e9 \\/ 🚀"}, {"role":"user","content":[{"type":"text","text":"x"}]}],\t"temperature":1.0e0,"model": "${model}","tools":[{"type":"function","function":{"name":"f","parameters":{"a":1.50}}}], "unheard_of":[1e2,-0]}\n`;

export const chatCases: Readonly<Record<string, (setup: Setup) => Promise<void>>> = {
  async 'the request passes byte for byte with the model renamed, the answer unchanged, and usage is recorded'(setup) {
    const said =
      '{"id":"c1","object":"chat.completion", "choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[]},"logprob":-0.50}],"usage":{"prompt_tokens":7,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":3}}}\n';
    setup.answerWith(() => ({ body: said }));
    const before = setup.rig.settled.length;
    const { status, text, header } = await setup.ask(route, odd('m'));
    assert.equal(status, 200, text);
    const [call] = setup.calls;
    assert.equal(call?.path.split('?', 1)[0], setup.fixture.chat);
    assert.equal(call?.text, odd(setup.fixture.models?.chat ?? setup.fixture.model));
    assert.equal(text, said);
    assert.equal(header('x-postern-translated'), undefined);
    const { usage } = await setup.rig.exchange(before + 1);
    assert.deepEqual([usage?.promptTokens, usage?.completionTokens, usage?.cachedTokens], [7, 2, 3]);
  },

  async 'a stream passes unchanged, and its usage is recorded'(setup) {
    const before = setup.rig.settled.length;
    const body = {
      model: 'm',
      stream: true,
      stream_options: { include_usage: true },
      messages: [{ role: 'user', content: 'c' }],
    };
    const { status, text, header } = await setup.ask(route, body);
    assert.equal(status, 200, text);
    assert.match(header('content-type') ?? '', /^text\/event-stream/);
    assert.match(text, /^data: \{"object":"chat\.completion\.chunk"/);
    assert.ok(text.endsWith('data: [DONE]\n\n'));
    const { usage } = await setup.rig.exchange(before + 1);
    assert.ok((usage?.promptTokens ?? 0) > 0 && (usage?.completionTokens ?? 0) > 0);
  },

  async 'a request whose messages are no list, or whose model is no string, gets 400 without an upstream call'(setup) {
    for (const [body, param] of [
      [{ model: 'm' }, 'messages'],
      [{ model: 'm', messages: null }, 'messages'],
      [{ model: 'm', messages: 'hello' }, 'messages'],
      [{ model: 7, messages: [] }, 'model'],
    ] as const) {
      setup.answerWith();
      const { status, json } = await setup.ask(route, body);
      assert.equal(status, 400);
      assert.equal(z.object({ error: z.object({ param: z.string() }) }).parse(json).error.param, param);
      assert.equal(setup.calls.length, 0);
    }
  },
};
