import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { test } from 'node:test';
import { openNowhere, question, Recorder } from '../../test/support/wire/wire-answers.ts';
import { ClientCall, type ClientRequest, toBeginning } from './client-call.ts';
import { BadAnswerError, BrokenConnectionError } from './client-errors.ts';

const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbody';
const okEvents = ['first byte', 'head 200 OK content-length|4', 'body body', 'end '];
const inChunks = (chunks: string): string => `HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n${chunks}`;

test('a connection reset never counts as the end of a body', () => {
  const { socket, recorder, ask } = openNowhere();
  ask();
  socket.emit('data', Buffer.from('HTTP/1.1 200 OK\r\n\r\nhalf'));
  socket.emit('error', Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' }));
  assert.equal(recorder.events.at(-1), 'error BrokenConnectionError');
  assert.ok(recorder.error instanceof BrokenConnectionError);
  assert.equal(recorder.error.code, 'ECONNRESET');
});

test('a connection is stale only if it was used before and closed before any byte arrived', () => {
  const reset = Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
  const closings: ((socket: Socket) => void)[] = [
    (socket) => socket.emit('end'),
    (socket) => socket.emit('error', reset),
  ];
  for (const close of closings) {
    for (const [served, begun, stale] of [
      [false, '', false],
      [true, '', true],
      [true, 'H', false],
      [true, 'HTTP/1.1 100 Continue\r\n\r\n', false],
    ] as const) {
      const { socket, ask } = openNowhere();
      if (served) {
        ask();
        socket.emit('data', Buffer.from(ok));
      }
      const recorder = new Recorder();
      ask(recorder);
      if (begun !== '') socket.emit('data', Buffer.from(begun));
      close(socket);
      assert.ok(recorder.error instanceof BrokenConnectionError);
      assert.equal(recorder.error.stale, stale, JSON.stringify({ served, begun }));
    }
  }
});

test('unexpected bytes on an idle connection close it', () => {
  const { socket, owner, connection, ask } = openNowhere();
  ask();
  socket.emit('data', Buffer.from(ok));
  assert.deepEqual(owner, { freed: 1, closed: 0 });
  socket.emit('data', Buffer.from(ok));
  assert.equal(connection.isIdle, false);
  assert.deepEqual(owner, { freed: 1, closed: 1 });
  assert.equal(socket.destroyed, true);
});

test('a head and short body are sent together, and a long body in slices as the socket accepts them', () => {
  const short = openNowhere();
  short.ask();
  const shortHead = 'POST /x HTTP/1.1\r\nhost: host.test\r\nconnection: keep-alive\r\nx-a: 1\r\n';
  assert.equal(short.socket.written, `${shortHead}content-length: 2\r\n\r\n{}`);
  assert.deepEqual(short.recorder.events, ['start', 'sent']);

  const body = [Buffer.alloc(100_000, 'a'), Buffer.alloc(0), Buffer.alloc(100_000, 'b')];
  const long = openNowhere({ ...question, body });
  long.socket.patience = 2;
  long.ask();
  const longHead = `${shortHead}content-length: 200000\r\n\r\n`;
  assert.equal(long.socket.written.length, longHead.length + 64 * 1024);
  for (let drains = 0; drains < 10 && !long.recorder.events.includes('sent'); drains += 1) {
    long.socket.patience = 2;
    long.socket.emit('drain');
  }
  assert.deepEqual(long.recorder.events, ['start', 'sent']);
  assert.equal(long.socket.written, longHead + 'a'.repeat(100_000) + 'b'.repeat(100_000));
});

test('a response that ends before the body was sent closes the connection, and the rest is not sent', () => {
  const { socket, recorder, connection, ask } = openNowhere({ ...question, body: Buffer.alloc(1_000_000) });
  socket.patience = 2;
  ask();
  socket.emit('data', Buffer.from(ok));
  const writtenBytes = socket.written.length;
  assert.deepEqual(recorder.events, ['start', ...okEvents]);
  assert.equal(connection.isIdle, false);
  socket.emit('drain');
  assert.equal(socket.written.length, writtenBytes);
});

test('pausing a call pauses its socket until the response ends', () => {
  const { socket, ask } = openNowhere();
  const call = ask();
  socket.emit('data', Buffer.from(ok.slice(0, -2)));
  call.pause();
  assert.equal(socket.isPaused(), true);
  socket.emit('data', Buffer.from('dy'));
  assert.equal(socket.isPaused(), false, 'the next call would wait for ever');
  call.pause();
  assert.equal(socket.isPaused(), false, 'a call that is over has no hold on the connection');
});

test('a cancelled call gets no more events, and its connection is closed', () => {
  const chunked = inChunks('1\r\na\r\n1\r\nb\r\n0\r\n\r\n');
  for (const [giveUpAt, answered] of [
    ['start', chunked],
    ['first byte', chunked],
    ['head', chunked],
    ['head', 'HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n'],
    ['body', chunked],
    ['body', ok],
  ] as const) {
    const recorder = new Recorder();
    const opened = openNowhere({ ...question, body: Buffer.alloc(20_000) }, recorder);
    let call: ClientCall | undefined;
    recorder.events.push = (event: string) => {
      if (event.startsWith(giveUpAt)) call?.abort();
      return Array.prototype.push.call(recorder.events, event);
    };
    call = new ClientCall(
      { ...question, body: Buffer.alloc(20_000) },
      toBeginning(question.method, question.path, 'host.test'),
      recorder,
    );
    opened.connection.send(call);
    opened.socket.emit('data', Buffer.from(answered));
    opened.socket.emit('close');
    assert.ok(recorder.events.at(-1)?.startsWith(giveUpAt), recorder.events.join());
    assert.deepEqual(opened.owner, { freed: 0, closed: 1 });
  }
});

test('a request with an invalid method, path or header throws before anything is sent', () => {
  const rows: Partial<ClientRequest>[] = [
    { path: '/a b' },
    { path: '/a\r\nx: y' },
    { path: '' },
    { method: 'GET /x' },
    { headers: ['x y', '1'] },
    { headers: ['', '1'] },
    { headers: ['x', 'a\r\nb: c'] },
    { headers: ['x', '\u{1f600}'] },
  ];
  for (const row of rows) {
    const request = { ...question, ...row };
    assert.throws(
      () => new ClientCall(request, toBeginning(request.method, request.path, 'host.test'), new Recorder()),
      TypeError,
      JSON.stringify(row),
    );
  }
});

test('the error for a response that is no HTTP states what is wrong', () => {
  const { socket, recorder, ask } = openNowhere();
  ask();
  socket.emit('data', Buffer.from('SSH-2.0-x\r\n'));
  assert.ok(recorder.error instanceof BadAnswerError);
  assert.match(recorder.error.message, /does not begin as one of HTTP\/1/);
});

test('the error for an invalid response repeats no received bytes', () => {
  const filler = 'f'.repeat(70_000);
  const said = ['canary', 'canary : 1', 'canary: \x01', 'canary: a\rb', 'a\nb: canary', `canary: ${filler}`];
  const heads = said.map((line) => `HTTP/1.1 200 OK\r\n${line}\r\n\r\n`);
  const lines = ['canary', 'HTTP/1.1 canary\r\n\r\n', 'HTTP/1.1 200 canary\x00\r\n\r\n'];
  const codings = ['transfer-encoding: canary', 'content-length: canary'].map(
    (line) => `HTTP/1.1 200 OK\r\n${line}\r\n\r\n`,
  );
  const chunks = ['canary', '1;canary\x00', `0\r\ncanary : 1\r\n\r\n`, `0\r\ncanary: ${'f'.repeat(9_000)}\r\n\r\n`].map(
    inChunks,
  );
  for (const sent of [...heads, ...lines, ...codings, ...chunks]) {
    const { socket, recorder, ask } = openNowhere();
    ask();
    socket.emit('data', Buffer.from(sent, 'latin1'));
    assert.doesNotMatch(recorder.error?.message ?? 'canary', /canary/, sent.slice(0, 60));
  }
});

/** A piece that lies somewhere else, whose reads are answered by hand. */
function stored(text: string) {
  const reads: { at: number; answer(bytes: Buffer | Error): void }[] = [];
  const piece = {
    length: text.length,
    read: (at: number, mostBytes: number) =>
      new Promise<Buffer>((resolve, reject) => {
        const answer = (bytes: Buffer | Error) => (bytes instanceof Error ? reject(bytes) : resolve(bytes));
        reads.push({ at, answer });
        assert.ok(mostBytes <= 64 * 1024);
      }),
  };
  const give = async (bytes: number): Promise<void> => {
    const read = reads.shift();
    assert.ok(read !== undefined);
    read.answer(Buffer.from(text.slice(read.at, read.at + bytes)));
    await nextSlice();
  };
  return { piece, reads, give };
}

const nextSlice = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

test('a request body stored on disk is read in slices, in order, as fast as the socket accepts it', async () => {
  const text = 'stored '.repeat(20_000);
  const { piece, reads, give } = stored(text);
  const { socket, recorder, ask } = openNowhere({
    ...question,
    body: [Buffer.from('before|'), piece, Buffer.from('|after')],
  });
  socket.patience = 3;
  ask();
  assert.equal(reads.length, 1);
  socket.emit('drain');
  assert.equal(reads.length, 1, 'one is read at a time');
  await give(50_000);
  assert.equal(reads.length, 0, 'the socket has enough');
  socket.patience = 100;
  socket.emit('drain');
  await give(10);
  await give(text.length);
  assert.ok(recorder.events.includes('sent'));
  const [head = '', body] = socket.written.split('\r\n\r\n');
  assert.match(head, new RegExp(`content-length: ${text.length + 13}`));
  assert.equal(body, `before|${text}|after`);
});

test('a read of a stored body that completes after its call ended sends nothing; a failed read ends the call', async () => {
  const { piece, give } = stored('x'.repeat(100_000));
  const dropped = openNowhere({ ...question, body: [piece] });
  const call = dropped.ask();
  const { length } = dropped.socket.written;
  call.abort();
  await give(10);
  assert.equal(dropped.socket.written.length, length);

  const early = openNowhere({ ...question, body: [piece] });
  early.ask();
  early.socket.emit('data', Buffer.from(ok));
  await give(10);
  assert.equal(early.recorder.events.at(-1), 'end ');
  assert.deepEqual(early.owner, { freed: 0, closed: 1 });

  const broken = stored('x'.repeat(100_000));
  const failing = openNowhere({ ...question, body: [broken.piece] });
  failing.ask();
  broken.reads[0]?.answer(new Error('EIO'));
  await nextSlice();
  assert.equal(failing.recorder.events.at(-1), 'error BrokenConnectionError');
});
