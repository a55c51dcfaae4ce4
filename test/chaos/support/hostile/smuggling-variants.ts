/** Requests that two servers might parse as different numbers of requests, or with different boundaries. */

import { testKey } from '../../../support/gateways/rig.ts';
import { pick, type Random } from './request-draft.ts';

/** The marks of one case: of the odd request, of one behind it, and of the one hidden in the content of either. All text is Latin-1. */
interface Marks {
  readonly outer: string;
  readonly carrier: string;
  readonly inner: string;
}

export interface SmugglingVariant {
  readonly name: string;
  /** Where it is well-formed: the requests in it, and no others. */
  readonly holds?: readonly (keyof Marks)[];
  toText(marks: Marks, model: string): string;
}

const standardLine = 'POST /v1/embeddings HTTP/1.1';

const bodyOf = (mark: string, model: string): string => `{"model":"${model}","input":"${mark}"}`;

/** A request that carries its mark as its ID; `fields` frame the content. */
function marked(mark: string, fields: readonly string[], content: string, line = standardLine): string {
  const lines = [line, 'Host: a', `x-api-key: ${testKey}`, `X-Request-Id: ${mark}`, ...fields];
  return `${lines.join('\r\n')}\r\n\r\n${content}`;
}

/** Well-formed, and the last on its connection if `fields` close it. */
export function plain(mark: string, model: string, fields: readonly string[] = []): string {
  const body = bodyOf(mark, model);
  return marked(mark, [...fields, `Content-Length: ${body.length}`], body);
}

const chunk = (data: string): string => `${data.length.toString(16)}\r\n${data}\r\n`;
const ended = '0\r\n\r\n';
const chunked = 'Transfer-Encoding: chunked';

/** What may stand for `Transfer-Encoding: chunked`; a length for the whole content stands beside it. */
const codings = [
  chunked,
  'Transfer-Encoding:chunked',
  'Transfer-Encoding:\tchunked',
  'Transfer-Encoding:  chunked  ',
  'TRANSFER-ENCODING: CHUNKED',
  'Transfer-Encoding: xchunked',
  'Transfer-Encoding: chunkedx',
  'Transfer-Encoding: "chunked"',
  "Transfer-Encoding: 'chunked'",
  'Transfer-Encoding: chunked;q=1',
  'Transfer-Encoding: chunked,',
  'Transfer-Encoding: ,chunked',
  'Transfer-Encoding: chunked, identity',
  'Transfer-Encoding: identity, chunked',
  'Transfer-Encoding: gzip, chunked',
  'Transfer-Encoding: chunked, chunked',
  'Transfer-Encoding: \x0bchunked',
  'Transfer-Encoding: \x0cchunked',
  'Transfer-Encoding: chunked\x0b',
  'Transfer-Encoding: \x00chunked',
  'Transfer-Encoding: chu\x80nked',
  'Transfer-Encoding : chunked',
  'Transfer-Encoding\t: chunked',
  'Transfer-Encoding\x0b: chunked',
  'Transfer-Encoding\x00: chunked',
  'Transfer_Encoding: chunked',
  'Transfer Encoding: chunked',
  'Transfer-Encoding chunked',
  'Transfer-Encoding:\r\n chunked',
  'Transfer-Encoding:\r\n\tchunked',
  'X: y\r\n Transfer-Encoding: chunked',
  'X: y\nTransfer-Encoding: chunked',
  'X: y\rTransfer-Encoding: chunked',
  'X: y\r\r\nTransfer-Encoding: chunked',
  'X: y\n\rTransfer-Encoding: chunked',
  '\x0bTransfer-Encoding: chunked',
  'Transfer-Encoding: identity\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: identity',
  'Transfer-Encoding: chunked\r\nTransfer-encoding: x',
  'Transfer-Encoding: x\r\nTransfer-encoding: chunked',
  'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
  'Transfer-Encoding:\r\nTransfer-Encoding: chunked',
  'Content-Encoding: chunked',
  'Connection: Transfer-Encoding\r\nTransfer-Encoding: chunked',
  'Connection: close, transfer-encoding\r\nTransfer-Encoding: chunked',
  'TE: chunked',
  'Trailer: Content-Length\r\nTransfer-Encoding: chunked',
] as const;

/** What may stand for a Content-Length of `n` where the content goes on for `more`. */
const lengths: readonly ((n: number, more: number) => string)[] = [
  (n) => `Content-Length: 0${n}`,
  (n) => `Content-Length: +${n}`,
  (n) => `Content-Length: -${n}`,
  (n) => `Content-Length: \t ${n} \t`,
  (n) => `Content-Length: ${n}.0`,
  (n) => `Content-Length: ${n}e0`,
  (n) => `Content-Length: 0x${n.toString(16)}`,
  (n) => `Content-Length: ${n} 0`,
  (n) => `Content-Length: ${n};x`,
  (n) => `Content-Length: ${n}, ${n}`,
  (n, more) => `Content-Length: ${n}, ${n + more}`,
  (n, more) => `Content-Length: ${n + more},${n}`,
  (n) => `Content-Length: ${n}\r\nContent-Length: ${n}`,
  (n, more) => `Content-Length: ${n}\r\nContent-Length: ${n + more}`,
  (n, more) => `Content-Length: ${n + more}\r\nContent-Length: ${n}`,
  (n, more) => `Content-Length: ${n}\r\nContent_Length: ${n + more}`,
  (n, more) => `Content-Length: ${n}\r\ncontent-length : ${n + more}`,
  (n) => `Content-Length : ${n}`,
  (n) => `Content-Length\x00: ${n}`,
  (n) => `Content-Length:\r\n ${n}`,
  (n) => `Content-Length: ${n}\x0b`,
  (n) => `Content-Length: \x0b${n}`,
  (n) => `Content-Length: ${n}\x00`,
  (n) => `X: y\nContent-Length: ${n}`,
  (n) => `X: y\rContent-Length: ${n}`,
  (n, more) => `X: y\r\n Content-Length: ${n + more}\r\nContent-Length: ${n}`,
  (n) => `Connection: Content-Length\r\nContent-Length: ${n}`,
  (n) => `Connection: keep-alive, content-length\r\nContent-Length: ${n}`,
  (n) => `Content-Length: ${2n ** 64n + BigInt(n)}`,
  (n) => `Content-Length: ${2n ** 32n + BigInt(n)}`,
  () => 'Content-Length:',
  () => 'Content-Length: x',
  () => 'X-No-Length: 0',
  (n) => `Expect: 100-continue\r\nContent-Length: ${n}`,
  (n) => `Expect: x 100-continue\r\nContent-Length: ${n}`,
  (n) => `Expect: 100-continue, 100-continue\r\nContent-Length: ${n}`,
  (n) => `Expect:\r\n 100-continue\r\nContent-Length: ${n}`,
  (n) =>
    `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: ${n}`,
  (n) =>
    `Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\nContent-Length: ${n}`,
  (n) => `Host: b\r\nContent-Length: ${n}`,
  (n) => `hOSt : b\r\nContent-Length: ${n}`,
  (n) => `X: y\r\n folded\r\nContent-Length: ${n}`,
  (n) => `X:\r\n\tfolded\r\nContent-Length: ${n}`,
  (n) => `X : y\r\nContent-Length: ${n}`,
  (n) => `X-\x80: y\r\nContent-Length: ${n}`,
  (n) => `: y\r\nContent-Length: ${n}`,
  (n) => `X: a\x00b\r\nContent-Length: ${n}`,
  (n) => `X: ${'y'.repeat(20_000)}\r\nContent-Length: ${n}`,
  (n) => `Content-Length: ${n}\r\n\r`,
  (n) => `Keep-Alive: timeout=1\r\nProxy-Connection: keep-alive\r\nContent-Length: ${n}`,
];

/** How a body may be written in chunks; the hidden request follows. */
const chunkings: readonly ((body: string, size: string) => string)[] = [
  (body) => chunk(body) + ended,
  (body, size) => `${size};a=b\r\n${body}\r\n${ended}`,
  (body, size) => `${size} ;a=b\r\n${body}\r\n${ended}`,
  (body, size) => `${size};a="\\""\r\n${body}\r\n${ended}`,
  (body, size) => `${size};a\n${body}\r\n${ended}`,
  (body, size) => `${size};a\r${body}\r\n${ended}`,
  (body, size) => `${size};\x00\r\n${body}\r\n${ended}`,
  (body, size) => `${size};${'x'.repeat(20_000)}\r\n${body}\r\n${ended}`,
  (body, size) => `${size}\n${body}\n0\n\n`,
  (body, size) => `${size}\n${body}\r\n${ended}`,
  (body, size) => `${size}\r\n${body}\n${ended}`,
  (body, size) => `${size}\r\n${body}${ended}`,
  (body, size) => `${size}\r\n${body}\r\n\r\n${ended}`,
  (body, size) => `\r\n${size}\r\n${body}\r\n${ended}`,
  (body, size) => `0x${size}\r\n${body}\r\n${ended}`,
  (body, size) => `+${size}\r\n${body}\r\n${ended}`,
  (body, size) => ` ${size}\r\n${body}\r\n${ended}`,
  (body, size) => `${size} \r\n${body}\r\n${ended}`,
  (body, size) => `${size}\t\r\n${body}\r\n${ended}`,
  (body, size) => `00000000000000000000${size}\r\n${body}\r\n${ended}`,
  (body, size) => `1${size.padStart(16, '0')}\r\n${body}\r\n${ended}`,
  (body, size) => `${size}_0\r\n${body}\r\n${ended}`,
  (body, size) => `-${size}\r\n${body}\r\n${ended}`,
  (body) => `${chunk(body)}00000\r\n\r\n`,
  (body) => `${chunk(body)}0;last\r\n\r\n`,
  (body) => `${chunk(body)}0\n\n`,
  (body) => `${chunk(body)}0\r\n\n`,
  (body) => `${chunk(body)}0\r\n\r`,
  (body) => `${chunk(body)}0\r\n`,
  (body) => `${chunk(body)}0\r\nX: y\r\n`,
  (body) => `${chunk(body)}0\r\nX: y\r\n\r\n`,
  (body) => `${chunk(body)}0\r\nX: y\n\n`,
  (body) => `${chunk(body)}0\r\nContent-Length: 400\r\n\r\n`,
  (body) => `${chunk(body)}0\r\nTransfer-Encoding: chunked\r\nHost: b\r\n\r\n`,
  (body) => `${chunk(body)}0\r\nX-Request-Id: trailer\r\n\r\n`,
  (body) => `${chunk(body)}0\r\n folded\r\n\r\n`,
  (body) => [...body].map((byte) => chunk(byte)).join('') + ended,
];

/** The request line, in whatever form; a body of its length follows, and the hidden request behind that. */
const requestLines = [
  'POST http://a/v1/embeddings HTTP/1.1',
  'POST http://b/v1/embeddings HTTP/1.1',
  'POST https://a:443/v1/embeddings HTTP/1.1',
  'POST http://x@a/v1/embeddings HTTP/1.1',
  'POST //a/v1/embeddings HTTP/1.1',
  'POST /v1/../v1/embeddings HTTP/1.1',
  'POST /v1/%65mbeddings HTTP/1.1',
  'POST /v1/embeddings#x HTTP/1.1',
  'POST /v1/embeddings? HTTP/1.1 HTTP/1.1',
  'POST  /v1/embeddings HTTP/1.1',
  'POST\t/v1/embeddings\tHTTP/1.1',
  'POST /v1/embeddings HTTP/1.1 ',
  ' POST /v1/embeddings HTTP/1.1',
  '\nPOST /v1/embeddings HTTP/1.1',
  '\r\n\r\nPOST /v1/embeddings HTTP/1.1',
  'POST /v1/embeddings HTTP/1.1\nX: y',
  'POST /v1/embeddings HTTP/1.0',
  'POST /v1/embeddings HTTP/1.0\r\nConnection: keep-alive',
  'POST /v1/embeddings HTTP/1.2',
  'POST /v1/embeddings HTTP/2.0',
  'POST /v1/embeddings http/1.1',
  'POST /v1/embeddings HTTP/1.10',
  'POST /v1/embeddings',
  'post /v1/embeddings HTTP/1.1',
  'GET /v1/models HTTP/1.1',
  'GET /v1/models HTTP/1.0\r\nConnection: keep-alive',
  'GET /v1/embeddings HTTP/1.1',
  'POST /nowhere HTTP/1.1',
  'POST /v1/embeddings HTTP/1.1\r\nContent-Type: text/plain',
  'POST /v1/embeddings HTTP/1.1\r\nContent-Encoding: gzip',
  'POST /v1/embeddings HTTP/1.1\r\nExpect: 100-continue',
  'POST /nowhere HTTP/1.1\r\nExpect: 100-continue',
  'GET /v1/models HTTP/1.1\r\nExpect: 100-continue',
  'PUT /v1/embeddings HTTP/1.1',
  'OPTIONS * HTTP/1.1',
  'TRACE /v1/embeddings HTTP/1.1',
  'CONNECT a:80 HTTP/1.1',
] as const;

const named = (name: string, text: string): string => {
  const shown = JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}...` : text);
  return `${name} ${shown}`;
};

/** The hidden request as the content, as far as a length goes, and as what follows the chunks. */
const withCoding = (coding: string): SmugglingVariant[] => [
  {
    name: named('a length for all, and', coding),
    toText: ({ outer, inner }, model) => {
      const content = ended + plain(inner, model);
      return marked(outer, [`Content-Length: ${content.length}`, coding], content);
    },
  },
  {
    name: named('a length for the size line, behind', coding),
    toText: ({ outer, inner }, model) => {
      const content = chunk(plain(inner, model)) + ended;
      return marked(outer, [coding, `Content-Length: ${content.indexOf('\n') + 1}`], content);
    },
  },
  {
    name: named('no length, but', coding),
    toText: ({ outer, inner }, model) =>
      marked(outer, [coding], chunk(bodyOf(outer, model)) + ended + plain(inner, model)),
  },
];

const withLength = (write: (n: number, more: number) => string): SmugglingVariant => ({
  name: named('the field', write(36, 200)),
  toText: ({ outer, inner }, model) => {
    const body = bodyOf(outer, model);
    const hidden = plain(inner, model);
    return marked(outer, [write(body.length, hidden.length)], body + hidden);
  },
});

const withChunking = (write: (body: string, size: string) => string): SmugglingVariant => ({
  name: named('the chunks', write('{}', '2')),
  toText: ({ outer, inner }, model) => {
    const body = bodyOf(outer, model);
    return marked(outer, [chunked], write(body, body.length.toString(16)) + plain(inner, model));
  },
});

const withLine = (line: string): SmugglingVariant[] => [
  {
    name: named('the line', line),
    toText: ({ outer, inner }, model) => {
      const body = bodyOf(outer, model);
      return marked(outer, [`Content-Length: ${body.length}`], body + plain(inner, model), line);
    },
  },
  {
    name: named('a request as the body behind the line', line),
    toText: ({ outer, inner }, model) => {
      const content = plain(inner, model);
      return marked(outer, [`Content-Length: ${content.length}`], content, line);
    },
  },
  {
    name: named('chunks behind the line', line),
    toText: ({ outer, inner }, model) =>
      marked(outer, [chunked], chunk(bodyOf(outer, model)) + ended + plain(inner, model), line),
  },
];

const lineEnds: readonly SmugglingVariant[] = ['\n', '\r', '\n\r', '\r\r\n'].map((end) => ({
  name: named('lines that end in', end),
  toText: ({ outer, inner }, model) => plain(outer, model).replaceAll('\r\n', end) + plain(inner, model),
}));

const upgrades = [
  ['Connection: Upgrade', 'Upgrade: websocket', 'Sec-WebSocket-Version: 13', 'Sec-WebSocket-Key: eA=='],
  ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAAP__'],
] as const;

/** There is one way to read these. */
export const wellFormedVariants: readonly SmugglingVariant[] = [
  {
    name: 'nothing odd',
    holds: ['outer', 'inner'],
    toText: ({ outer, inner }, model) => plain(outer, model) + plain(inner, model),
  },
  ...upgrades.flatMap((fields): SmugglingVariant[] => [
    {
      name: named('a request behind one with', fields.join(', ')),
      holds: ['outer', 'inner'],
      toText: ({ outer, inner }, model) => plain(outer, model, fields) + plain(inner, model),
    },
    {
      name: named('a request as the body of one behind one with', fields.join(', ')),
      holds: ['outer', 'carrier'],
      toText: ({ outer, carrier, inner }, model) => {
        const hidden = plain(inner, model);
        return plain(outer, model, fields) + marked(carrier, [`Content-Length: ${hidden.length}`], hidden);
      },
    },
  ]),
  ...[standardLine, 'POST /nowhere HTTP/1.1', 'GET /v1/models HTTP/1.1', 'PUT /v1/embeddings HTTP/1.1'].flatMap(
    (line): SmugglingVariant[] => [
      {
        name: named('a request as the body behind', line),
        holds: ['outer'],
        toText: ({ outer, inner }, model) => {
          const hidden = plain(inner, model);
          return marked(outer, [`Content-Length: ${hidden.length}`], hidden, line);
        },
      },
      {
        name: named('a request as a chunk behind', line),
        holds: ['outer'],
        toText: ({ outer, inner }, model) => marked(outer, [chunked], chunk(plain(inner, model)) + ended, line),
      },
    ],
  ),
  ...['', ';a=b', ';a="b;c"'].map(
    (extension): SmugglingVariant => ({
      name: named('a request behind chunks with trailers and', extension),
      holds: ['outer', 'inner'],
      toText: ({ outer, inner }, model) => {
        const body = bodyOf(outer, model);
        const chunks = `${body.length.toString(16)}${extension}\r\n${body}\r\n0${extension}\r\nX: y\r\n\r\n`;
        return marked(outer, [chunked], chunks) + plain(inner, model);
      },
    }),
  ),
  {
    name: 'a request behind one in HTTP/1.0 that keeps the connection',
    holds: ['outer', 'inner'],
    toText: ({ outer, inner }, model) => {
      const body = bodyOf(outer, model);
      const fields = ['Connection: keep-alive', `Content-Length: ${body.length}`];
      return marked(outer, fields, body, 'POST /v1/embeddings HTTP/1.0') + plain(inner, model);
    },
  },
];

export const oddVariants: readonly SmugglingVariant[] = [
  ...codings.flatMap(withCoding),
  ...lengths.map(withLength),
  ...chunkings.map(withChunking),
  ...requestLines.flatMap(withLine),
  ...lineEnds,
];

/** Two or three oddities at once. */
export function randomVariant(random: Random): SmugglingVariant {
  const coding = pick(codings, random);
  const length = pick([(n: number) => `Content-Length: ${n}`, ...lengths], random);
  const chunking = pick([(body: string) => chunk(body) + ended, ...chunkings], random);
  const line = random() < 0.5 ? standardLine : pick(requestLines, random);
  const manner = Math.floor(random() * 3);
  const beforeLength = random() < 0.5;
  return {
    name: named('several at once:', [line, coding, length(36, 200), chunking('{}', '2')].join(' + ')),
    toText: ({ outer, inner }, model) => {
      const body = bodyOf(outer, model);
      const hidden = plain(inner, model);
      const inChunks = chunking(body, body.length.toString(16));
      if (manner === 0) return marked(outer, [length(body.length, hidden.length)], body + hidden, line);
      if (manner === 1) return marked(outer, [coding], inChunks + hidden, line);
      const field = length(inChunks.length, hidden.length);
      return marked(outer, beforeLength ? [coding, field] : [field, coding], inChunks + hidden, line);
    },
  };
}
