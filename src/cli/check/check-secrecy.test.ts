import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createDirectory } from '../../../test/support/gateways/configuration.ts';
import { families } from '../../families/index.ts';
import { check } from './check.ts';

test('check prints no credential of an upstream with translated requests, whether the file is valid or faulty', async (t) => {
  const secret = 'AKIA0123456789:a-canary-of-a-secret-key';
  const textOf = (region: string, key: string): string => `
upstreams:
  - { id: signed, family: bedrock, options: { region: ${region} }, api_key: "${key}", headers: { x-token: another-canary } }
  - { id: named, family: cohere, api_key: a-third-canary, options: { api_version: v1 }, answer_limit: 1MiB }
models:
  - { id: e, operations: [embeddings], targets: [{ upstream: named, unsupported: drop, defaults: { input_type: x } }] }
  - { id: s, operations: [embeddings], targets: [{ upstream: signed, model: amazon.titan-embed-text-v2:0 }] }
`;
  const run = async (text: string, json: boolean) => {
    const cwd = await createDirectory(t, { 'postern.yaml': text });
    const lines: string[] = [];
    const stdout = (line: string): void => void lines.push(line);
    const context = {
      values: { json },
      configPath: undefined,
      positionals: [],
      env: {},
      cwd,
      families,
      stdout,
      stderr: stdout,
    };
    return { code: await check.run(context), lines };
  };
  for (const json of [false, true]) {
    const good = await run(textOf('eu-west-1', secret), json);
    assert.equal(good.code, 0, good.lines.join('\n'));
    assert.doesNotMatch(good.lines.join('\n'), /canary|AKIA/);
    const noKey = `upstreams: [{ id: signed, family: vertex, options: { project: p }, api_key: "{a-canary" }]`;
    for (const text of [textOf('eu west', secret), noKey]) {
      const bad = await run(text, json);
      assert.equal(bad.code, 1);
      assert.doesNotMatch(bad.lines.join('\n'), /canary|AKIA/);
    }
  }
});
