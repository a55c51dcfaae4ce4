/** Speaks Anthropic's messages API: content blocks in both directions; answers are sent back as the received blocks. */

import { read, readList } from '../../call.ts';
import {
  type Asked,
  nothingSaid,
  onlySet,
  type Said,
  type Settings,
  type Tool,
  type Turn,
  textOr,
  type Wire,
} from '../talk.ts';

/** Limit of the answer if none is set, as the route requires one. */
const standardMaxTokens = 1_024;
const mostBlocks = 256;

/** A block and its input, which is text until it is complete. */
interface Block {
  readonly block: Readonly<Record<string, unknown>>;
  readonly input: string;
}

export const messagesWire: Wire = {
  toBody: (turns, settings) => ({
    max_tokens: settings.maxTokens ?? standardMaxTokens,
    ...(settings.system === '' ? {} : { system: settings.system }),
    messages: turns.map(toMessage),
    ...toFields(settings),
    ...settings.further,
  }),
  add(before, event) {
    switch (read(event, 'type')) {
      case 'content_block_start':
        return putBlock(before, read(event, 'index'), toBlock(read(event, 'content_block')));
      case 'content_block_delta':
        return putBlock(before, read(event, 'index'), undefined, read(event, 'delta'));
      case 'message_delta':
        return withReason(before, read(event, 'delta'));
      case 'error':
        return { ...before, fault: textOr(read(read(event, 'error'), 'message'), 'The upstream told of an error.') };
      default:
        return before;
    }
  },
  readWhole: (json) => withReason(toSaid(nothingSaid, readList(json, 'content').map(toBlock)), json),
};

function toMessage(turn: Turn): unknown {
  switch (turn.kind) {
    case 'asked':
      return { role: 'user', content: toContent(turn) };
    case 'said':
      return { role: 'assistant', content: toBlocks(turn.said) };
    case 'tools':
      return {
        role: 'user',
        content: turn.answers.map(({ id, output }) => ({ type: 'tool_result', tool_use_id: id, content: output })),
      };
  }
}

function toContent({ text, pictures }: Asked): unknown {
  if (pictures.length === 0) return text;
  const blocks = pictures.map(({ url }) => {
    const [, mediaType = '', data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(url) ?? [];
    return { type: 'image', source: { type: 'base64', media_type: mediaType, data } };
  });
  return text === '' ? blocks : [...blocks, { type: 'text', text }];
}

/** The blocks of an answer; one that another API gave has none, and gets new ones. */
function toBlocks({ text, calls, blocks }: Said): unknown[] {
  if (blocks.length > 0) return blocks.filter(isBlock).map(toWhole);
  const made = calls.map(({ id, name, input }) => ({ type: 'tool_use', id, name, input: toInput(input) }));
  return [...(text === '' ? [] : [{ type: 'text', text }]), ...made];
}

const toFields = ({ tools, toolChoice, temperature, topP, stop, stream }: Settings) =>
  onlySet({
    tools: tools.length === 0 ? undefined : tools.map(toTool),
    tool_choice:
      tools.length === 0 || toolChoice === '' ? undefined : { type: toolChoice === 'required' ? 'any' : toolChoice },
    temperature,
    top_p: topP,
    stop_sequences: stop === '' ? undefined : [stop],
    stream: stream ? true : undefined,
  });

function toTool(tool: Tool): unknown {
  if ('hosted' in tool) return tool.hosted;
  const { name, description, parameters } = tool.function;
  return onlySet({ name, description, input_schema: parameters ?? { type: 'object', properties: {} } });
}

function toBlock(value: unknown): Block {
  const block = typeof value === 'object' && value !== null ? { ...value } : {};
  const input = read(block, 'input');
  const isFilled = typeof input === 'object' && input !== null && Object.keys(input).length > 0;
  return { block, input: isFilled ? JSON.stringify(input) : '' };
}

const isBlock = (value: unknown): value is Block =>
  typeof value === 'object' && value !== null && 'block' in value && 'input' in value;

const toWhole = ({ block, input }: Block): unknown =>
  block.type === 'tool_use' ? { ...block, input: toInput(input) } : block;

function toInput(text: string): unknown {
  try {
    return JSON.parse(text === '' ? '{}' : text);
  } catch {
    return {}; // the model broke it; the wire takes objects alone
  }
}

function putBlock(before: Said, index: unknown, begun: Block | undefined, delta?: unknown): Said {
  if (typeof index !== 'number' || index < 0 || index >= mostBlocks) return before;
  const blocks = before.blocks.filter(isBlock);
  while (blocks.length <= index) blocks.push({ block: {}, input: '' });
  blocks[index] = addDelta(begun ?? blocks[index] ?? { block: {}, input: '' }, delta);
  return toSaid(before, blocks);
}

function addDelta({ block, input }: Block, delta: unknown): Block {
  const more = (name: string): string => textOr(block[name], '') + textOr(read(delta, name), '');
  switch (read(delta, 'type')) {
    case 'text_delta':
      return { block: { ...block, text: more('text') }, input };
    case 'thinking_delta':
      return { block: { ...block, thinking: more('thinking') }, input };
    case 'signature_delta':
      return { block: { ...block, signature: more('signature') }, input };
    case 'input_json_delta':
      return { block, input: input + textOr(read(delta, 'partial_json'), '') };
    default:
      return { block, input };
  }
}

function toSaid(before: Said, blocks: readonly Block[]): Said {
  const textsOf = (type: string, name: string): string =>
    blocks.map(({ block }) => (block.type === type ? textOr(block[name], '') : '')).join('');
  const calls = blocks.flatMap(({ block, input }, place) =>
    block.type === 'tool_use' ? [{ place, id: textOr(block.id, ''), name: textOr(block.name, ''), input }] : [],
  );
  return { ...before, blocks, calls, text: textsOf('text', 'text'), thinking: textsOf('thinking', 'thinking') };
}

function withReason(said: Said, end: unknown): Said {
  const reason = read(end, 'stop_reason');
  return typeof reason === 'string' ? { ...said, reason } : said;
}
