/** A fake batch service, with files per account, that records its usage. */

import type { Handler, UpstreamRequest } from './fake-upstream.ts';

interface KeptFile {
  readonly id: string;
  readonly account: string;
  readonly purpose: string;
  readonly content: Buffer;
}

type Status = 'validating' | 'in_progress' | 'completed' | 'failed' | 'expired' | 'cancelling' | 'cancelled';

interface KeptBatch {
  readonly id: string;
  readonly account: string;
  readonly asked: Readonly<Record<string, unknown>>;
  status: Status;
  output: string | null;
  errors: string | null;
  counts: { total: number; completed: number; failed: number };
}

/** What one line was answered; undefined where it was not done. */
export interface LineAnswer {
  readonly status?: number;
  readonly body: object;
}

export interface BatchLine {
  readonly custom_id: string;
  readonly url: string;
  readonly body: Readonly<Record<string, unknown>>;
}

export interface BatchService {
  readonly handler: Handler;
  readonly files: ReadonlyMap<string, KeptFile>;
  readonly batches: ReadonlyMap<string, KeptBatch>;
  /** The lines of the file of a batch, as they came. */
  linesOf(id: string): BatchLine[];
  /** Ends all that run: each line is answered, or not done. */
  finish(answer?: (line: BatchLine, no: number) => LineAnswer | undefined, status?: Status): void;
}

const isRunning = ({ status }: KeptBatch): boolean => ['validating', 'in_progress', 'cancelling'].includes(status);

export const chatAnswer = (line: BatchLine): LineAnswer => ({
  body: {
    id: `chatcmpl-${line.custom_id}`,
    object: 'chat.completion',
    model: line.body.model,
    choices: [{ index: 0, message: { role: 'assistant', content: 'four' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 10, completion_tokens: 3, total_tokens: 13, prompt_tokens_details: { cached_tokens: 4 } },
  },
});

export function createBatchService(prefix = ''): BatchService {
  const files = new Map<string, KeptFile>();
  const batches = new Map<string, KeptBatch>();
  let made = 0;

  function keep(account: string, purpose: string, content: Buffer): KeptFile {
    made += 1;
    const file = { id: `file-${prefix}${made}`, account, purpose, content };
    files.set(file.id, file);
    return file;
  }

  const describeFile = ({ id, purpose, content }: KeptFile): object => ({
    id,
    object: 'file',
    bytes: content.length,
    created_at: 1,
    filename: 'lines.jsonl',
    purpose,
    status: 'processed',
  });

  const describeBatch = ({ id, asked, status, output, errors, counts }: KeptBatch): object => ({
    id,
    object: 'batch',
    endpoint: asked.endpoint,
    input_file_id: asked.input_file_id,
    completion_window: asked.completion_window,
    status,
    output_file_id: output,
    error_file_id: errors,
    request_counts: counts,
    metadata: asked.metadata ?? null,
    created_at: 1,
  });

  function linesOf(id: string): BatchLine[] {
    const content = files.get(String(batches.get(id)?.asked.input_file_id))?.content.toString() ?? '';
    return content
      .split('\n')
      .filter((line) => line.trim() !== '')
      .map((line): BatchLine => JSON.parse(line));
  }

  function finish(
    answer: (line: BatchLine, no: number) => LineAnswer | undefined = chatAnswer,
    status: Status = 'completed',
  ) {
    for (const batch of batches.values()) {
      if (!isRunning(batch)) continue;
      const output: string[] = [];
      const errors: string[] = [];
      linesOf(batch.id).forEach((line, no) => {
        const answered = answer(line, no);
        const code = answered?.status ?? 200;
        const response =
          answered === undefined ? null : { status_code: code, request_id: `req_${no}`, body: answered.body };
        const error = answered === undefined ? { code: 'batch_expired', message: 'It was not done in time.' } : null;
        const text = JSON.stringify({ id: `batch_req_${no}`, custom_id: line.custom_id, response, error });
        (answered === undefined || code >= 300 ? errors : output).push(text);
      });
      batch.counts = { total: output.length + errors.length, completed: output.length, failed: errors.length };
      const write = (lines: readonly string[]): string | null =>
        lines.length === 0
          ? null
          : keep(batch.account, 'batch_output', Buffer.from(lines.map((one) => `${one}\n`).join(''))).id;
      batch.output = write(output);
      batch.errors = write(errors);
      batch.status = status;
    }
  }

  const handler: Handler = (request, reply) => {
    const account = request.header('authorization') ?? request.header('api-key') ?? '';
    const [path = ''] = request.path.split('?');
    const [kind, id, tail] = path.slice(path.search(/\/(?:files|batches)/) + 1).split('/');
    const missing = () =>
      reply.json(404, { error: { message: `There is no such ${kind}.`, type: 'invalid_request_error' } });
    if (kind === 'files') {
      if (id === undefined) return reply.json(200, describeFile(keep(account, ...formIn(request))));
      const file = files.get(id);
      if (file?.account !== account) return missing();
      if (request.method === 'DELETE') {
        files.delete(id);
        return reply.json(200, { id, object: 'file', deleted: true });
      }
      if (tail !== 'content') return reply.json(200, describeFile(file));
      return reply.bytes(200, [['content-type', 'application/jsonl']], file.content);
    }
    if (id === undefined) {
      const asked = JSON.parse(request.body.toString());
      if (files.get(asked.input_file_id)?.account !== account) return missing();
      made += 1;
      const counts = { total: 0, completed: 0, failed: 0 };
      const batch: KeptBatch = {
        id: `batch_${prefix}${made}`,
        account,
        asked,
        status: 'validating',
        output: null,
        errors: null,
        counts,
      };
      batches.set(batch.id, batch);
      return reply.json(200, describeBatch(batch));
    }
    const batch = batches.get(id);
    if (batch?.account !== account) return missing();
    if (tail === 'cancel' && isRunning(batch)) batch.status = 'cancelling';
    return reply.json(200, describeBatch(batch));
  };

  return { handler, files, batches, linesOf, finish };
}

/** Of a form with a file and a purpose, in either order. */
function formIn(request: UpstreamRequest): [purpose: string, content: Buffer] {
  const { body } = request;
  const boundary = /boundary="?([^";]+)/.exec(request.header('content-type') ?? '')?.[1] ?? '';
  const text = body.toString('latin1');
  const purpose = /name="purpose"\r\n\r\n([\w-]+)/.exec(text)?.[1] ?? '';
  const head = text.search(/name="file"; ?filename=/);
  const start = text.indexOf('\r\n\r\n', head) + 4;
  return [purpose, body.subarray(start, body.indexOf(`\r\n--${boundary}`, start))];
}
