/** Holds an error answer back until it is known not to repeat the upstream's credential. */

import { GatewayError } from '../core/errors.ts';
import type { Answer, AnswerSink, Failure } from '../core/outcome.ts';
import { headerValue } from '../lib/raw-headers.ts';
import { codingsOf, decode } from './decoding.ts';

/** Error bodies are short. What is longer is watched as it passes, and cut where the credential begins. */
export const heldBytes = 256 * 1024;
const decodedLimitBytes = 8 * 1024 * 1024;

const leak: Failure = {
  code: 'upstream_protocol_error',
  message: 'The upstream answered with an error that repeats a credential; it is withheld. Tell the operator.',
  cause: 'the error answer contains the credential of the upstream',
};

const tooLong: Failure = {
  code: 'upstream_protocol_error',
  message: 'The upstream answered with a compressed error that is too long to be looked through; it is withheld.',
  cause: 'the error answer is compressed and too long to be looked through for the credential of the upstream',
};

/** The answer, safe to pass on; throws where it repeats one of the secrets. */
export async function screen(answer: Answer, secrets: readonly Buffer[]): Promise<Answer> {
  if (secrets.length === 0) return answer;
  if (holdsSecret(toBytes([answer.statusText, ...answer.headers]), secrets)) throw refuse(answer, leak);

  const screened = new ScreenedAnswer(answer, secrets);
  let plain = await screened.held;
  if (repeatsSecret(plain, secrets)) throw refuse(answer, leak);
  if (holdsSecret(toBytes(screened.trailers), secrets)) throw refuse(answer, leak);
  for (const coding of codingsOf(headerValue(answer.headers, 'content-encoding'))) {
    const decoded = await decode(plain, coding, decodedLimitBytes);
    if (decoded === undefined) break;
    // Unlike a plain body, an encoded one cannot be watched as it passes.
    if (decoded === 'too-long' || !screened.isOver) throw refuse(answer, tooLong);
    if (repeatsSecret(decoded, secrets)) throw refuse(answer, leak);
    plain = decoded;
  }
  return screened;
}

function refuse(answer: Answer, { code, message, cause }: Failure): GatewayError {
  answer.cancel();
  return new GatewayError(code, { message, cause });
}

function toBytes(fields: readonly string[]): Buffer {
  return Buffer.from(fields.join('\n'), 'latin1');
}

function holdsSecret(bytes: Buffer, secrets: readonly Buffer[]): boolean {
  return secrets.some((secret) => bytes.includes(secret));
}

/** Some serialisers escape more than they must: `+` as `\u002b`, `/` as `%2F`. Whoever reads the answer undoes it. */
export function repeatsSecret(body: Buffer, secrets: readonly Buffer[]): boolean {
  if (holdsSecret(body, secrets)) return true;
  return (body.includes('\\') || body.includes('%')) && holdsSecret(unescaped(body), secrets);
}

function unescaped(bytes: Buffer): Buffer {
  const plain = bytes
    .toString('latin1')
    .replace(/(?:\\u00|%)([0-9a-fA-F]{2})/g, (_escape, digits: string) =>
      String.fromCharCode(Number.parseInt(digits, 16)),
    );
  return Buffer.from(plain.replaceAll('\\/', '/'), 'latin1');
}

/** How many bytes at the end may be the beginning of a secret. */
function beginningBytes(bytes: Buffer, secrets: readonly Buffer[]): number {
  let longest = 0;
  for (const secret of secrets) {
    for (let length = Math.min(secret.length - 1, bytes.length); length > longest; length -= 1) {
      if (secret.compare(bytes, bytes.length - length, bytes.length, 0, length) === 0) longest = length;
    }
  }
  return longest;
}

class ScreenedAnswer implements Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly string[];
  readonly sentAtMs: number;
  readonly firstByteAtMs: number;
  waiting: readonly Buffer[] = [];
  ended = false;
  trailers: readonly string[] = [];
  /** Settles once the whole body is here, or as much of it as is held back. */
  readonly held: Promise<Buffer>;

  readonly #answer: Answer;
  readonly #secrets: readonly Buffer[];
  #sink: AnswerSink | undefined = undefined;
  /** What may be the beginning of a secret: it passes once it is known to be none. */
  #kept: Buffer = Buffer.alloc(0);
  #failure: Failure | undefined = undefined;

  constructor(answer: Answer, secrets: readonly Buffer[]) {
    this.status = answer.status;
    this.statusText = answer.statusText;
    this.headers = answer.headers;
    this.sentAtMs = answer.sentAtMs;
    this.firstByteAtMs = answer.firstByteAtMs;
    this.#answer = answer;
    this.#secrets = secrets;
    this.held = new Promise((resolve) => this.#hold(resolve));
  }

  get broken(): Failure | undefined {
    return this.#failure;
  }

  /** Nothing more will come: it has ended, or broken off. */
  get isOver(): boolean {
    return this.ended || this.#failure !== undefined;
  }

  take(sink: AnswerSink): void {
    this.#sink = sink;
    const open = this.waiting.map((chunk) => sink.onChunk(chunk)).every(Boolean);
    this.waiting = [];
    if (this.ended) this.#end(sink);
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
      this.waiting = this.#keepBeginning(held);
      resolve(held);
    };
    this.#answer.take({
      onChunk: (chunk) => {
        if (this.#sink !== undefined) return this.#pass(chunk, this.#sink);
        chunks.push(chunk);
        bytes += chunk.length;
        if (bytes < heldBytes) return true;
        release();
        return false;
      },
      onEnd: (trailers) => {
        this.ended = true;
        this.trailers = trailers;
        if (this.#sink === undefined) release();
        else if (holdsSecret(toBytes(trailers), this.#secrets)) this.#sink.onBroken(leak);
        else this.#end(this.#sink);
      },
      onBroken: (failure) => {
        this.#failure = failure;
        if (this.#sink === undefined) release();
        else this.#sink.onBroken(failure);
      },
    });
  }

  #pass(chunk: Buffer, sink: AnswerSink): boolean {
    const bytes = Buffer.concat([this.#kept, chunk]);
    if (holdsSecret(bytes, this.#secrets)) {
      this.#answer.cancel();
      sink.onBroken(leak);
      return false;
    }
    return this.#keepBeginning(bytes).every((passing) => sink.onChunk(passing));
  }

  #end(sink: AnswerSink): void {
    if (this.#kept.length > 0) sink.onChunk(this.#kept);
    sink.onEnd(this.trailers);
  }

  /** Keeps what may be the beginning of a secret, and gives what comes before it. */
  #keepBeginning(bytes: Buffer): Buffer[] {
    const passingBytes = bytes.length - beginningBytes(bytes, this.#secrets);
    this.#kept = bytes.subarray(passingBytes);
    return passingBytes === 0 ? [] : [bytes.subarray(0, passingBytes)];
  }
}
