/** Connects to Redis with a deadline for each command: after a miss Redis counts as unreachable, and the connection is retried. */

import { performance } from 'node:perf_hooks';
import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../core/log.ts';
import { reasonOf } from '../lib/thrown.ts';
import { ReadingTime, within } from './reading-time.ts';
import { adjustScript, beatScript, reserveScript, type Script, slotsScript } from './redis-scripts.ts';

/** Deadline of a command: a limit must be decided within 50 ms. */
export const decisionDeadlineMs = 30;
/** After this many late answers in a row, Redis counts as unreachable; each is to a question sent after the previous lateness was known. */
const lateInARow = 3;
/** Without a timely answer for longer than this, the connection is closed. */
const silenceMs = 1_000;
const connectTimeoutMs = 1_000;
const beatEveryMs = 2_000;
const retryAfterMs = 250;
const probeEveryMs = 50;
const mostOnTheWay = 20_000;
/** Number of heartbeats for which other nodes are remembered, so that the first node to return does not consider itself alone. */
const beatsRemembered = 5;
/** Limit of different reasons that are logged while Redis is unreachable: a lasting one may be another than the first. */
const mostReasons = 5;

interface LinkNews {
  readonly redisNowMs: number;
  /** The ID of the counts in Redis: it changes where earlier counts are lost, in whole or in part. */
  readonly dataSet: string;
  readonly isNewNode: boolean;
  readonly isNewData: boolean;
}

export interface LinkDeps {
  readonly url: string;
  /** Name of the node, unique to this start of this process. */
  readonly node: string;
  readonly keys: { readonly nodes: string; readonly dataSet: string };
  readonly log: Log;
  readonly random: () => number;
  /** Deadline of a command; 30 ms by default. */
  readonly deadlineMs?: number | undefined;
  readonly otherwiseKnown: () => number;
  /** Called when Redis becomes reachable, before any other question is sent. */
  onUp(news: LinkNews): void;
  onBeat(redisNowMs: number): void;
}

interface Client {
  connect(): Promise<unknown>;
  sendCommand(command: string[]): Promise<unknown>;
  destroy(): void;
  on(event: 'error', listener: (error: unknown) => void): unknown;
}

interface Beat {
  readonly nowMs: number;
  readonly nodes: number;
  readonly dataSet: string;
  readonly isLate: boolean;
}

export class RedisLink {
  readonly deadlineMs: number;
  readonly #deps: LinkDeps;
  #client: Client | undefined = undefined;
  #state: 'away' | 'late' | 'up' | 'closed' = 'away';
  #start = 0;
  /** The latest name that Redis may count requests of this process under: the next one retires it. */
  #countedAs = '';
  #onTheWay = 0;
  #dataSet: string | undefined = undefined;
  /** How many nodes each of the latest heartbeats counted; empty before the first. */
  #nodes: number[] = [];
  #lateInARow = 0;
  #lateKnownAtMs = Number.NEGATIVE_INFINITY;
  readonly #reported = new Set<string>();
  readonly #timer: NodeJS.Timeout;

  constructor(deps: LinkDeps) {
    this.#deps = deps;
    this.deadlineMs = deps.deadlineMs ?? decisionDeadlineMs;
    this.#timer = setInterval(() => this.#beatOrLose(), beatEveryMs).unref();
  }

  get isUp(): boolean {
    return this.#state === 'up';
  }

  /** This process's name in Redis; a new one after each lost connection. */
  get node(): string {
    return `${this.#deps.node}:${this.#start}`;
  }

  /** Number of known nodes, this one included. Until Redis reports it, more than one is assumed. */
  get nodes(): number {
    const heardOf = this.#nodes.length === 0 ? [2] : this.#nodes;
    return Math.max(...heardOf, this.#deps.otherwiseKnown());
  }

  /** Opens the connection; resolves after the first attempt, successful or not. */
  open(): Promise<void> {
    return this.#connect();
  }

  /** Runs a script. Commands of one event-loop turn are written together. */
  run(script: Script, keys: readonly string[], args: readonly string[]): Promise<unknown> {
    if (this.#client === undefined) return Promise.reject(new Error('there is no connection'));
    if (this.#onTheWay >= mostOnTheWay) return Promise.reject(new Error('too much is on its way'));
    return this.#run(this.#client, script, keys, args);
  }

  answered(): void {
    this.#lateInARow = 0;
  }

  /** Notes that answers to questions sent at this time are overdue. After several in a row nothing is asked until answers are in time again. */
  late(leftAtMs: number): void {
    if (this.#state !== 'up' || this.#client === undefined || leftAtMs < this.#lateKnownAtMs) return;
    this.#lateKnownAtMs = performance.now();
    this.#lateInARow += 1;
    if (this.#lateInARow < lateInARow) return;
    this.#state = 'late';
    this.#report(new Error(`${lateInARow} answers in a row took longer than ${this.deadlineMs} ms`));
    void this.#probe(this.#client);
  }

  lose(error: unknown): void {
    if (this.#client !== undefined) this.#lose(this.#client, error);
  }

  async close(): Promise<void> {
    const client = this.#client;
    const wasUp = this.isUp;
    this.#state = 'closed';
    this.#client = undefined;
    clearInterval(this.#timer);
    if (client === undefined) return;
    try {
      // Settlements that are still pending are sent before this on the same connection.
      if (wasUp) await within(client.sendCommand(['ZREM', this.#deps.keys.nodes, this.node]), silenceMs);
    } catch (error) {
      this.#deps.log.info('node not deregistered from redis', { reason: reasonOf(error) });
    } finally {
      client.destroy();
    }
  }

  async #connect(): Promise<void> {
    let client: Client | undefined;
    try {
      client = await this.#create();
      // Longer than the client's own timeout, so that the client gives up first.
      await within(client.connect(), 1.5 * connectTimeoutMs);
      for (const { text } of [reserveScript, adjustScript, slotsScript, beatScript]) {
        await within(client.sendCommand(['SCRIPT', 'LOAD', text]), connectTimeoutMs);
      }
      if (this.node === this.#countedAs) this.#start += 1;
      await within(this.#beat(client, this.#countedAs), connectTimeoutMs);
      const beat = await within(this.#beat(client), connectTimeoutMs);
      this.#remember(beat);
      if (beat.isLate) throw new Error(`it took longer than ${this.deadlineMs} ms to answer`);
      if (this.#state === 'closed') client.destroy();
      else this.#goUp(client, beat, true);
    } catch (error) {
      client?.destroy();
      this.#report(error);
      this.#tryLater();
    }
  }

  async #create(): Promise<Client> {
    // The client is loaded only where Redis is configured.
    const { createClient } = await import('@redis/client');
    const client: Client = createClient({
      url: this.#deps.url,
      RESP: 2,
      disableOfflineQueue: true,
      disableClientInfo: true,
      // Otherwise the client makes an AbortSignal for each command; deadlines are handled here.
      commandOptions: { timeout: 0 },
      commandsQueueMaxLength: 2 * mostOnTheWay,
      socket: { connectTimeout: connectTimeoutMs, reconnectStrategy: false },
    });
    client.on('error', (error) => this.#lose(client, error));
    return client;
  }

  #tryLater(): void {
    if (this.#state === 'closed') return;
    setTimeout(
      () => {
        if (this.#state === 'away') void this.#connect();
      },
      retryAfterMs * (1 + this.#deps.random()),
    ).unref();
  }

  async #run(client: Client, { text, digest }: Script, keys: readonly string[], args: readonly string[]) {
    this.#onTheWay += 1;
    try {
      return await client.sendCommand(['EVALSHA', digest, String(keys.length), ...keys, ...args]);
    } catch (error) {
      // The scripts were flushed; this loads them again.
      if (!(error instanceof Error) || !error.message.startsWith('NOSCRIPT')) throw error;
      return await client.sendCommand(['EVAL', text, String(keys.length), ...keys, ...args]);
    } finally {
      this.#onTheWay -= 1;
    }
  }

  async #beat(client: Client, former = ''): Promise<Beat> {
    const { keys, random } = this.#deps;
    let isLate = false;
    const newName = random().toString(36).slice(2, 12);
    const answer = this.#run(client, beatScript, [keys.nodes, keys.dataSet], [this.node, former, newName]);
    const time = new ReadingTime(this.deadlineMs, () => {
      isLate = true;
    });
    const reply = await answer.finally(() => time.cancel());
    if (!Array.isArray(reply)) throw new TypeError('an answer that is no list');
    const [nowMs, nodes, dataSet] = reply;
    return { nowMs: Number(nowMs), nodes: Number(nodes), dataSet: String(dataSet), isLate };
  }

  #goUp(client: Client, beat: Beat, isNewNode: boolean): void {
    const isNewData = this.#dataSet !== undefined && this.#dataSet !== beat.dataSet;
    this.#client = client;
    this.#countedAs = this.node;
    this.#state = 'up';
    this.#lateInARow = 0;
    this.#lateKnownAtMs = performance.now();
    this.#dataSet = beat.dataSet;
    this.#remember(beat);
    this.#reportBack();
    this.#deps.onUp({ redisNowMs: beat.nowMs, dataSet: beat.dataSet, isNewNode, isNewData });
  }

  async #beatOrLose(): Promise<void> {
    const client = this.#client;
    if (client === undefined || !this.isUp) return;
    try {
      const beat = await within(this.#beat(client), silenceMs);
      if (client !== this.#client || !this.isUp) return;
      if (beat.dataSet !== this.#dataSet) throw new Error('its data was deleted');
      this.#remember(beat);
      this.#deps.onBeat(beat.nowMs);
    } catch (error) {
      this.#lose(client, error);
    }
  }

  #remember({ nodes }: Beat): void {
    this.#nodes.push(Math.max(1, nodes));
    if (this.#nodes.length > beatsRemembered) this.#nodes.shift();
  }

  /** Sends probes until an answer is prompt, or has been missing for too long. */
  async #probe(client: Client): Promise<void> {
    const giveUpMs = performance.now() + silenceMs;
    try {
      for (;;) {
        const beat = await within(this.#beat(client), Math.max(1, giveUpMs - performance.now()));
        if (client !== this.#client || this.#state !== 'late') return;
        if (beat.dataSet !== this.#dataSet) throw new Error('its data was deleted');
        if (!beat.isLate) {
          this.#goUp(client, beat, false);
          return;
        }
        await wait(probeEveryMs);
      }
    } catch (error) {
      this.#lose(client, error);
    }
  }

  #lose(client: Client, error: unknown): void {
    if (client !== this.#client || this.#state === 'closed') return;
    this.#client = undefined;
    this.#state = 'away';
    this.#report(error);
    // Rejects all pending commands, which are then decided locally.
    client.destroy();
    this.#tryLater();
  }

  #reportBack(): void {
    if (this.#reported.size === 0) return;
    this.#reported.clear();
    this.#deps.log.info('redis reachable again for limits', { nodes: this.nodes });
  }

  #report(error: unknown): void {
    // Messages of Redis name the script and its line, which differ although the cause is the same.
    const reason = reasonOf(error).replace(/ script: .*$/, '');
    if (this.#reported.has(reason) || this.#reported.size === mostReasons || this.#state === 'closed') return;
    this.#reported.add(reason);
    this.#deps.log.warn('redis unreachable for limits', { reason, nodes: this.nodes });
  }
}
