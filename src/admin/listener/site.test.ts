/** The console's files as browsers get them: compressed, cached, and under a strict policy. */

import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { createSite } from './site.ts';

const built = {
  'index.html': '<meta content="__NONCE__"><title>Postern</title>',
  'favicon.svg': '<svg/>',
  'assets/app-1a2b.js': 'let a = 1;',
  'assets/app-1a2b.js.br': 'brotli',
  'assets/app-1a2b.js.gz': 'gzip',
  'assets/tiny-3c4d.css': 'a{}',
  '.built-from': 'a digest',
};

async function openSite(t: TestContext, files: Readonly<Record<string, string>> = built) {
  const above = await mkdtemp(join(tmpdir(), 'postern-site-'));
  t.after(() => rm(above, { recursive: true, force: true }));
  const directory = join(above, 'dist');
  await writeFile(join(above, 'secret.txt'), 'secret');
  const write = async (all: Readonly<Record<string, string>>): Promise<void> => {
    for (const [name, text] of Object.entries(all)) {
      await mkdir(dirname(join(directory, name)), { recursive: true });
      await writeFile(join(directory, name), text);
    }
  };
  await write(files);
  let given = 0;
  const site = createSite({ directory, nonce: () => `nonce-${++given}` });
  const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
    site.find(new Request(`http://127.0.0.1:4001${path}`, { method, headers }));
  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const response = await ask(path, headers, method);
    assert.ok(response, `${path} was found`);
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { get, ask, directory, write };
}

const page = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

test('every page path of the console serves the page, with a new CSP nonce each time', async (t) => {
  const { get } = await openSite(t);
  for (const path of ['/', '/models', '/models/gpt-4.1', '/models/BAAI%2Fbge-m3', '/nowhere?a=b']) {
    const { status, headers, text } = await get(path, page);
    assert.equal(status, 200, path);
    assert.equal(headers.get('content-type'), 'text/html; charset=utf-8');
    assert.equal(headers.get('cache-control'), 'no-store');
    const nonce = /content="([^"]+)"/.exec(text)?.[1] ?? '';
    assert.match(nonce, /^nonce-\d+$/);
    const policy = headers.get('content-security-policy') ?? '';
    assert.ok(policy.includes(`style-src 'self' 'nonce-${nonce}'`), policy);
    assert.doesNotMatch(policy, /unsafe|\*|https?:/);
    for (const rule of [
      "default-src 'none'",
      "script-src 'self'",
      'media-src blob:',
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]) {
      assert.ok(policy.split('; ').includes(rule), rule);
    }
  }
  assert.equal((await get('/')).status, 200, 'for any client');
  assert.notEqual((await get('/', page)).text, (await get('/', page)).text, 'a nonce is used once');
});

test('console files with a hash in their name are cached for good, compressed as the browser accepts', async (t) => {
  const { get } = await openSite(t);
  const rows: [accepted: string | undefined, coding: string | null, text: string][] = [
    ['gzip, deflate, br, zstd', 'br', 'brotli'],
    ['gzip, br;q=0', 'gzip', 'gzip'],
    ['GZIP', 'gzip', 'gzip'],
    ['identity', null, 'let a = 1;'],
    [undefined, null, 'let a = 1;'],
  ];
  const etags = new Set<string | null>();
  for (const [accepted, coding, text] of rows) {
    const found = await get('/assets/app-1a2b.js', accepted === undefined ? {} : { 'accept-encoding': accepted });
    assert.deepEqual(
      [found.status, found.headers.get('content-encoding'), found.text],
      [200, coding, text],
      accepted ?? 'none',
    );
    assert.equal(found.headers.get('cache-control'), 'public, max-age=31536000, immutable');
    assert.equal(found.headers.get('content-type'), 'text/javascript; charset=utf-8');
    assert.equal(found.headers.get('vary'), 'accept-encoding');
    etags.add(found.headers.get('etag'));
  }
  assert.equal(etags.size, 3, 'one for each form');
  const plain = await get('/assets/tiny-3c4d.css', { 'accept-encoding': 'br' });
  assert.deepEqual([plain.headers.get('content-encoding'), plain.text], [null, 'a{}']);
  assert.equal((await get('/favicon.svg')).headers.get('cache-control'), 'no-cache');
});

test('answers 304 for a console file that the browser has cached', async (t) => {
  const { get } = await openSite(t);
  const etag = (await get('/favicon.svg')).headers.get('etag') ?? '';
  const again = await get('/favicon.svg', { 'if-none-match': `"other", W/${etag}` });
  assert.deepEqual([again.status, again.text, again.headers.get('etag')], [304, '', etag]);
  assert.equal((await get('/favicon.svg', { 'if-none-match': '"other"' })).status, 200);
});

test('HEAD for a console file returns the headers of GET without the body', async (t) => {
  const { get } = await openSite(t);
  for (const path of ['/', '/assets/app-1a2b.js']) {
    const [head, whole] = [await get(path, page, 'HEAD'), await get(path, page)];
    assert.equal(head.text, '');
    assert.equal(head.headers.get('content-length'), String(Buffer.byteLength(whole.text)));
    assert.equal(head.headers.get('content-type'), whole.headers.get('content-type'));
  }
});

test('leaves paths that are neither a console page nor a built file to other handlers', async (t) => {
  const { ask } = await openSite(t);
  const missing: readonly (readonly [path: string, headers: Record<string, string>])[] = [
    ['/assets/gone-9z9z.js', { accept: '*/*' }],
    ['/assets/gone-9z9z.js', page],
    ['/logo.png', { accept: 'image/*,*/*;q=0.8' }],
    ['/models', { accept: 'application/json' }],
    ['/models', { accept: '*/*' }],
    ['/v1/models', page],
    ['/api', page],
    ['/api/session', page],
    ['/.built-from', { accept: '*/*' }],
    ['/assets/app-1a2b.js.br', { accept: '*/*' }],
    ['/../secret.txt', { accept: '*/*' }],
    ['/%2e%2e/secret.txt', { accept: '*/*' }],
    ['/..%2fsecret.txt', { accept: '*/*' }],
    ['/assets/..%2f..%2f..%2fsecret.txt', page],
    ['/assets/%2e%2e%5c..%5csecret.txt', page],
    ['//secret.txt', { accept: '*/*' }],
  ];
  for (const [path, headers] of missing) assert.equal(await ask(path, headers), undefined, path);
  for (const method of ['POST', 'PUT', 'DELETE', 'OPTIONS']) assert.equal(await ask('/', page, method), undefined);
});

test("serves a new build of the console at once, and keeps the previous build's files for open tabs", async (t) => {
  const { get, write, directory } = await openSite(t);
  assert.match((await get('/', page)).text, /Postern/);
  await rm(directory, { recursive: true });
  await write({ 'index.html': 'the new one', 'assets/app-new.js': 'let b;' });
  const later = new Date(Date.now() + 5_000);
  await utimes(join(directory, 'index.html'), later, later);
  assert.equal((await get('/', page)).text, 'the new one');
  assert.equal((await get('/assets/app-new.js')).text, 'let b;');
  assert.equal((await get('/assets/app-1a2b.js')).text, 'let a = 1;');
});

test('without a build of the console, a page explains how to make one', async (t) => {
  const { get, ask } = await openSite(t, {});
  const { status, headers, text } = await get('/models', page);
  assert.deepEqual([status, headers.get('cache-control')], [503, 'no-store']);
  assert.match(text, /npm run build:console/);
  assert.match(headers.get('content-security-policy') ?? '', /default-src 'none'/);
  assert.equal(await ask('/assets/app-1a2b.js'), undefined);
});
