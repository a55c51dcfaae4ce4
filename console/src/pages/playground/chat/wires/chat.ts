/** Speaks the chat completions API: messages with roles, and stream events in `choices[0].delta`. */

import { read, readList } from '../../call.ts';
import {
  addToCall,
  nothingSaid,
  onlySet,
  type Said,
  type Settings,
  type Tool,
  type Turn,
  textOr,
  type Wire,
} from '../talk.ts';

export const chatWire: Wire = {
  toBody: (turns, settings) => ({
    messages: [
      ...(settings.system === '' ? [] : [{ role: 'system', content: settings.system }]),
      ...turns.flatMap(toMessages),
    ],
    ...toFields(settings),
    ...settings.further,
  }),
  add(before, event) {
    const fault = read(read(event, 'error'), 'message');
    if (typeof fault === 'string') return { ...before, fault };
    const [choice] = readList(event, 'choices');
    return withReason(addPart(before, read(choice, 'delta')), choice);
  },
  readWhole(json) {
    const [choice] = readList(json, 'choices');
    return withReason(addPart(nothingSaid, read(choice, 'message')), choice);
  },
};

function toMessages(turn: Turn): unknown[] {
  switch (turn.kind) {
    case 'asked': {
      const pictures = turn.pictures.map(({ url }) => ({ type: 'image_url', image_url: { url } }));
      if (pictures.length === 0) return [{ role: 'user', content: turn.text }];
      const text = turn.text === '' ? [] : [{ type: 'text', text: turn.text }];
      return [{ role: 'user', content: [...text, ...pictures] }];
    }
    case 'said': {
      const { text, calls } = turn.said;
      const toolCalls = calls.map(({ id, name, input }) => ({
        id,
        type: 'function',
        function: { name, arguments: input },
      }));
      if (toolCalls.length === 0) return [{ role: 'assistant', content: text }];
      return [{ role: 'assistant', content: text === '' ? null : text, tool_calls: toolCalls }];
    }
    case 'tools':
      return turn.answers.map(({ id, output }) => ({ role: 'tool', tool_call_id: id, content: output }));
  }
}

const toFields = ({ tools, toolChoice, maxTokens, temperature, topP, stop, stream }: Settings) =>
  onlySet({
    tools: tools.length === 0 ? undefined : tools.map(toTool),
    tool_choice: tools.length === 0 || toolChoice === '' ? undefined : toolChoice,
    max_tokens: maxTokens,
    temperature,
    top_p: topP,
    stop: stop === '' ? undefined : stop,
    ...(stream ? { stream, stream_options: { include_usage: true } } : {}),
  });

const toTool = (tool: Tool): unknown =>
  'hosted' in tool ? tool.hosted : { type: 'function', function: onlySet({ ...tool.function }) };

/** Adds a piece of a stream, or a whole message: both have the same fields. */
function addPart(before: Said, part: unknown): Said {
  let { calls } = before;
  for (const [order, call] of readList(part, 'tool_calls').entries()) {
    const place = read(call, 'index');
    const made = read(call, 'function');
    calls = addToCall(calls, typeof place === 'number' ? place : order, {
      id: read(call, 'id'),
      name: read(made, 'name'),
      input: read(made, 'arguments'),
    });
  }
  const thought = textOr(read(part, 'reasoning_content'), textOr(read(part, 'reasoning'), ''));
  const text = textOr(read(part, 'content'), '') + textOr(read(part, 'refusal'), '');
  return { ...before, text: before.text + text, thinking: before.thinking + thought, calls };
}

function withReason(said: Said, choice: unknown): Said {
  const reason = read(choice, 'finish_reason');
  return typeof reason === 'string' ? { ...said, reason } : said;
}
