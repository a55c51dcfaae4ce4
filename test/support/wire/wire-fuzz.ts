/** Random request streams made of grammar parts, some unusual, and some with changed bytes. */

import { pick, type Random } from '../../chaos/support/hostile/request-draft.ts';

const methods = ['GET', 'POST', 'POST', 'PUT', 'HEAD', 'OPTIONS', 'DELETE', 'TRACE'] as const;
const targets = [
  '/',
  '/a',
  '/a?b=c',
  '/v1/embeddings',
  '/a%20b',
  '/a/../b',
  '/a#b',
  '/?',
  "/!$&'()*+,;=:@~",
  '/a"<>\\^`{|}',
  '//a',
] as const;
const versions = ['HTTP/1.1', 'HTTP/1.1', 'HTTP/1.1', 'HTTP/1.0', 'HTTP/1.0\r\nConnection: keep-alive'] as const;
const hosts = ['Host: a', 'host:a:80', 'HOST: \t[::1]:8080 ', 'Host: a.b-c.example'] as const;
const fields = [
  ...([
    'X: y',
    'X:',
    'x:\t y \t',
    'X: \xe4\xff',
    `X-Long: ${'z'.repeat(100)}`,
    "!#$%&'*+-.^_`|~0: y",
    'Accept: a, b;q=0.1',
    'Cookie: a="b"',
  ] as const),
  ...([
    'Connection: keep-alive',
    'Connection: close',
    'Connection: x, Keep-Alive',
    'Upgrade: h2c',
    'TE: trailers',
    'Expect: 100-continue',
  ] as const),
  ...([
    'Content-Type: a/b',
    'Authorization: b',
    'User-Agent: x (y; z)',
    'Trailer: X',
    'Keep-Alive: timeout=1',
  ] as const),
] as const;
const extensions = ['', '', '', ';a', ';a=b', ';a="b;c\\""', ';a=b;c', ';a-b="\xe4"'] as const;
const trailers = ['', '', '', 'X: y\r\n', 'X:\r\ny: z \r\n', 'Digest: a=b\r\n'] as const;

/** What would change the reading of whatever it stands in. */
const morsels = [
  '\r',
  ...'\n\0\t :;,="/?#\\()[]{}0129aAfFgxX-+_.%\x01\x0b\x0c\x1f\x7f\x80\x85\xa0\xff',
  ...[
    '\r\n',
    '\n\r',
    '\r\r\n',
    '\r\n\r\n',
    '\n\n',
    '\r\n ',
    '\r\n\t',
    ' \r\n',
    '\t\r\n',
    '0\r\n\r\n',
    '0\r\n',
    '2\r\nok\r\n',
    '; a = b',
    ';a="',
    'ffffffff',
  ],
  ...[
    'Content-Length: 5\r\n',
    'Content-Length: 0\r\n',
    'content-length:05\r\n',
    'Content-Length: 5, 5\r\n',
    'Transfer-Encoding: chunked\r\n',
    'Transfer-Encoding: \tchunked\t\r\n',
  ],
  ...[
    'transfer-encoding: identity\r\n',
    'Transfer-Encoding: gzip, chunked\r\n',
    'Host: b\r\n',
    'Connection: close\r\n',
    'Connection: content-length\r\n',
    'Proxy-Connection: close\r\n',
  ],
  ...[
    'Expect: 100-continue\r\n',
    'Upgrade: websocket\r\nConnection: Upgrade\r\n',
    'GET / HTTP/1.1\r\nHost: a\r\n\r\n',
    ' HTTP/1.1',
    ' HTTP/1.0',
    'HTTP/1.1 200 OK\r\n',
    'http://a/',
    '*',
  ],
] as const;

function some<Value>(values: readonly Value[], share: number, random: Random): Value[] {
  return values.filter(() => random() < share);
}

function bodyText(random: Random): string {
  const length = random() < 0.3 ? 0 : Math.floor(random() * 40);
  return Array.from({ length }, () =>
    pick(['a', '0', '\r', '\n', '\r\n', ' ', '\0', '\xff', 'GET / HTTP/1.1\r\n'], random),
  ).join('');
}

function inChunks(body: string, random: Random): string {
  let text = '';
  for (let at = 0; at < body.length; ) {
    const size = 1 + Math.floor(random() * (body.length - at));
    const digits = size.toString(16).padStart(random() < 0.2 ? 1 + Math.floor(random() * 8) : 1, '0');
    const shown = random() < 0.3 ? digits.toUpperCase() : digits;
    text += `${shown}${pick(extensions, random)}\r\n${body.slice(at, at + size)}\r\n`;
    at += size;
  }
  return `${text}${pick(['0', '0', '000'], random)}${pick(extensions, random)}\r\n${pick(trailers, random)}\r\n`;
}

function wellFormed(random: Random): string {
  const body = bodyText(random);
  const version = pick(versions, random);
  const isOld = version.startsWith('HTTP/1.0');
  const manner = random();
  const isChunked = !isOld && manner < 0.45;
  const framing = isChunked ? ['Transfer-Encoding: chunked'] : manner < 0.85 ? [`Content-Length: ${body.length}`] : [];
  const lines = [pick(hosts, random), ...some(fields, 0.12, random), ...framing];
  for (let at = lines.length - 1; at > 0; at -= 1) {
    const other = Math.floor(random() * (at + 1));
    [lines[at], lines[other]] = [lines[other] ?? '', lines[at] ?? ''];
  }
  const content = isChunked ? inChunks(body, random) : framing.length === 0 ? '' : body;
  return `${pick(methods, random)} ${pick(targets, random)} ${version}\r\n${lines.join('\r\n')}\r\n\r\n${content}`;
}

/** With a few bytes changed. */
export function spoil(text: string, random: Random): string {
  const at = Math.floor(random() * (text.length + 1));
  const length = 1 + Math.floor(random() * (random() < 0.8 ? 2 : 30));
  switch (Math.floor(random() * 6)) {
    case 0:
      return text.slice(0, at) + text.slice(at + length);
    case 1:
      return text.slice(0, at) + text.slice(at, at + length) + text.slice(at);
    case 2:
      return text.slice(0, at) + String.fromCharCode(Math.floor(random() * 256)) + text.slice(at + 1);
    case 3:
      return text.slice(0, at) + pick(morsels, random) + text.slice(at + length);
    case 4: {
      // At the beginning of a line, where most things that matter stand.
      const line = text.indexOf('\n', at) + 1;
      return text.slice(0, line) + pick(morsels, random) + text.slice(line);
    }
    default:
      return text.slice(0, at) + pick(morsels, random) + text.slice(at);
  }
}

/** One to three requests, a third of them well-formed. */
export function randomStream(random: Random): Buffer {
  let text = '';
  for (let more = random() < 0.5 ? 1 : 2 + Math.floor(random() * 2); more > 0; more -= 1) {
    text += (random() < 0.1 ? '\r\n' : '') + wellFormed(random);
  }
  for (let times = Math.floor(random() * 3); times > 0; times -= 1) text = spoil(text, random);
  return Buffer.from(text, 'latin1');
}

/** The same in two segments, or in many small ones. */
export function randomSplit(bytes: Buffer, random: Random): Buffer[] {
  const segments: Buffer[] = [];
  const most = random() < 0.5 ? bytes.length : 1 + Math.floor(random() * 8);
  for (let at = 0; at < bytes.length; ) {
    const end = Math.min(bytes.length, at + 1 + Math.floor(random() * most));
    segments.push(bytes.subarray(at, end));
    at = end;
  }
  return segments;
}
