import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get } from 'node:http';
import type { AddressInfo } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../../test/support/time/until.ts';
import { type Caller, nobody } from '../caller.ts';
import { createFetchListener } from '../listener/fetch-listener.ts';
import type { Problem } from '../problem.ts';
import { createEventStreams, type EventStreamLimits, type ServerEvent } from './event-stream.ts';

function member(sessionId: string, role: 'viewer' | 'admin' = 'admin'): Caller {
  return {
    kind: 'member',
    memberId: 'm',
    name: 'ada@example.com',
    role,
    sessionId,
    csrfToken: 'c',
    provedAtMs: undefined,
  };
}

function open(t: TestContext, limits?: EventStreamLimits) {
  const streams = createEventStreams(limits);
  t.after(() => streams.close());
  const known = new Map<string, Caller>();
  const onlooker = (caller: Caller, signal: AbortSignal = new AbortController().signal) => {
    const session = caller.kind === 'member' ? caller.sessionId : '';
    known.set(session, caller);
    return {
      caller,
      signal,
      headers: new Headers({ cookie: session }),
      context: { access: { identify: async (headers: Headers) => known.get(headers.get('cookie') ?? '') ?? nobody } },
    };
  };
  return { streams, known, onlooker };
}

async function* endless(signal: AbortSignal): AsyncGenerator<ServerEvent> {
  await new Promise((resolve) => signal.addEventListener('abort', resolve));
}

test('sends each event as soon as it is produced, one data line each, and ends after the last event', async (t) => {
  const { streams, onlooker } = open(t);
  const response = streams.open(onlooker(member('one')), 'viewer', async function* () {
    yield { name: 'row', id: '7', data: { text: 'a\nb\r\n\ndata: c' } };
    yield { data: 1 };
  });
  assert.equal(response.headers.get('content-type'), 'text/event-stream');
  assert.equal(
    await response.text(),
    'retry: 2000\n\nevent: row\nid: 7\ndata: {"text":"a\\nb\\r\\n\\ndata: c"}\n\ndata: 1\n\n',
  );
  assert.equal(streams.size, 0);
});

test('produces no further events while a slow reader has not read the earlier ones', async (t) => {
  const { streams, onlooker } = open(t);
  let made = 0;
  const response = streams.open(onlooker(member('one')), 'viewer', async function* () {
    for (;;) {
      made += 1;
      yield { data: 'x'.repeat(1_000) };
    }
  });
  await wait(50);
  assert.ok(made < 20, `${made} events were made`);
  await response.body?.cancel();
  assert.equal(streams.size, 0);
});

test('limits event streams per session and in total, and a stream that ended frees its slot', async (t) => {
  const { streams, onlooker } = open(t, { each: 2, all: 3 });
  const begin = (session: string) => streams.open(onlooker(member(session)), 'viewer', endless);
  const first = begin('one');
  begin('one');
  const refused = (error: Problem): boolean => error.code === 'too_many_streams' && error.status === 429;
  assert.throws(() => begin('one'), refused);
  begin('two');
  assert.throws(() => begin('three'), refused);
  await first.body?.cancel();
  begin('one');
  assert.equal(streams.size, 3);
});

test('an event stream ends soon after its session or role ends, while others continue', async (t) => {
  const { streams, known, onlooker } = open(t);
  const ended = streams.open(onlooker(member('ended')), 'admin', endless);
  const demoted = streams.open(onlooker(member('demoted')), 'admin', endless);
  streams.open(onlooker(member('kept')), 'admin', endless);
  known.delete('ended');
  known.set('demoted', member('demoted', 'viewer'));
  await Promise.all([ended.text(), demoted.text()]);
  assert.equal(streams.size, 1);
});

test('the source of an event stream stops when the reader disconnects or the listener closes', async (t) => {
  const { streams, onlooker } = open(t);
  const gone = new AbortController();
  let over = 0;
  const counting = async function* (signal: AbortSignal): AsyncGenerator<ServerEvent> {
    yield* endless(signal);
    over += 1;
  };
  const one = streams.open(onlooker(member('one'), gone.signal), 'viewer', counting);
  const two = streams.open(onlooker(member('two')), 'viewer', counting);
  gone.abort();
  await one.text();
  streams.close();
  await two.text();
  assert.deepEqual([over, streams.size], [2, 0]);
});

test('when the event source fails, the connection breaks so that the reader sees no clean end', async (t) => {
  const { streams, onlooker } = open(t);
  const response = streams.open(onlooker(member('one')), 'viewer', async function* () {
    yield { data: 1 };
    throw new Error('the store is away');
  });
  await assert.rejects(response.text());
  assert.equal(streams.size, 0);
});

test('over a socket, events arrive as they are produced, and a disconnect ends the stream', async (t) => {
  const { streams, onlooker } = open(t);
  const server = createServer(
    createFetchListener(
      async ({ signal }) =>
        streams.open(onlooker(member('one'), signal), 'viewer', async function* (over) {
          yield { data: 'first' };
          yield* endless(over);
        }),
      () => undefined,
    ),
  );
  t.after(() => server.closeAllConnections());
  t.after(() => server.close());
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const request = get({ host: '127.0.0.1', port: (server.address() as AddressInfo).port, agent: false });
  const [response] = await once(request, 'response');
  let text = '';
  response.on('data', (chunk: Buffer) => {
    text += chunk.toString();
  });
  await until(() => text.includes('data: "first"'));
  assert.equal(streams.size, 1);
  response.on('error', () => undefined);
  request.destroy();
  await until(() => streams.size === 0);
});

test('a reader that disconnected before its event stream began takes no slot', async (t) => {
  const { streams, onlooker } = open(t);
  streams.open(onlooker(member('one'), AbortSignal.abort()), 'viewer', endless);
  assert.equal(streams.size, 0);
});
