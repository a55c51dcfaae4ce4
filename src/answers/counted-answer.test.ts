import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Client, Source } from '../../test/support/upstreams/answer-source.ts';
import { withoutUsageEvent } from './counted-answer.ts';

const text = 'data: {"choices":[{"text":"a"}],"usage":null}\n\n';
const count = 'data: {"choices":[],"usage":{"prompt_tokens":3,"completion_tokens":1,"total_tokens":4}}';

function open() {
  const source = new Source();
  const answer = withoutUsageEvent(source);
  const client = new Client();
  answer.take(client);
  return { source, answer, client };
}

test('a stream event with only usage is counted and not sent to the client, however it is split into chunks', () => {
  for (let cut = 1; cut < count.length; cut += 1) {
    const { source, answer, client } = open();
    source.send(text, count.slice(0, cut), `${count.slice(cut)}\n\ndata: [DONE]\n\n`);
    source.end();
    assert.equal(client.text, `${text}data: [DONE]\n\n`);
    assert.equal(answer.countedApart?.totalTokens, 4);
  }
});

test('a stream with CR LF line endings loses only its usage event, wherever two chunks meet', () => {
  const [before, left, after] = [text, `${count}\n\n`, 'data: [DONE]\n\n'].map((part) => part.replaceAll('\n', '\r\n'));
  const whole = `${before}${left}${after}`;
  for (let cut = 1; cut < whole.length; cut += 1) {
    const { source, answer, client } = open();
    source.send(whole.slice(0, cut), whole.slice(cut));
    source.end();
    assert.equal(client.text, `${before}${after}`, `cut at ${cut}`);
    assert.equal(answer.countedApart?.totalTokens, 4);
  }
});

test('a long event behind the usage event passes whole, even if its last line feed comes alone', () => {
  const { source, client } = open();
  const long = `data: ${'a'.repeat(70_000)}\n`;
  source.send(`${count}\n\n`, long, '\n');
  source.end();
  assert.equal(client.text, `${long}\n`);
});

test("the usage event is not sent to the client even if the stream ends before the event's empty line", () => {
  for (const end of [(source: Source) => source.end(), (source: Source) => source.sink?.onBroken({} as never)]) {
    const { source, answer, client } = open();
    source.send(text, count);
    end(source);
    assert.deepEqual([client.text, answer.countedApart?.totalTokens, client.endings], [text, 4, 1]);
  }
});

test('a response that is no readable event stream (an error, JSON or compressed) passes unchanged', () => {
  for (const head of [
    { status: 400 },
    { headers: ['Content-Type', 'application/json'] },
    { headers: ['Content-Type', 'text/event-stream', 'Content-Encoding', 'gzip'] },
  ]) {
    const source = Object.assign(new Source(), head);
    assert.equal(withoutUsageEvent(source), source, JSON.stringify(head));
  }
});

test('an unfinished stream event without usage is passed on as the upstream sent it', () => {
  const { source, answer, client } = open();
  source.send(text, 'data: {"choices":[{"text":"b"}]');
  source.end();
  assert.equal(client.text, `${text}data: {"choices":[{"text":"b"}]`);
  assert.equal(answer.countedApart, undefined);
});
