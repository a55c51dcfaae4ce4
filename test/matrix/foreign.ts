/** Clients in other languages: a program lists its clients and makes their calls, with one line of JSON in and out per call. */

import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { z } from 'zod';
import type { Gateway, KnownClient, Language, Task, Tasks } from './client.ts';

export interface ForeignProgram {
  readonly clients: readonly KnownClient[];
  close(): Promise<void>;
}

type Ask = (task: Task | 'models', gateway: Gateway, args: object) => Promise<unknown>;

const description = z.array(
  z.object({
    name: z.string(),
    versions: z.record(z.string(), z.string()),
    setUp: z.string(),
    remark: z.string().nullable(),
    ways: z.record(z.string(), z.string()),
    lists: z.boolean(),
    wants: z.record(z.string(), z.string()).optional(),
  }),
);
const reply = z.object({ id: z.number(), error: z.string().optional(), result: z.unknown().optional() });
const vectors = z.array(z.array(z.number()));
const scores = z.array(z.object({ index: z.number(), score: z.number() }));
const flags = z.array(z.boolean());
const parts = z.array(z.string());
const names = z.array(z.string());
const toolCall = z.object({ name: z.string(), text: z.string() });

/** A text for a text. */
const word =
  (task: Task) =>
  (ask: Ask) =>
  async (gateway: Gateway, prompt: string): Promise<string> =>
    z.string().parse(await ask(task, gateway, { prompt }));

const wordsOf = (task: Task) => (ask: Ask) =>
  async function* (gateway: Gateway, prompt: string): AsyncIterable<string> {
    yield* parts.parse(await ask(task, gateway, { prompt }));
  };

/** Each task, asked of a program. */
const runs: { readonly [T in Task]: (ask: Ask) => Tasks[T] } = {
  embeddings: (ask) => async (gateway, texts) => vectors.parse(await ask('embeddings', gateway, { texts })),
  engines: (ask) => async (gateway, texts) => vectors.parse(await ask('engines', gateway, { texts })),
  rerank: (ask) => async (gateway, wish) => scores.parse(await ask('rerank', gateway, wish)),
  moderations: (ask) => async (gateway, texts) => flags.parse(await ask('moderations', gateway, { texts })),
  completions: word('completions'),
  streams: wordsOf('streams'),
  chat: word('chat'),
  chatStreams: wordsOf('chatStreams'),
  tools: (ask) => async (gateway, prompt) => toolCall.parse(await ask('tools', gateway, { prompt })),
  responses: word('responses'),
  responseStreams: wordsOf('responseStreams'),
  messages: word('messages'),
  messageStreams: wordsOf('messageStreams'),
  generate: word('generate'),
  generateStreams: wordsOf('generateStreams'),
  images: word('images'),
  speech: word('speech'),
  transcriptions: word('transcriptions'),
  edits: (ask) => async (gateway, wish) => z.string().parse(await ask('edits', gateway, wish)),
};

/** Throws where the program ends before it has said what it knows. */
export async function startForeign(
  language: Language,
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<ForeignProgram> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'pipe'], env: { ...process.env, ...env } });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  let said = '';
  child.stderr.on('data', (text: Buffer) => {
    said = (said + text.toString()).slice(-4_000);
  });
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()));

  async function next(): Promise<unknown> {
    const { value, done } = await lines.next();
    if (done === true) throw new Error(`${command} ${args.join(' ')} ended; it said:\n${said}`);
    return JSON.parse(value);
  }

  let asked = 0;
  const described = description.parse(await next());
  return {
    clients: described.map(({ name, ways, wants, remark, lists, ...rest }): KnownClient => {
      const ask: Ask = async (task, gateway, args) => {
        asked += 1;
        const id = asked;
        send(child, { id, client: name, task, gateway, arguments: args });
        let answer = reply.parse(await next());
        // A late answer that nothing waits for any more comes first.
        while (answer.id !== id) answer = reply.parse(await next());
        if (answer.error !== undefined) throw new Error(answer.error);
        return answer.result;
      };
      return {
        ...rest,
        language,
        package: name,
        ...(remark && { remark }),
        ...(wants !== undefined && { wants }),
        ...(lists && { lists: async (gateway: Gateway) => names.parse(await ask('models', gateway, {})) }),
        ways: toWays(ways, ask),
      };
    }),
    async close() {
      child.stdin.end();
      await ended;
    },
  };
}

function send(child: ChildProcessWithoutNullStreams, line: object): void {
  child.stdin.write(`${JSON.stringify(line)}\n`);
}

function toWays(calls: Readonly<Record<string, string>>, ask: Ask): KnownClient['ways'] {
  const way = <T extends Task>(task: T) => {
    const { [task]: call } = calls;
    return call === undefined ? {} : { [task]: { call, run: runs[task](ask) } };
  };
  return Object.assign({}, ...Object.keys(runs).map((task) => way(task as Task)));
}
