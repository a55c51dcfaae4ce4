/** A fake OpenAI-like service that stores its responses per account. */

import type { Handler } from './fake-upstream.ts';

interface KeptAnswer {
  readonly id: string;
  readonly account: string;
  status: 'completed' | 'in_progress' | 'cancelled';
  readonly input: unknown;
}

export interface KeepingService {
  readonly handler: Handler;
  /** What it keeps, by ID. */
  readonly kept: ReadonlyMap<string, KeptAnswer>;
  /** Those in the background are done. */
  finish(): void;
}

const usage = {
  input_tokens: 100,
  input_tokens_details: { cached_tokens: 40 },
  output_tokens: 10,
  output_tokens_details: { reasoning_tokens: 4 },
  total_tokens: 110,
};

const toEvent = (type: string, more: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, sequence_number: 1, ...more })}\n\n`;

/** `prefix` distinguishes the IDs of several services. */
export function createKeepingService(prefix = ''): KeepingService {
  const kept = new Map<string, KeptAnswer>();
  let made = 0;

  const outputOf = (id: string): unknown[] => [
    { type: 'reasoning', id: id.replace('resp', 'rs'), summary: [] },
    {
      type: 'message',
      id: id.replace('resp', 'msg'),
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: 'four', annotations: [] }],
    },
  ];

  function answerOf({ id, status }: KeptAnswer): object {
    const isDone = status === 'completed';
    return {
      id,
      object: 'response',
      status,
      model: 'gpt-real',
      output: isDone ? outputOf(id) : [],
      usage: isDone ? usage : null,
    };
  }

  function eventsOf(answer: KeptAnswer): string[] {
    const [reasoning, message] = outputOf(answer.id);
    return [
      toEvent('response.created', { response: { ...answerOf({ ...answer, status: 'in_progress' }) } }),
      toEvent('response.output_item.added', { output_index: 0, item: reasoning }),
      toEvent('response.output_item.added', { output_index: 1, item: message }),
      toEvent('response.output_text.delta', { item_id: answer.id.replace('resp', 'msg'), delta: 'fo\\"ur' }),
      toEvent('response.completed', { response: answerOf(answer) }),
    ];
  }

  const handler: Handler = (request, reply) => {
    const account = (request.header('authorization') ?? request.header('api-key') ?? '').replace('Bearer ', '');
    const [path = ''] = request.path.split('?');
    const segments = path.slice(path.indexOf('/responses') + 1).split('/');
    const [, id, tail] = segments;
    if (id === undefined) {
      const asked = JSON.parse(request.body.toString());
      made += 1;
      const isInBackground = asked.background === true;
      const answer: KeptAnswer = {
        id: `resp_${prefix}${made}`,
        account,
        status: isInBackground ? 'in_progress' : 'completed',
        input: asked.input,
      };
      if (asked.store !== false) kept.set(answer.id, answer);
      if (asked.stream === true)
        return reply.bytes(200, [['content-type', 'text/event-stream']], eventsOf(answer), { chunked: true });
      return reply.json(200, answerOf(answer));
    }
    const answer = kept.get(decodeURIComponent(id));
    if (answer === undefined || answer.account !== account) {
      return reply.json(404, {
        error: { message: `No ${id}.`, type: 'invalid_request_error', param: null, code: null },
      });
    }
    if (tail === 'input_items') {
      return reply.json(200, { object: 'list', data: [{ id: 'msg_in', type: 'message', role: 'user', content: [] }] });
    }
    if (tail === 'cancel') answer.status = 'cancelled';
    if (request.method === 'DELETE') {
      kept.delete(answer.id);
      return reply.json(200, { id: answer.id, object: 'response', deleted: true });
    }
    if (request.path.includes('stream=true'))
      return reply.bytes(200, [['content-type', 'text/event-stream']], eventsOf(answer), { chunked: true });
    return reply.json(200, answerOf(answer));
  };

  return {
    handler,
    kept,
    finish() {
      for (const answer of kept.values()) if (answer.status === 'in_progress') answer.status = 'completed';
    },
  };
}
