import assert from 'node:assert/strict';
import { Buffer } from 'node:buffer';
import { test } from 'node:test';
import { PictureReader } from './usage.ts';

function seen(isStream: boolean, text: string, pieceBytes: number) {
  const reader = new PictureReader(isStream);
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += pieceBytes) reader.push(bytes.subarray(at, at + pieceBytes));
  return reader.pictures();
}

const long = 'A'.repeat(5_000);
const whole = JSON.stringify({
  created: 1,
  size: '1024x1536',
  data: [
    { b64_json: long, revised_prompt: '{"url":"none"},"b64_json":"none"' },
    { url: 'https://a.example/1.png', nested: { url: 'none' } },
    { b64_json: 'AA' },
  ],
  usage: { url: 'none' },
  quality: 'high',
});
const event = (type: string) =>
  `event: ${type}\r\ndata: ${JSON.stringify({ type, b64_json: long, size: 's', quality: 'q' })}\r\n\r\n`;
const stream = `: a comment\n\n${event('image_generation.partial_image')}${event('image_edit.completed')}${event('image_edit.completed')}`;

test('counts images and reads their size and quality, across any chunks', () => {
  for (const pieceBytes of [1, 2, 3, 7, 64, 4_096, whole.length]) {
    assert.deepEqual(seen(false, whole, pieceBytes), { count: 3, size: '1024x1536', quality: 'high' });
  }
  for (const pieceBytes of [1, 2, 3, 7, 64, 4_096, stream.length]) {
    assert.deepEqual(seen(true, stream, pieceBytes), { count: 2, size: 's', quality: 'q' });
  }
});

test('an answer without images, or of another type, has no count', () => {
  assert.equal(seen(false, '{"data":[],"size":"s"}', 5), undefined);
  assert.equal(seen(false, '"data" [[{{ b64_json', 5), undefined);
  assert.deepEqual(new PictureReader(false).written(), { texts: 0, bytes: 0, sample: '', choices: 0 });
  assert.equal(seen(true, event('image_generation.partial_image'), 64), undefined);
});
