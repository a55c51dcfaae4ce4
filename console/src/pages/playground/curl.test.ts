import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { test } from 'node:test';
import { toCurl } from './call-text.ts';

/** The arguments as the shell reads them. */
function argumentsOf(command: string): string[] {
  const script = `curl() { for one in "$@"; do printf '%s\\0' "$one"; done; }; ${command}`;
  const output = execFileSync('/bin/sh', ['-c', script], { env: { POSTERN_KEY: 'pst_secret' }, encoding: 'utf8' });
  return output.split('\0').slice(0, -1);
}

test("a shell parses the curl command's body unchanged, whatever it contains", () => {
  const body = { model: 'm', input: `it's "quoted" $HOME \`ls\` \\ \n !x`, long: 'a'.repeat(200) };
  const command = toCurl({ baseUrl: 'http://127.0.0.1:4000', route: 'edits', model: 'm', body });
  const given = argumentsOf(command);
  assert.equal(given[0], 'http://127.0.0.1:4000/v1/edits');
  assert.ok(given.includes('Authorization: Bearer pst_secret'));
  assert.deepEqual(JSON.parse(given.at(-1) ?? ''), body);
  assert.ok(!command.includes('pst_'));
});

test('the curl command has the model in a legacy /v1/engines path, and -N for a stream', () => {
  const base = { baseUrl: 'http://127.0.0.1:4000/ai', body: { input: 'a' } };
  const legacy = argumentsOf(toCurl({ ...base, route: 'engines-embeddings', model: "BAAI/bge m3'" }));
  assert.equal(legacy[0], "http://127.0.0.1:4000/ai/v1/engines/BAAI/bge%20m3'/embeddings");
  const stream = argumentsOf(toCurl({ ...base, route: 'completions', model: 'm', body: { stream: true } }));
  assert.equal(stream[0], '-N');
});
