import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { createServer } from 'node:http';
import { test } from 'node:test';
import { type HttpCall, toJavaScript, toPython } from './http-code.ts';

const body = { model: 'a "b" $c', input: ['x\ny', "it's"], stream: false, user: null, nested: { on: true, list: [] } };

test('Python parses the body correctly, with True, False and None', (t) => {
  const code = toPython({ baseUrl: 'http://127.0.0.1:4000', path: '/v1/embeddings', body });
  // Plain Python, with a stub of the library that prints its arguments.
  const stub =
    'import sys, types, json\nstub = types.ModuleType("requests")\nstub.post = lambda url, **asked: (print(json.dumps([url, asked])), sys.exit())\nsys.modules["requests"] = stub\n';
  const { stdout, error } = spawnSync('python3', ['-c', stub + code], {
    encoding: 'utf8',
    env: { ...process.env, POSTERN_KEY: 'secret' },
  });
  if (error !== undefined) return t.skip('needs python3');
  const [url, asked] = JSON.parse(stdout);
  assert.equal(url, 'http://127.0.0.1:4000/v1/embeddings');
  assert.deepEqual(asked.json, body);
  assert.deepEqual(asked.headers, { Authorization: 'Bearer secret' });
});

test('JavaScript sends the same body, and a form with its files', async (t) => {
  const seen: string[] = [];
  const server = createServer(async (request, response) => {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    seen.push(Buffer.concat(pieces).toString());
    response.end('done');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => server.close());
  const address = server.address();
  assert.ok(typeof address === 'object' && address !== null);
  const baseUrl = `http://127.0.0.1:${address.port}`;
  const run = async (call: Omit<HttpCall, 'baseUrl'>): Promise<void> => {
    const code = toJavaScript({ ...call, baseUrl });
    await import(`data:text/javascript,${encodeURIComponent(code)}#${seen.length}`);
  };
  await run({ path: '/v1/embeddings', body });
  assert.deepEqual(JSON.parse(seen[0] ?? ''), body);
  await run({ path: '/v1/audio', parts: [{ name: 'model', value: 'm', isFile: false }], isStream: true });
  assert.match(seen[1] ?? '', /name="model"\r\n\r\nm\r\n/);
});

test('the key is a variable, never written in the code', () => {
  for (const code of [toPython, toJavaScript].map((write) => write({ baseUrl: '', path: '/v1/x', body: {} }))) {
    assert.match(code, /POSTERN_KEY/);
  }
});
