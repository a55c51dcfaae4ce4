/** Chat services for what a family serves over a bridge. */

import * as z from 'zod';
import { chatOf, messages } from '../families/chat-shapes.ts';
import type { FamilyFixture, WireCall, WireReply } from '../families/fixture.ts';
import { isViolent } from '../families/wire.ts';

const chatBody = z.looseObject({
  model: z.string(),
  messages,
  n: z.int().min(1).optional(),
  stream: z.boolean().optional(),
  stream_options: z.object({ include_usage: z.boolean().optional() }).optional(),
  max_tokens: z.int().optional(),
  max_completion_tokens: z.int().optional(),
});

/** By bridge: what the model behind the chat is. */
const models: Readonly<Record<string, (body: unknown) => WireReply>> = {
  chat(body) {
    const asked = chatBody.parse(body);
    const countsApart = asked.stream_options?.include_usage;
    return chatOf(asked.messages.at(-1)?.content ?? '', asked, { countsApart });
  },
  guard(body) {
    const { model, messages: said } = chatBody.parse(body);
    const content = said.some((message) => isViolent(message.content)) ? 'unsafe\nS1' : 'safe';
    const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }];
    return { body: { id: 'chatcmpl-x1', object: 'chat.completion', created: 1_790_000_000, model, choices } };
  },
};

/** A service of the family that speaks chat: the fixture's own where it does, else one as OpenAI describes it. */
export function overBridge(fixture: FamilyFixture, bridge: string): FamilyFixture {
  const { [bridge]: answer } = models;
  if (answer === undefined) throw new Error(`test/matrix/bridges.ts has no model for the bridge ${bridge}`);
  let isOwn: boolean | undefined;
  return {
    ...fixture,
    models: {},
    service(call) {
      const [path = ''] = call.path.split('?');
      if (!path.endsWith('/chat/completions')) return { status: 404, body: '' };
      isOwn ??= bridge === 'chat' && speaksChat(fixture, call);
      return isOwn ? fixture.service(call) : answer(call.body);
    },
  };
}

function speaksChat({ service, model }: FamilyFixture, call: WireCall): boolean {
  const body = { model, messages: [{ role: 'user', content: 'x' }] };
  try {
    const { status = 200 } = service({ ...call, text: JSON.stringify(body), body });
    return status === 200;
  } catch {
    return false;
  }
}
