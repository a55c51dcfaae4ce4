import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sampleFamilies } from '../test/support/gateways/configuration.ts';
import { renderReference } from './configuration-reference.ts';

const reference = renderReference(sampleFamilies);
const rowOf = (key: string) => reference.split('\n').find((line) => line.startsWith(`| \`${key}\` |`));

test("a row of the reference has a configuration key's type, default and meaning", () => {
  assert.match(String(rowOf('server.port')), /\| whole number \| `4000` \| The port to listen on/);
  assert.match(String(rowOf('server.body_limit')), /\| size \| `32MiB` \|/);
  assert.match(String(rowOf('upstreams[].legacy_engines')), /\| `native` or `lift` \| `lift` \|/);
  assert.match(String(rowOf('upstreams[].timeouts.first_byte')), /\| time \| `60s`; completions `600s` \|/);
  assert.match(String(rowOf('models[].targets[].upstream')), /\| text \| required \|/);
  assert.match(String(rowOf('models[].retry')), /\| `safe`, `always` or mapping \| `safe` \|/);
  assert.match(String(rowOf('models[].retry.attempts')), /\| whole number \| `5` \|/);
  assert.match(String(rowOf('keys[].models')), /\| list of IDs \| `\["\*"\]` \|/);
});

test('the reference has the defaults of cache, canary and coalesce settings, and a share as a number from 0 to 1', () => {
  assert.match(String(rowOf('models[].cache.ttl')), /\| time \| `24h` \|/);
  assert.match(String(rowOf('models[].cache.max')), /\| size \| `64MiB` \|/);
  assert.match(String(rowOf('models[].canary.every')), /\| time \| `1h` \|/);
  assert.match(String(rowOf('models[].coalesce.window')), /\| time \| `5ms` \|/);
  assert.match(String(rowOf('models[].shadow.share')), /\| number from 0 to 1 \| required \|/);
});

test('the reference has a row for each upstream family, with its address and operations', () => {
  assert.match(
    String(rowOf('openai')),
    /`https:\/\/api\.openai\.test\/v1` \| completions, edits, moderations, embeddings \| yes \|/,
  );
  assert.match(String(rowOf('local')), /\| none \|/);
});
