/** Speaks the responses API: items in both directions; nothing is stored upstream, so that each turn sends all items. */

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

export const responsesWire: Wire = {
  toBody: (turns, settings) => ({
    ...(settings.system === '' ? {} : { instructions: settings.system }),
    input: turns.flatMap(toItems),
    store: false,
    ...toFields(settings),
    ...settings.further,
  }),
  add(before, event) {
    const [type, delta] = [read(event, 'type'), textOr(read(event, 'delta'), '')];
    const place = Number(read(event, 'output_index') ?? 0);
    switch (type) {
      case 'response.output_text.delta':
      case 'response.refusal.delta':
        return { ...before, text: before.text + delta };
      case 'response.reasoning_summary_text.delta':
      case 'response.reasoning_text.delta':
        return { ...before, thinking: before.thinking + delta };
      case 'response.output_item.added':
        return { ...before, calls: addCall(before.calls, place, read(event, 'item')) };
      case 'response.function_call_arguments.delta':
        return { ...before, calls: addToCall(before.calls, place, { input: delta }) };
      case 'response.completed':
      case 'response.incomplete':
      case 'response.failed':
        return withEnd(before, read(event, 'response'));
      case 'error':
        return { ...before, fault: textOr(read(event, 'message'), 'The upstream told of an error.') };
      default:
        return before;
    }
  },
  readWhole(json) {
    let said = nothingSaid;
    for (const [place, item] of readList(json, 'output').entries()) {
      const texts = readList(item, 'content').map(
        (part) => textOr(read(part, 'text'), '') + textOr(read(part, 'refusal'), ''),
      );
      const thoughts = readList(item, 'summary').map((part) => textOr(read(part, 'text'), ''));
      const isThought = read(item, 'type') === 'reasoning';
      said = {
        ...said,
        text: said.text + (isThought ? '' : texts.join('')),
        thinking: said.thinking + thoughts.join('\n') + (isThought ? texts.join('') : ''),
        calls: addCall(said.calls, place, item),
      };
    }
    return withEnd(said, json);
  },
};

function toItems(turn: Turn): unknown[] {
  switch (turn.kind) {
    case 'asked': {
      const text = turn.text === '' ? [] : [{ type: 'input_text', text: turn.text }];
      const pictures = turn.pictures.map(({ url }) => ({ type: 'input_image', image_url: url }));
      return [{ role: 'user', content: [...text, ...pictures] }];
    }
    case 'said': {
      const { text, calls } = turn.said;
      const message = { role: 'assistant', content: [{ type: 'output_text', text }] };
      const made = calls.map(({ id, name, input }) => ({ type: 'function_call', call_id: id, name, arguments: input }));
      return [...(text === '' ? [] : [message]), ...made];
    }
    case 'tools':
      return turn.answers.map(({ id, output }) => ({ type: 'function_call_output', call_id: id, output }));
  }
}

const toFields = ({ tools, toolChoice, maxTokens, temperature, topP, stream }: Settings) =>
  onlySet({
    tools: tools.length === 0 ? undefined : tools.map(toTool),
    tool_choice: tools.length === 0 || toolChoice === '' ? undefined : toolChoice,
    max_output_tokens: maxTokens,
    temperature,
    top_p: topP,
    stream: stream ? true : undefined,
  });

const toTool = (tool: Tool): unknown =>
  'hosted' in tool ? tool.hosted : { type: 'function', ...onlySet({ ...tool.function }), strict: false };

function addCall(calls: Said['calls'], place: number, item: unknown): Said['calls'] {
  if (read(item, 'type') !== 'function_call') return calls;
  return addToCall(calls, place, {
    id: read(item, 'call_id'),
    name: read(item, 'name'),
    input: read(item, 'arguments'),
  });
}

function withEnd(said: Said, response: unknown): Said {
  const why = read(read(response, 'incomplete_details'), 'reason') ?? read(response, 'status');
  const fault = read(read(response, 'error'), 'message');
  return {
    ...said,
    reason: typeof why === 'string' ? why : said.reason,
    fault: typeof fault === 'string' ? fault : said.fault,
  };
}
