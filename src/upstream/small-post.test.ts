import assert from 'node:assert/strict';
import { createServer, type RequestListener } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { type TestContext, test } from 'node:test';
import { createSmallPost, type SmallPost } from './small-post.ts';

async function startServer(t: TestContext, answer: RequestListener, onConnect?: () => void): Promise<number> {
  const server = createServer(answer);
  server.on('connect', (request, socket) => {
    onConnect?.();
    const [host = '', port] = (request.url ?? '').split(':');
    const target = connect(Number(port), host, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(target).pipe(socket);
    });
    target.on('error', () => socket.destroy());
    socket.on('error', () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

function start(t: TestContext, ...settings: Parameters<typeof createSmallPost>): SmallPost {
  const small = createSmallPost(...settings);
  t.after(() => small.close());
  return small;
}

test('posts a text with headers, and returns status and text', async (t) => {
  const port = await startServer(t, async (request, response) => {
    const chunks = await Array.fromAsync<Buffer>(request);
    const said = `${request.method} ${request.url} ${request.headers['x-a']} ${Buffer.concat(chunks)}`;
    response.writeHead(418).end(said);
  });
  const { post } = start(t);
  for (let i = 0; i < 3; i += 1) {
    const answer = await post(`http://127.0.0.1:${port}/token?x=1`, ['x-a', 'b'], 'grant=ü');
    assert.deepEqual(answer, { status: 418, body: 'POST /token?x=1 b grant=ü' });
  }
});

test('follows no redirect', async (t) => {
  let calls = 0;
  const port = await startServer(t, (_request, response) => {
    calls += 1;
    response.writeHead(307, { location: '/elsewhere' }).end();
  });
  assert.equal((await start(t).post(`http://127.0.0.1:${port}/`, [], '')).status, 307);
  assert.equal(calls, 1);
});

test('gives up a response that is missing, incomplete, endless or too long', async (t) => {
  const rows: Readonly<Record<string, RequestListener>> = {
    'says nothing': () => {},
    'does not end': (_request, response) => void response.writeHead(200).write('{'),
    'is too long': (_request, response) => void response.end('x'.repeat(300 * 1024)),
    'breaks off': (_request, response) => {
      response.writeHead(200, { 'content-length': '9' }).write('{', () => response.destroy());
    },
  };
  const { post } = start(t, undefined, 300);
  for (const [what, answer] of Object.entries(rows)) {
    const port = await startServer(t, answer);
    await assert.rejects(post(`http://127.0.0.1:${port}/`, [], ''), Error, what);
  }
});

test('rejects if nothing listens at the address', async (t) => {
  await assert.rejects(start(t).post('http://127.0.0.1:1/', [], ''), /ECONNREFUSED|closed/);
});

test('uses the proxy configured for the address', async (t) => {
  let tunnels = 0;
  const port = await startServer(t, (_request, response) => void response.end('ok'));
  const proxyPort = await startServer(
    t,
    (_request, response) => void response.writeHead(500).end(),
    () => {
      tunnels += 1;
    },
  );
  const { post } = start(t, () => ({
    secure: false,
    hostname: '127.0.0.1',
    port: proxyPort,
    authorization: undefined,
  }));
  assert.deepEqual(await post(`http://127.0.0.1:${port}/`, [], ''), { status: 200, body: 'ok' });
  assert.equal(tunnels, 1);
});
