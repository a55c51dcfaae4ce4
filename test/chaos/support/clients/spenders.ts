/** Clients that call all routes in sequence, and keep every complete response. */

import { randomUUID } from 'node:crypto';
import { Agent, request as ask, type IncomingMessage } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';

export interface SpendersOptions {
  readonly keys: readonly string[];
  readonly random: () => number;
  /** At once. */
  readonly count: number;
  /** This share of the clients that receive a stream leave in the middle of it. */
  readonly leavingShare?: number;
  /** Behind the name of each model: for models whose IDs are patterns. */
  readonly modelSuffix?: string;
  /** Between an answer and the next request of one client. */
  readonly restMs?: number;
}

/** An answer that came whole. */
export interface Answer {
  /** `x-request-id`. */
  readonly id: string;
  readonly status: number;
  /** Of an error of the gateway. */
  readonly code?: string | undefined;
  /** Of the gateway that gave it. */
  readonly port: number;
}

interface Question {
  readonly path: string;
  readonly body: string;
  readonly isStream: boolean;
}

const refusedRestMs = 20;
const silenceMs = 30_000;

export class Spenders {
  readonly answers: Answer[] = [];
  /** Requests that were sent, and those whose client left. */
  asked = 0;
  left = 0;
  /** No whole answer came. */
  broken = 0;
  /** Of these, neither an answer nor an end of the connection: nothing at all for half a minute. */
  late = 0;
  readonly #options: SpendersOptions;
  /** Theirs alone. */
  readonly #name = `ask-${randomUUID()}`;
  #run: { readonly agent: Agent; readonly ended: Promise<unknown>; isOver: boolean } | undefined = undefined;

  constructor(options: SpendersOptions) {
    this.#options = options;
  }

  /** They continue until stopped. `portOf` is called before each request: a restarted gateway has another port. */
  start(portOf: () => number): void {
    const agent = new Agent({ keepAlive: true, maxSockets: this.#options.count });
    const run = { agent, ended: Promise.resolve<unknown>(undefined), isOver: false };
    const clients = Array.from({ length: this.#options.count }, async () => {
      while (!run.isOver) {
        await this.#askOnce(agent, portOf());
        if (this.#options.restMs !== undefined && !run.isOver) await wait(this.#options.restMs);
      }
    });
    run.ended = Promise.all(clients);
    this.#run = run;
  }

  /** Nothing more is sent; resolves when all have their answers, or have lost their connections. */
  async end(): Promise<void> {
    const run = this.#run;
    if (run === undefined) return;
    this.#run = undefined;
    run.isOver = true;
    await run.ended;
    run.agent.destroy();
  }

  async #askOnce(agent: Agent, port: number): Promise<void> {
    const { keys, random, leavingShare = 0, modelSuffix = '' } = this.#options;
    const { path, body, isStream } = makeQuestion(random, modelSuffix);
    const key = keys[Math.floor(random() * keys.length)] ?? '';
    const leaves = isStream && random() < leavingShare;
    this.asked += 1;
    // Its own ID, once in all: two rows with it would be one request that was counted twice.
    const headers = {
      'x-api-key': key,
      'content-type': 'application/json',
      'x-request-id': `${this.#name}-${this.asked}`,
    };
    const answer = await new Promise<Answer | 'broken' | 'left'>((resolve) => {
      const sent = ask({ agent, host: '127.0.0.1', port, path, method: 'POST', headers }, (response) => {
        let text = '';
        response.on('data', (bytes: Buffer) => {
          text += bytes.toString('latin1');
          if (!leaves) return;
          sent.destroy();
          resolve('left');
        });
        response.on('error', () => resolve('broken'));
        response.on('end', () =>
          resolve(isWhole(response, text, isStream) ? toAnswer(response, text, port) : 'broken'),
        );
        response.on('close', () => resolve('broken'));
      });
      sent.on('error', () => resolve('broken'));
      sent.setTimeout(silenceMs, () => {
        this.late += 1;
        sent.destroy(new Error('nothing came'));
      });
      sent.end(body);
    });
    if (answer === 'left') this.left += 1;
    else if (answer === 'broken') {
      this.broken += 1;
      await wait(refusedRestMs);
    } else this.answers.push(answer);
  }
}

function toAnswer({ headers, statusCode = 0 }: IncomingMessage, text: string, port: number): Answer {
  const code = statusCode < 400 ? undefined : /"code": ?"([a-z_]+)"/.exec(text)?.[1];
  return { id: String(headers['x-request-id']), status: statusCode, code, port };
}

function isWhole({ complete, statusCode }: IncomingMessage, text: string, isStream: boolean): boolean {
  return complete && (!isStream || statusCode !== 200 || text.includes('[DONE]'));
}

function makeQuestion(random: () => number, suffix: string): Question {
  const text = 'a few words of a text '.repeat(2 + Math.floor(random() * 4));
  const drawn = random();
  const ask = (path: string, model: string, body: object): Question =>
    toQuestion(path, { model: model + suffix, ...body });
  if (drawn < 0.4) return ask('/v1/embeddings', 'embed', { input: text });
  if (drawn < 0.6) return ask('/v1/rerank', 'rank', { query: 'words', documents: [text, 'others'] });
  if (drawn < 0.75) return ask('/v1/moderations', 'check', { input: text });
  return ask('/v1/completions', 'complete', { prompt: text, max_tokens: 16, stream: true });
}

function toQuestion(path: string, body: Readonly<Record<string, unknown>>): Question {
  return { path, body: JSON.stringify(body), isStream: body.stream === true };
}
