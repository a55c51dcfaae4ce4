import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toClock, toHeard } from './heard.ts';

const heard = (json: unknown, text = '', isStream = false) => toHeard({ json, text, isStream });

test('finds the transcript text in each response format', () => {
  assert.equal(heard({ text: ' Open the gate. ' }).text, 'Open the gate.');
  assert.equal(heard(undefined, 'WEBVTT\n\nOpen.\n').text, 'WEBVTT\n\nOpen.');
  const events = [
    { type: 'transcript.text.delta', delta: 'Open ' },
    { type: 'transcript.text.delta', delta: 'it.' },
  ];
  assert.equal(heard(events, '', true).text, 'Open it.');
  assert.equal(heard([...events, { type: 'transcript.text.done', text: 'Open it!' }], '', true).text, 'Open it!');
});

test('reports length, language and segments of a transcript if present', () => {
  const json = {
    text: 'a',
    language: 'english',
    duration: '7.5',
    segments: [{ start: 1.5, text: ' a' }, null, { text: 7 }],
  };
  assert.deepEqual(heard(json), {
    text: 'a',
    language: 'english',
    seconds: 7.5,
    parts: [{ startSeconds: 1.5, text: 'a' }],
  });
  assert.equal(heard({ text: 'a', usage: { type: 'duration', seconds: 9 } }).seconds, 9);
  assert.deepEqual(heard('no object'), { text: '', language: undefined, seconds: undefined, parts: [] });
});

test('formats a position in the recording as a clock time', () => {
  assert.deepEqual([0, 9.99, 75.2, 3600].map(toClock), ['0:00', '0:09', '1:15', '60:00']);
});
