/** Runs one client's call on a gateway in front of a fake service, and returns the result. */

import assert from 'node:assert/strict';
import { beforeDeadline } from '../../src/lib/deadline.ts';
import { reasonOf } from '../../src/lib/thrown.ts';
import { isViolent, ranked, vectorOf } from '../families/wire.ts';
import { testKey } from '../support/gateways/rig.ts';
import { patientMs } from '../support/time/patience.ts';
import { type Client, type Gateway, lookUp, type Task, type Tasks } from './client.ts';
import type { Listener } from './listener.ts';

export type Outcome =
  | { readonly kind: 'ok' }
  /** Postern or the service refuses the call. */
  | {
      readonly kind: 'refused';
      readonly status: number;
      readonly code: string | number | null | undefined;
      readonly param: string | null | undefined;
      readonly message: string;
    }
  /** The service's own bytes passed, and the client wants more than they hold. */
  | { readonly kind: 'unread'; readonly fact: string }
  /** The client did not get what the service computed, or nothing that it can read. */
  | { readonly kind: 'wrong'; readonly fact: string };

const streamed: ReadonlySet<Task> = new Set([
  'streams',
  'chatStreams',
  'responseStreams',
  'messageStreams',
  'generateStreams',
]);

/** Where what is asked is at fault; any other error is the gateway's, the service's or the client's. */
const refusals = [400, 413, 422];
/** Enough for a call of any client; none of them repeats a call. */
const mostMs = patientMs(7_500);

// More than a call takes at some services, in every script; no line breaks, as some clients replace them.
const texts = ['one', 'naïve café', '東京タワー 🚀', '"quoted" \\ {"input":["x"]}', 'one'].concat(
  Array.from({ length: 125 }, (_, index) => `text ${index}`),
);
const documents = ['apple', 'Zürich', '東京 🚀', 'with "quotes"', 'a longer text about pears'];
const query = 'a query ö';
const judged = ['a violent text', 'a calm one', 'naïve 🚀'];
const prompt = 'Say "ö 🚀" \\ once.';
const wish = { input: 'Fixd "text" ö', instruction: 'Mend it 🚀' };

/** How each task is asked, and what has to come of it: it follows from `wire.ts`. */
const checks: { readonly [T in Task]: (run: Tasks[T], gateway: Gateway) => Promise<void> } = {
  embeddings: checkVectors,
  engines: checkVectors,
  async rerank(run, gateway) {
    const expected = ranked(query, documents).map(({ index, score }) => ({ index, score }));
    for (const topN of [documents.length, 2]) {
      assert.deepEqual(await run(gateway, { query, documents, topN }), expected.slice(0, topN));
    }
  },
  async moderations(run, gateway) {
    assert.deepEqual(await run(gateway, judged), judged.map(isViolent));
  },
  completions: checkReply,
  streams: checkStream,
  async edits(run, gateway) {
    assertReply(await run(gateway, wish), [wish.input, wish.instruction]);
  },
  chat: checkReply,
  chatStreams: checkStream,
  async tools(run, gateway) {
    assert.deepEqual(await run(gateway, prompt), { name: lookUp.name, text: prompt });
  },
  responses: checkReply,
  responseStreams: checkStream,
  messages: checkReply,
  messageStreams: checkStream,
  generate: checkReply,
  generateStreams: checkStream,
  async images(run, gateway) {
    assert.equal(await run(gateway, prompt), 'AAAA');
  },
  async speech(run, gateway) {
    assert.equal(await run(gateway, prompt), `sound of ${prompt}`);
  },
  async transcriptions(run, gateway) {
    assert.equal(await run(gateway, 'ID3'), 'hello');
  },
};

async function checkReply(run: Tasks['chat'], gateway: Gateway): Promise<void> {
  assertReply(await run(gateway, prompt), [prompt]);
}

async function checkStream(run: Tasks['chatStreams'], gateway: Gateway): Promise<void> {
  let text = '';
  for await (const part of run(gateway, prompt)) text += part;
  assertReply(text, [prompt]);
}

async function checkVectors(run: Tasks['embeddings'], gateway: Gateway): Promise<void> {
  const expected = texts.map((text) => vectorOf(text));
  assert.deepEqual(await run(gateway, texts.slice(0, 1)), expected.slice(0, 1));
  assert.deepEqual(await run(gateway, texts), expected);
}

/** Some clients and bridges put the words into more of them, so there is no one reply. */
function assertReply(text: string, parts: readonly string[]): void {
  assert.match(text, /^<.*>$/s);
  for (const part of parts) assert.ok(text.includes(part), `${JSON.stringify(part)} is not in ${JSON.stringify(text)}`);
}

const gatewayAt = ({ url, secure }: Listener): Gateway => ({ url, secure, key: testKey, model: 'm' });

/** Undefined where the client has no call for it. */
export async function tryWay<T extends Task>(
  client: Client,
  task: T,
  listener: Listener,
): Promise<Outcome | undefined> {
  const way: { readonly run: Tasks[T] } | undefined = client.ways[task];
  if (way === undefined) return undefined;
  const before = listener.heard.length;
  try {
    await inTime(checks[task](way.run, gatewayAt(listener)));
    const heard = listener.heard.slice(before);
    if (heard.length === 0) return { kind: 'wrong', fact: 'it answered without a call' };
    if (streamed.has(task) && !heard.some(({ isStream }) => isStream)) {
      return { kind: 'wrong', fact: 'it streamed an answer that was none' };
    }
    return { kind: 'ok' };
  } catch (error) {
    const heard = listener.heard.slice(before);
    const { [task]: wanted } = client.wants ?? {};
    if (
      wanted !== undefined &&
      heard.length > 0 &&
      heard.every(({ status, isTranslated }) => status === 200 && !isTranslated)
    ) {
      return { kind: 'unread', fact: wanted };
    }
    const refusal = heard.find(({ status }) => status >= 400);
    if (error instanceof assert.AssertionError || refusal === undefined || !refusals.includes(refusal.status)) {
      return { kind: 'wrong', fact: `${refusal?.error?.message ?? ''} ${reasonOf(error)}`.trim() };
    }
    const { message = reasonOf(error), code, param } = refusal.error ?? {};
    return { kind: 'refused', status: refusal.status, code, param, message };
  }
}

/** Fails if a call that cannot work does, or is refused in another way than the client's file expects. */
export async function proveDeadEnds({ package: name, deadEnds = [] }: Client, listener: Listener): Promise<void> {
  for (const { call, path, code, run } of deadEnds) {
    const before = listener.heard.length;
    await assert.rejects(inTime(run(gatewayAt(listener))), Error, `${name} ${call} works: give it a way`);
    const [heard] = listener.heard.slice(before);
    assert.deepEqual({ path: heard?.path, code: heard?.error?.code }, { path, code }, `${name} ${call}`);
  }
}

const inTime = <T>(work: Promise<T>): Promise<T> =>
  beforeDeadline(work, mostMs, () => new Error(`no end within ${mostMs / 1000} s`));
