/** Sends single client requests and keeps each response, for promises where every one counts. */

import { Agent, request as ask, type IncomingMessage } from 'node:http';
import { measures } from '../../../../src/core/caps.ts';
import { isMapping } from '../../../../src/lib/is-mapping.ts';
import { patientMs } from '../../../support/time/patience.ts';

export interface Question {
  readonly port: number;
  readonly key: string;
  readonly path: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface Answer {
  /** The exchange's; empty where nothing was answered. */
  readonly id: string;
  /** 0 where no whole answer came. */
  readonly status: number;
  /** Of the gateway's own error. */
  readonly code: string | undefined;
  readonly message: string;
  readonly retryAfterMs: number | undefined;
  /** `x-ratelimit-limit-*`, of the first measure that has one: a node that counts alone shows its share. */
  readonly limit: number | undefined;
  /** On the clock of `performance`. */
  readonly sentAtMs: number;
  readonly tookMs: number;
}

const answerTimeoutMs = patientMs(5_000);

export class Caller {
  readonly #agent: Agent;

  constructor(scope: { after(end: () => void): unknown }) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY, maxFreeSockets: 2_000 });
    scope.after(() => this.#agent.destroy());
  }

  ask({ port, key, path, body, headers: more }: Question): Promise<Answer> {
    const sentAtMs = performance.now();
    const length = Buffer.byteLength(body);
    const headers = { 'x-api-key': key, 'content-type': 'application/json', 'content-length': length, ...more };
    return new Promise((resolve) => {
      const fail = (error: Error): void => {
        const tookMs = performance.now() - sentAtMs;
        resolve({ ...nothing, message: error.message, sentAtMs, tookMs });
      };
      const sent = ask({ agent: this.#agent, host: '127.0.0.1', port, path, method: 'POST', headers }, (response) => {
        const pieces: Buffer[] = [];
        response.on('data', (bytes: Buffer) => pieces.push(bytes));
        response.on('error', fail);
        response.on('end', () =>
          resolve(toAnswer(response, Buffer.concat(pieces).toString(), sentAtMs, performance.now())),
        );
      });
      sent.setTimeout(answerTimeoutMs, () => sent.destroy(new Error(`no answer within ${answerTimeoutMs} ms`)));
      sent.on('error', fail);
      sent.end(body);
    });
  }

  /** All of them at the same time. */
  askAll(questions: readonly Question[]): Promise<Answer[]> {
    return Promise.all(questions.map((question) => this.ask(question)));
  }
}

const isThere = (value: unknown): boolean => value !== undefined;
const nothing = { id: '', status: 0, code: undefined, retryAfterMs: undefined, limit: undefined } as const;

function toAnswer({ headers, statusCode = 0 }: IncomingMessage, text: string, sentAtMs: number, nowMs: number): Answer {
  const { code, message } = statusCode < 400 ? { code: undefined, message: '' } : parseError(text);
  return {
    id: String(headers['x-request-id']),
    status: statusCode,
    code,
    message,
    retryAfterMs: toNumber(headers['retry-after'], 1_000),
    limit: toNumber(measures.map((measure) => headers[`x-ratelimit-limit-${measure}`]).find(isThere), 1),
    sentAtMs,
    tookMs: nowMs - sentAtMs,
  };
}

function toNumber(text: string | readonly string[] | undefined, factor: number): number | undefined {
  return text === undefined ? undefined : Number(text) * factor;
}

function parseError(text: string): { code: string | undefined; message: string } {
  const value: unknown = JSON.parse(text);
  const error = isMapping(value) && isMapping(value.error) ? value.error : {};
  const code = typeof error.code === 'string' ? error.code : undefined;
  return { code, message: typeof error.message === 'string' ? error.message : text };
}

/** Such as `500 internal_error: ...`, for unexpected answers. */
export function inWords({ status, code, message }: Answer): string {
  return `${status === 0 ? 'no answer' : status} ${code ?? ''}: ${message}`;
}
