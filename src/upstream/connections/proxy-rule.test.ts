import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createProxyRule } from './proxy-rule.ts';

const proxy = 'http://proxy.corp:3128';

/** Which of these origins use the proxy. */
function proxied(noProxy: string, origins: readonly string[]): string[] {
  const rule = createProxyRule({ HTTPS_PROXY: proxy, http_proxy: proxy, NO_PROXY: noProxy });
  return origins.filter((origin) => rule(origin) !== undefined);
}

test('without a proxy in the environment all origins are reached directly', () => {
  for (const env of [{}, { HTTPS_PROXY: '' }, { https_proxy: '', HTTPS_PROXY: undefined }]) {
    assert.equal(createProxyRule(env)('https://api.openai.com'), undefined);
  }
});

test('a proxy has a type, host, port and credential', () => {
  const read = (text: string) => createProxyRule({ HTTPS_PROXY: text })('https://api.openai.com');
  const plain = { secure: false, hostname: 'proxy.corp', port: 3128, authorization: undefined };
  assert.deepEqual(read('http://proxy.corp:3128'), plain);
  assert.deepEqual(read('proxy.corp:3128'), plain);
  assert.deepEqual(read('HTTP://Proxy.Corp:3128/'), plain);
  assert.deepEqual(read('http://proxy.corp'), { ...plain, port: 80 });
  assert.deepEqual(read('https://proxy.corp'), { ...plain, secure: true, port: 443 });
  assert.deepEqual(read('http://[fd00::1]:8080'), { ...plain, hostname: 'fd00::1', port: 8080 });
  const authorization = `Basic ${Buffer.from('us:er:päss@word').toString('base64')}`;
  assert.deepEqual(read('http://us%3Aer:p%C3%A4ss%40word@proxy.corp:3128'), { ...plain, authorization });
  assert.equal(read('user@proxy.corp')?.authorization, `Basic ${Buffer.from('user:').toString('base64')}`);
});

test('http and https URLs each have their proxy variable, and the lower-case name has precedence', () => {
  const host = (env: Record<string, string>, origin: string) => createProxyRule(env)(origin)?.hostname;
  const all = { HTTPS_PROXY: 'http://upper', https_proxy: 'http://lower', HTTP_PROXY: 'http://cgi' };
  assert.equal(host(all, 'https://a.test'), 'lower');
  assert.equal(host({ ...all, https_proxy: '' }, 'https://a.test'), 'upper');
  assert.equal(host(all, 'http://a.test'), undefined);
  assert.equal(host({ ...all, http_proxy: 'http://plain' }, 'http://a.test'), 'plain');
  assert.equal(host({ https_proxy: 'p', no_proxy: 'a.test', NO_PROXY: '*' }, 'https://b.test'), 'p');
});

test('an invalid proxy URL is refused without repeating it', () => {
  const secret = 'hunter2';
  for (const [text, message] of [
    [`http://user:${secret}@:3128`, /^HTTPS_PROXY .* is not the URL of a proxy; write /],
    [`http://user:${secret}@proxy:port`, /^HTTPS_PROXY .* is not the URL of a proxy; write /],
    [`socks5://user:${secret}@proxy:1080`, /^HTTPS_PROXY .* only http:\/\/ and https:\/\/ proxies can be used\.$/],
    [`http://user:${secret}%@proxy:3128`, /^The user or password in HTTPS_PROXY .* write a plain % as %25\.$/],
  ] as const) {
    assert.throws(
      () => createProxyRule({ HTTPS_PROXY: text }),
      (error) => error instanceof Error && message.test(error.message) && !error.message.includes(secret),
      text,
    );
  }
});

test('a no_proxy name excludes itself and its subdomains, or with a leading dot the subdomains only', () => {
  const origins = ['https://example.com', 'https://a.example.com', 'https://a.b.example.com', 'https://anexample.com'];
  const [apex, , , other] = origins;
  assert.deepEqual(proxied('example.com', origins), [other]);
  assert.deepEqual(proxied('EXAMPLE.com.', origins), [other]);
  assert.deepEqual(proxied('.example.com', origins), [apex, other]);
  assert.deepEqual(proxied('*.example.com', origins), [apex, other]);
  assert.deepEqual(proxied('a.example.com', ['https://A.example.com.', 'https://ba.example.com']), [
    'https://ba.example.com',
  ]);
  assert.deepEqual(proxied('bücher.example', ['https://bücher.example', 'https://shop.xn--bcher-kva.example']), []);
});

test('a no_proxy entry with a port applies to that port only, also if it is the default port', () => {
  const origins = ['https://a.test', 'https://a.test:8443', 'http://a.test', 'http://a.test:443'];
  assert.deepEqual(proxied('a.test:443', origins), ['https://a.test:8443', 'http://a.test']);
  assert.deepEqual(proxied('a.test:80', origins), ['https://a.test', 'https://a.test:8443', 'http://a.test:443']);
  assert.deepEqual(proxied('10.0.0.1:8443,[fd00::1]:8443', ['https://10.0.0.1:8443', 'https://[fd00::1]:8443']), []);
  assert.deepEqual(proxied('10.0.0.1:8443,[fd00::1]:8443', ['https://10.0.0.1', 'https://[fd00::1]']), [
    'https://10.0.0.1',
    'https://[fd00::1]',
  ]);
});

test("no_proxy excludes IP addresses by address or range in any notation, never by a name's suffix", () => {
  assert.deepEqual(proxied('10.0.0.0/8', ['https://10.9.8.7', 'https://11.0.0.1', 'https://10.example.com']), [
    'https://11.0.0.1',
    'https://10.example.com',
  ]);
  assert.deepEqual(proxied('192.168.1.5', ['https://192.168.1.5', 'https://192.168.1.50']), ['https://192.168.1.50']);
  assert.deepEqual(proxied('fd00:0::/8,::2', ['https://[fd12::9]', 'https://[0:0::2]', 'https://[fe00::1]']), [
    'https://[fe00::1]',
  ]);
  assert.deepEqual(proxied('[fd00::1]', ['https://[fd00:0:0::1]']), []);
  assert.deepEqual(proxied('1.5', ['https://192.168.1.5']), ['https://192.168.1.5']);
});

test('a star in no_proxy excludes everything, and commas or white space separate entries', () => {
  assert.deepEqual(proxied('*', ['https://a.test', 'http://10.0.0.1']), []);
  assert.deepEqual(proxied('x.test, *', ['https://a.test']), []);
  assert.deepEqual(proxied(' a.test\tb.test ,,c.test ', ['https://a.test', 'http://b.test', 'https://c.test']), []);
});

test('an invalid no_proxy entry excludes nothing', () => {
  assert.deepEqual(proxied('10.0.0.0/33,.,:443,[::,http://a.test', ['https://a.test', 'https://10.0.0.1']), [
    'https://a.test',
    'https://10.0.0.1',
  ]);
});

test('this machine is never reached through a proxy', () => {
  const local = [
    'https://localhost',
    'http://LOCALHOST:8080',
    'https://127.0.0.1',
    'http://127.9.9.9',
    'http://[::1]:80',
    'unix:/run/x.sock:',
  ];
  assert.deepEqual(proxied('', local), []);
  assert.deepEqual(proxied('', ['https://localhost.example.com']), ['https://localhost.example.com']);
});
