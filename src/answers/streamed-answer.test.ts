import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, Source } from '../../test/support/upstreams/answer-source.ts';
import { type StreamReader, Unfit } from '../core/translation.ts';
import { isJsonObject, type Json } from '../lib/json/json-text.ts';
import { SecretSearch } from './secret-search.ts';
import { StreamedAnswer } from './streamed-answer.ts';

/** Repeats the text of `say`; `end` is the last event, and `[DONE]` may be missing after `isLast`. */
class Doubler implements StreamReader {
  isComplete = false;
  readonly usage = null;

  event(data: Json): readonly Json[] {
    if (!isJsonObject(data)) throw new Unfit('an event is no object');
    if (data.isLast === true) this.isComplete = true;
    if (data.bug === true) throw new TypeError('a bug');
    return data.say === undefined ? [] : [{ said: data.say }, { again: data.say }];
  }

  end(): readonly Json[] {
    return [{ end: true }];
  }
}

function open(reader: StreamReader = new Doubler()) {
  const source = new Source();
  const client = new Client();
  const answer = new StreamedAnswer(source, reader, 'test', ['user'], new SecretSearch(['sk-secret']));
  answer.take(client);
  return { source, client, answer };
}

const said = (text: string): string => `data: {"said":${text}}\n\ndata: {"again":${text}}\n\n`;
const last = 'data: {"end":true}\n\ndata: [DONE]\n\n';

test("the head of a translated stream is the upstream's, without headers that describe the body", () => {
  const { answer } = open();
  assert.deepEqual(answer.headers, ['X-Own', 'kept', 'content-type', 'text/event-stream']);
  assert.deepEqual([answer.status, answer.sentAtMs, answer.firstByteAtMs], [200, 1, 2]);
  assert.deepEqual(answer.translated, { by: 'test', ignored: ['user'], isEstimated: false, usage: null });
});

test("passes on each translated event as soon as the upstream's event is complete", () => {
  const { source, client } = open();
  source.send('data: {"say":1', '.50}\n');
  assert.equal(client.text, '');
  source.send('\ndata: {"say":2}\n\n: note\n\ndata: {"none":1}\n\n');
  assert.equal(client.text, said('1.50') + said('2'));
  assert.equal(client.endings, 0);
});

test('[DONE] ends the stream once, and anything after it is dropped', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { source, client } = open();
  source.send('data: {"say":1}\n\ndata: [DONE] \n\ndata: {"say":2}\n\n', 'data: {"say":3}\n\n');
  source.end();
  assert.equal(client.text, said('1') + last);
  assert.equal(client.endings, 1);
  t.mock.timers.tick(2_000);
  assert.equal(source.isCancelled, false);
});

test('disconnects an upstream that stays open after [DONE]', (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const { source, client } = open();
  source.send('data: [DONE]\n\n');
  assert.equal(client.endings, 1);
  assert.equal(source.isCancelled, false);
  t.mock.timers.tick(1_000);
  assert.equal(source.isCancelled, true);
});

test('a connection that breaks after [DONE] is no failure', () => {
  const { source, client } = open();
  source.send('data: [DONE]\n\n');
  source.sink?.onBroken({ code: 'upstream_unreachable', message: 'reset', cause: 'reset' });
  assert.deepEqual([client.endings, client.failure], [1, undefined]);
});

test('a stream that ends without [DONE] is a success if the response is complete, else a failure', () => {
  const whole = open();
  whole.source.send('data: {"say":1,"isLast":true}\n\n');
  whole.source.end();
  assert.deepEqual([whole.client.text, whole.client.failure], [said('1') + last, undefined]);

  const cut = open();
  cut.source.send('data: {"say":1}\n\n');
  cut.source.end();
  assert.equal(cut.client.text, said('1'));
  assert.match(cut.client.failure?.cause ?? '', /before it was complete/);
});

test('the last event of a stream counts even without an empty line after it', () => {
  for (const end of ['', '\n', '\r']) {
    const { source, client } = open();
    source.send('data: {"say":1,"isLast":true}\n\n', `data: [DONE]${end}`);
    source.end();
    assert.deepEqual([client.text, client.failure, client.endings], [said('1') + last, undefined, 1]);
  }
  const { source, client } = open();
  source.send('data: {"say":1,"isLast":tr');
  source.end();
  assert.match(client.failure?.cause ?? '', /no JSON/);
});

test("a broken upstream stream breaks the client's stream", () => {
  const { source, client } = open();
  source.send('data: {"say":1}\n\n');
  source.sink?.onBroken({ code: 'upstream_timeout', message: 'idle', cause: 'idle timeout' });
  assert.deepEqual([client.text, client.failure?.code, client.endings], [said('1'), 'upstream_timeout', 1]);
});

test('an invalid stream event breaks the stream after the valid events, and cancels the upstream call', () => {
  for (const [bad, cause] of [
    ['{"say":', /no JSON/],
    ['[1]', /no object/],
    ['ok', /no JSON/],
    ['{"bug":true}', /TypeError: a bug/],
    ['\ud800'.repeat(3), /no JSON/],
  ] as const) {
    const { source, client } = open();
    source.send(`data: {"say":1}\n\ndata: ${bad}\n\ndata: {"say":2}\n\n`, 'data: {"say":3}\n\n');
    source.end();
    assert.equal(client.text, said('1'));
    assert.match(client.failure?.cause ?? '', cause);
    assert.deepEqual([client.endings, source.isCancelled], [1, true]);
  }
});

test("a translation that finds the response incomplete at its end breaks the client's stream", () => {
  class Never extends Doubler {
    override end(): readonly Json[] {
      throw new Unfit('nothing came');
    }
  }
  for (const isDone of [true, false]) {
    const { source, client } = open(new Never());
    source.send('data: {"say":1,"isLast":true}\n\n', ...(isDone ? ['data: [DONE]\n\n'] : []));
    if (!isDone) source.end();
    assert.equal(client.text, said('1'));
    assert.deepEqual([client.failure?.code, client.endings], ['upstream_protocol_error', 1]);
    assert.equal(client.failure?.cause, 'nothing came');
  }
});

test('an error event in mid-stream is passed on in the shape of OpenAI errors, and breaks the stream', () => {
  for (const [event, message] of [
    ['data: {"error":{"message":"too much","type":"t","param":null,"code":null}}', 'too much'],
    ['data: {"error":"too much"}', 'too much'],
    ['data: {"object":"error","message":"too much","code":"1300"}', 'too much'],
    ['event: error\ndata: too much', 'too much'],
    ['event: error\ndata: {"detail":[{"loc":["body","n"],"msg":"too much"}]}', 'n: too much'],
  ] as const) {
    const { source, client } = open();
    source.send(`data: {"say":1}\n\n${event}\n\n`, 'data: [DONE]\n\n');
    const frame = client.text.slice(said('1').length);
    assert.match(frame, /^data: \{"error":\{"message":"[^\n]*\}\n\n$/);
    assert.equal(JSON.parse(frame.slice('data: '.length)).error.message, message);
    assert.match(client.failure?.cause ?? '', /with an error/);
    assert.deepEqual([client.endings, source.isCancelled], [1, true]);
  }
});

test('an error event in a stream that contains a credential is withheld, and the stream ends', () => {
  for (const said of ['sk-secret', 'sk\\u002dsecret']) {
    const { source, client } = open();
    source.send(`data: {"error":{"message":"no such key: ${said}"}}\n\n`);
    assert.deepEqual([client.text, client.endings], ['', 1]);
    assert.match(client.failure?.cause ?? '', /repeats a credential/);
  }
});

test('an error field of null in a stream event is no error', () => {
  const { source, client } = open();
  source.send('data: {"say":1,"error":null}\n\n');
  assert.deepEqual([client.text, client.endings], [said('1'), 0]);
});

test('a client that reads slowly slows down reading from the upstream', () => {
  const { source, client, answer } = open();
  client.isOpen = false;
  assert.deepEqual(source.send('data: {"say":1}\n\n', ': nothing for the client\n\n'), [false, true]);
  answer.resume();
  assert.equal(source.resumes, 1);
});

test('a client that disconnects cancels the upstream call', () => {
  const { source, client, answer } = open();
  answer.cancel();
  assert.equal(source.isCancelled, true);
  assert.deepEqual(source.send('data: {"say":1}\n\n'), [true]);
  source.end();
  assert.deepEqual([client.text, client.endings], ['', 0]);
});

test('stream data that arrived before the client was attached is sent first', () => {
  const source = new Source();
  const client = new Client();
  source.take = (sink) => {
    sink.onChunk(Buffer.from('data: {"say":1}\n\ndata: [DO'));
    sink.onChunk(Buffer.from('NE]\n\n'));
    sink.onEnd([]);
  };
  new StreamedAnswer(source, new Doubler(), 'test', [], new SecretSearch([])).take(client);
  assert.deepEqual([client.text, client.endings], [said('1') + last, 1]);
});
