import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../../../test/support/time/until.ts';
import { createFetchListener } from './fetch-listener.ts';

async function open(t: TestContext, fetch: (request: Request) => Promise<Response>) {
  const faults: unknown[] = [];
  const server = createServer(createFetchListener(fetch, (error) => faults.push(error)));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { url: `http://127.0.0.1:${address.port}`, port: address.port, faults };
}

test('passes method, path, query, headers and body to the handler, and returns its status, headers and cookies', async (t) => {
  const { url } = await open(t, async (request) => {
    const headers = new Headers({ 'x-a': '1' });
    headers.append('set-cookie', 'a=1');
    headers.append('set-cookie', 'b=2');
    const said = [request.method, new URL(request.url).pathname, request.headers.get('x-b'), await request.text()];
    return new Response(JSON.stringify(said), { status: 201, headers });
  });
  const answer = await fetch(`${url}/a%2Fb?c=d`, { method: 'POST', headers: { 'x-b': 'e' }, body: 'text' });
  assert.equal(answer.status, 201);
  assert.deepEqual(await answer.json(), ['POST', '/a%2Fb', 'e', 'text']);
  assert.equal(answer.headers.get('x-a'), '1');
  assert.deepEqual(answer.headers.getSetCookie(), ['a=1', 'b=2']);
});

test('HEAD returns the headers without a body', async (t) => {
  const { url } = await open(t, async () => new Response('body', { headers: { 'content-length': '4' } }));
  const answer = await fetch(url, { method: 'HEAD' });
  assert.deepEqual([answer.headers.get('content-length'), await answer.text()], ['4', '']);
});

test('a streamed response is sent as it is produced, and a disconnect ends it', async (t) => {
  let cancelled = false;
  let aborted = false;
  const { url, faults } = await open(t, async (request) => {
    request.signal.addEventListener('abort', () => {
      aborted = true;
    });
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new TextEncoder().encode('first')),
      cancel: () => {
        cancelled = true;
      },
    });
    return new Response(body);
  });
  const leaving = new AbortController();
  const answer = await fetch(url, { signal: leaving.signal });
  const read = await answer.body?.getReader().read();
  assert.equal(new TextDecoder().decode(read?.value), 'first');
  leaving.abort();
  while (!cancelled || !aborted) await wait(5);
  assert.deepEqual(faults, []);
});

test('an error of the handler is logged; the caller gets 500, or a broken connection if the response has begun', async (t) => {
  let begun = false;
  const { url, faults } = await open(t, async () => {
    if (!begun) throw new Error('before');
    return new Response(
      new ReadableStream({
        start: (controller) => controller.enqueue(new TextEncoder().encode('begun')),
        pull: (controller) => controller.error(new Error('meanwhile')),
      }),
    );
  });
  assert.equal((await fetch(url)).status, 500);
  begun = true;
  await assert.rejects(fetch(url).then((answer) => answer.text()));
  assert.deepEqual(faults.map(String), ['Error: before', 'Error: meanwhile']);
});

test('a request that cannot become a Request object is answered 400 without an entry in the log', async (t) => {
  const { port, faults } = await open(t, async () => new Response('never'));
  for (const head of ['TRACE / HTTP/1.1\r\nHost: a', 'GET * HTTP/1.1\r\nHost: a', 'GET / HTTP/1.1\r\nHost: a:99999']) {
    const socket = connect(port, '127.0.0.1');
    socket.write(`${head}\r\nConnection: close\r\n\r\n`);
    let said = '';
    for await (const chunk of socket) said += String(chunk);
    assert.match(said, /^HTTP\/1\.1 400 /, head);
  }
  assert.deepEqual(faults, []);
});

test('a client that disconnects before the response causes no error, and its response stream is cancelled', async (t) => {
  let cancelled = false;
  let hasCome = false;
  const { url, faults } = await open(t, async (request) => {
    hasCome = true;
    await new Promise((resolve) => request.signal.addEventListener('abort', resolve));
    return new Response(
      new ReadableStream({
        cancel: () => {
          cancelled = true;
        },
      }),
    );
  });
  const leaving = new AbortController();
  const asked = fetch(url, { signal: leaving.signal });
  await until(() => hasCome);
  leaving.abort();
  await assert.rejects(asked);
  await until(() => cancelled);
  assert.deepEqual(faults, []);
});

test("a request body that the handler does not read does not block the connection's next request", async (t) => {
  const { port } = await open(t, async () => new Response('refused', { status: 401 }));
  const socket = connect(port, '127.0.0.1');
  const body = 'a'.repeat(3_000_000);
  socket.write(`POST / HTTP/1.1\r\nHost: a\r\nContent-Length: ${body.length}\r\n\r\n${body}`);
  socket.write('GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
  let said = '';
  for await (const chunk of socket) said += String(chunk);
  assert.equal(said.match(/HTTP\/1\.1 401 /g)?.length, 2);
});
