/** Holds an error answer back until it is known not to repeat the upstream's credential. */

import { brotliDecompress, gunzip, inflate, zstdDecompress } from 'node:zlib';
import { GatewayError } from '../core/errors.ts';
import type { Answer, AnswerSink, Failure } from '../core/outcome.ts';
import { headerValue } from './headers.ts';

/** Error bodies are short. What is longer is watched as it passes, and cut where the credential begins. */
const heldBytes = 256 * 1024;
const decodedLimitBytes = 8 * 1024 * 1024;

const leak: Failure = {
  code: 'upstream_protocol_error',
  message: 'The upstream answered with an error that repeats a credential; it is withheld. Tell the operator.',
  cause: 'the error answer contains the credential of the upstream',
};

/** The answer, safe to pass on; throws where it repeats one of the secrets. */
export async function screen(answer: Answer, secrets: readonly Buffer[]): Promise<Answer> {
  if (secrets.length === 0) return answer;
  const head = Buffer.from(answer.headers.join('\n'), 'latin1');
  if (holdsSecret(head, secrets)) throw refuse(answer);

  const screened = new ScreenedAnswer(answer, secrets);
  const held = await screened.held;
  if (holdsSecret(held, secrets)) throw refuse(answer);
  const coding = headerValue(answer.headers, 'content-encoding')?.trim().toLowerCase() ?? 'identity';
  if (coding !== 'identity' && holdsSecret(await decoded(held, coding), secrets)) throw refuse(answer);
  return screened;
}

function refuse(answer: Answer): GatewayError {
  answer.cancel();
  return new GatewayError(leak.code, { message: leak.message, cause: leak.cause });
}

function holdsSecret(bytes: Buffer, secrets: readonly Buffer[]): boolean {
  return secrets.some((secret) => bytes.includes(secret));
}

type Decoder = (
  encoded: Buffer,
  options: { maxOutputLength: number },
  callback: (error: Error | null, plain: Buffer) => void,
) => void;

const decoders = new Map<string, Decoder>([
  ['gzip', gunzip],
  ['x-gzip', gunzip],
  ['deflate', inflate],
  ['br', brotliDecompress],
  ['zstd', zstdDecompress],
]);

/** What an encoded body says; nothing where it cannot be read, by us or by the client. */
function decoded(encoded: Buffer, coding: string): Promise<Buffer> {
  const decode = decoders.get(coding);
  if (decode === undefined) return Promise.resolve(Buffer.alloc(0));
  return new Promise((resolve) => {
    decode(encoded, { maxOutputLength: decodedLimitBytes }, (error: Error | null, plain: Buffer) => {
      resolve(error === null ? plain : Buffer.alloc(0));
    });
  });
}

class ScreenedAnswer implements Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly string[];
  readonly sentAtMs: number;
  readonly firstByteAtMs: number;
  waiting: readonly Buffer[] = [];
  ended = false;
  /** Settles once the whole body is here, or as much of it as is held back. */
  readonly held: Promise<Buffer>;

  readonly #answer: Answer;
  readonly #secrets: readonly Buffer[];
  readonly #overlapBytes: number;
  #sink: AnswerSink | undefined = undefined;
  #last: Buffer = Buffer.alloc(0);
  #trailers: readonly string[] = [];
  #failure: Failure | undefined = undefined;

  constructor(answer: Answer, secrets: readonly Buffer[]) {
    this.status = answer.status;
    this.statusText = answer.statusText;
    this.headers = answer.headers;
    this.sentAtMs = answer.sentAtMs;
    this.firstByteAtMs = answer.firstByteAtMs;
    this.#answer = answer;
    this.#secrets = secrets;
    this.#overlapBytes = Math.max(...secrets.map((secret) => secret.length)) - 1;
    this.held = new Promise((resolve) => this.#hold(resolve));
  }

  take(sink: AnswerSink): void {
    this.#sink = sink;
    const open = this.waiting.map((chunk) => sink.onChunk(chunk)).every(Boolean);
    this.waiting = [];
    if (this.ended) sink.onEnd(this.#trailers);
    else if (this.#failure !== undefined) sink.onBroken(this.#failure);
    else if (open) this.#answer.resume();
  }

  resume(): void {
    this.#answer.resume();
  }

  cancel(): void {
    this.#answer.cancel();
  }

  #hold(resolve: (held: Buffer) => void): void {
    const chunks: Buffer[] = [];
    let bytes = 0;
    const release = (): void => {
      const held = Buffer.concat(chunks);
      this.waiting = held.length === 0 ? [] : [held];
      resolve(held);
    };
    this.#answer.take({
      onChunk: (chunk) => {
        if (this.#sink !== undefined) return this.#pass(chunk, this.#sink);
        chunks.push(chunk);
        bytes += chunk.length;
        this.#last = chunk;
        if (bytes < heldBytes) return true;
        release();
        return false;
      },
      onEnd: (trailers) => {
        if (this.#sink !== undefined) {
          this.#sink.onEnd(trailers);
          return;
        }
        this.ended = true;
        this.#trailers = trailers;
        release();
      },
      onBroken: (failure) => {
        if (this.#sink !== undefined) {
          this.#sink.onBroken(failure);
          return;
        }
        this.#failure = failure;
        release();
      },
    });
  }

  #pass(chunk: Buffer, sink: AnswerSink): boolean {
    const seam = Buffer.concat([this.#last.subarray(-this.#overlapBytes), chunk]);
    if (holdsSecret(seam, this.#secrets)) {
      this.#answer.cancel();
      sink.onBroken(leak);
      return false;
    }
    this.#last = seam;
    return sink.onChunk(chunk);
  }
}
