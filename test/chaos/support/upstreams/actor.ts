/** An upstream that can be healthy, slow or rate-limited; it can be killed and restarted, and keeps its history. */

import { type FakeUpstream, type Handler, startFakeUpstream } from '../../../support/upstreams/fake-upstream.ts';

export const slowdown = 10;
export const retryAfterSeconds = 2;
const answerMs = 4;

type Mood = 'well' | 'slow' | 'limiting';

export class Actor {
  readonly name: string;
  readonly port: number;
  mood: Mood = 'well';
  /** When it answered well, on the monotonic clock. */
  readonly servedAtMs: number[] = [];
  /** Every call that came. */
  dispatches = 0;
  readonly #random: () => number;
  #upstream: FakeUpstream | undefined;

  constructor(name: string, random: () => number, upstream: FakeUpstream) {
    this.name = name;
    this.port = upstream.port;
    this.#random = random;
    this.#upstream = upstream;
    upstream.respondWith(this.#handler);
  }

  static async start(name: string, random: () => number): Promise<Actor> {
    return new Actor(name, random, await startFakeUpstream());
  }

  /** Breaks what is open; the port refuses from then on. */
  async kill(): Promise<void> {
    const upstream = this.#upstream;
    this.#upstream = undefined;
    await upstream?.close();
  }

  async revive(): Promise<void> {
    this.#upstream ??= await startFakeUpstream(this.#handler, { port: this.port });
  }

  readonly #handler: Handler = async (_request, reply) => {
    this.dispatches += 1;
    if (this.mood === 'limiting') {
      return reply.json(429, { error: { message: 'slow down' } }, [['retry-after', String(retryAfterSeconds)]]);
    }
    await reply.sleep(answerMs * (0.5 + this.#random()) * (this.mood === 'slow' ? slowdown : 1));
    this.servedAtMs.push(performance.now());
    return reply.json(200, { object: 'list', data: [{}], model: 'm', usage: { prompt_tokens: 3, total_tokens: 3 } });
  };
}
