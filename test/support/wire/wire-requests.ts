/** Valid and invalid requests, following the grammar of RFC 9110 and 9112. All text is Latin-1: a character is a byte. */

import { malformedRequests } from '../clients/malformed-requests.ts';
import { table } from './wire-rows.ts';

export interface WireCase {
  readonly name: string;
  readonly bytes: Buffer;
}

const line = 'POST /a HTTP/1.1';
const host = 'Host: a';
const chunked = 'Transfer-Encoding: chunked';
const next = 'GET /next HTTP/1.1\r\nHost: b\r\n\r\n';

const shown = (text: string): string => JSON.stringify(text.length > 60 ? `${text.slice(0, 60)}…` : text);
const toCase = (name: string, text: string): WireCase => ({ name, bytes: Buffer.from(text, 'latin1') });
const head = (...lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;

/** Each with a body of a length, and another request behind it. */
const requestLines = [
  ...table(String.raw`
  GET /a HTTP/1.1¦POST /a HTTP/1.1¦PUT /a HTTP/1.1¦PATCH /a HTTP/1.1¦DELETE /a HTTP/1.1¦OPTIONS /a HTTP/1.1
  HEAD /a HTTP/1.1¦TRACE /a HTTP/1.1¦QUERY /a HTTP/1.1¦M-SEARCH /a HTTP/1.1¦PROPFIND /a HTTP/1.1
  CONNECT /a HTTP/1.1¦get /a HTTP/1.1¦FOO /a HTTP/1.1¦!#$%&'*+-.^_\x60|~ /a HTTP/1.1¦POST1 /a HTTP/1.1
  P( /a HTTP/1.1¦PO,ST /a HTTP/1.1¦P\x7fST /a HTTP/1.1¦PRI /a HTTP/1.1¦SOURCE /a HTTP/1.1¦\x20/a HTTP/1.1
  POST / HTTP/1.1¦POST /? HTTP/1.1¦POST /a?b=c&d HTTP/1.1¦POST /a%20b HTTP/1.1¦POST /a%zz HTTP/1.1
  POST /% HTTP/1.1¦POST /a/../b HTTP/1.1¦POST /a/./b HTTP/1.1¦POST /a//b HTTP/1.1¦POST /a;b=c HTTP/1.1
  POST /a,b HTTP/1.1¦POST /a'b HTTP/1.1¦POST /a(b) HTTP/1.1¦POST /a:b HTTP/1.1¦POST /a@b HTTP/1.1
  POST /a#b HTTP/1.1¦POST /a?#b HTTP/1.1¦POST /a?b#c?d HTTP/1.1¦POST /a"b HTTP/1.1¦POST /a<b> HTTP/1.1
  POST /a[b] HTTP/1.1¦POST /a\x5cb HTTP/1.1¦POST /a^b HTTP/1.1¦POST /a\x60b HTTP/1.1¦POST /a{b} HTTP/1.1
  POST /a|b HTTP/1.1¦POST /a~b HTTP/1.1¦POST /?a?b HTTP/1.1¦POST /a* HTTP/1.1¦POST /* HTTP/1.1¦POST * HTTP/1.1
  POST ** HTTP/1.1¦POST ?a HTTP/1.1¦POST #a HTTP/1.1¦POST a HTTP/1.1¦POST a/b HTTP/1.1¦POST ./a HTTP/1.1
  POST .. HTTP/1.1¦POST //a/b HTTP/1.1¦POST /// HTTP/1.1¦POST http://a HTTP/1.1¦POST http://a/ HTTP/1.1
  POST http://a/b?c HTTP/1.1¦POST http://a:80/ HTTP/1.1¦POST http://u@a/ HTTP/1.1¦POST http://[::1]/ HTTP/1.1
  POST https://a/ HTTP/1.1¦POST ftp://a/ HTTP/1.1¦POST HTTP://a/ HTTP/1.1¦POST http:/a HTTP/1.1
  POST http:a HTTP/1.1¦POST http:// HTTP/1.1¦POST a:80 HTTP/1.1¦POST [::1]:80 HTTP/1.1¦POST /a\x00 HTTP/1.1
  POST /\x01 HTTP/1.1¦POST /a\x1f HTTP/1.1¦POST /a\x7f HTTP/1.1¦POST /\x80 HTTP/1.1¦POST /\xe4 HTTP/1.1
  POST /\xff HTTP/1.1¦POST /a\tb HTTP/1.1¦POST /a b HTTP/1.1¦POST /a\x0bb HTTP/1.1¦POST /a\x0c HTTP/1.1
  POST  HTTP/1.1¦POST /a HTTP/1.0¦POST /a HTTP/0.9¦POST /a HTTP/1.2¦POST /a HTTP/1.9¦POST /a HTTP/2.0
  POST /a HTTP/3¦POST /a HTTP/1¦POST /a HTTP/1.¦POST /a HTTP/.1¦POST /a HTTP/01.1¦POST /a HTTP/1.01
  POST /a http/1.1¦POST /a Http/1.1¦POST /a HTTP 1.1¦POST /a HTTP/1.1x¦POST /a HTTP/1,1¦POST /a HTTP\x5c1.1
  POST /a HTTP/+1.1¦POST /a HTTP/1.\xb9¦POST /a ICE/1.0¦POST /a RTSP/1.0¦POST /a\x20¦\x20POST /a HTTP/1.1
  \tPOST /a HTTP/1.1¦POST  /a HTTP/1.1¦POST /a  HTTP/1.1¦POST /a HTTP/1.1\x20¦POST /a HTTP/1.1\t¦POST\t/a HTTP/1.1
  POST /a\tHTTP/1.1¦POST\x0b/a HTTP/1.1¦POST\xa0/a HTTP/1.1¦POST/a HTTP/1.1¦POST /aHTTP/1.1¦POST /a HTTP/1.1\r
  POST /a HTTP/1.1\rX: y¦POST /a HTTP/1.1\rXY: z¦POST /a HTTP/1.0\rXY: z¦POST /a HTTP/1.1\nX: y¦POST\r\n/a HTTP/1.1¦POST /a\r\n HTTP/1.1
`),
  ...[`/${'x'.repeat(4_000)}`, `/?${'%41'.repeat(500)}`].map((target) => `POST ${target} HTTP/1.1`),
].map((first) => toCase(`the line ${shown(first)}`, `${head(first, host, 'Content-Length: 2')}ok${next}`));

/** Each in a request with a body of a length, and another request behind it. */
const fieldLines = [
  ...table(String.raw`
  X:y¦X: y¦X:\ty¦X:  y \x20¦X: \t y \t\x20¦X:¦X:\x20¦X:\t¦X: y z¦X: y\tz¦X: "y"¦X: "a\x5c"b"¦X: y:z¦X::¦X: :
  X: \x80¦X: \xff¦X: \xe4 \xf6¦X: (c)¦X: ,¦X: a,,b¦X: a;b=c¦X: %00¦X: \x5c¦X: <>¦x-Y: z¦x_y: z
  !#$%&'*+-.^_\x60|~0aZ: y¦0: y¦-: y¦_: y¦.: y¦|: y¦X-: y¦X--Y: z¦X¦X y¦:¦: y¦\x20: y¦\x20X: y¦\tX: y¦X : y¦X\t: y
  X \t: y¦X\r: y¦X\n: y¦X\r\n: y¦X\x0b: y¦X\x00: y¦X(: y¦X): y¦X<: y¦X>: y¦X@: y¦X,: y¦X;: y¦X\x5c: y¦X": y¦X/: y
  X[: y¦X]: y¦X?: y¦X=: y¦X{: y¦X}: y¦X\x01Y: z¦X\x08Y: z¦X\x1fY: z¦X\x7fY: z¦X\x80Y: z¦X\xe4Y: z¦X\xa0Y: z
  X\xffY: z¦X: \x00¦X: a\x00b¦X: a\x00¦X: \x01¦X: a\x01b¦X: a\x01¦X: \x07¦X: a\x07b¦X: a\x07¦X: \x08¦X: a\x08b
  X: a\x08¦X: \x0b¦X: a\x0bb¦X: a\x0b¦X: \x0c¦X: a\x0cb¦X: a\x0c¦X: \x0e¦X: a\x0eb¦X: a\x0e¦X: \x1b¦X: a\x1bb
  X: a\x1b¦X: \x1f¦X: a\x1fb¦X: a\x1f¦X: \x7f¦X: a\x7fb¦X: a\x7f¦X: \r¦X: a\rb¦X: a\r¦X: \n¦X: a\nb¦X: a\n¦X: \n\r
  X: a\n\rb¦X: a\n\r¦X: \r\r¦X: a\r\rb¦X: a\r\r¦X: \r\n\x20¦X: a\r\n b¦X: a\r\n\x20¦X: \r\n\t¦X: a\r\n\tb
  X: a\r\n\t¦X: a\r\n\r¦X: a\n\nb¦X: a\n b¦X: a\n\tb: c¦X: y\r\n¦\rX: y¦\nX: y¦X: y\r\r¦X: y\r\r\nZ: z¦X: y\rZ: z
  X: y\nZ: z¦X: 1\r\nX: 2¦X: 1\r\nx: 1¦Cookie: a=b\r\nCookie: c=d¦Set-Cookie: a\r\nSet-Cookie: b
  Content-Type: a\r\nContent-Type: b¦Content-Type: a¦Authorization: b¦Authorization: a\r\nAuthorization: b
  User-Agent:¦Referer: \x5c¦Date: never¦Age: -1¦Connection: close¦Connection: Close¦connection: CLOSE\x20
  Connection: keep-alive¦Connection: keep-alive, close¦Connection: x¦Connection: close, x¦Connection: x,close
  Connection: ,close¦Connection: close,¦Connection: "close"¦Connection: close x¦Connection: x close
  Connection: closed¦Connection: clos\xe9¦Connection: close\xa0¦Connection: x, close\xa0¦Connection:¦Connection: ,¦Connection: close;q=0¦Connection:\tclose
  Connection: x\r\nConnection: close¦Connection: close\r\nConnection: keep-alive
  Connection: keep-alive\r\nConnection: close¦Connection: te¦Connection: x\r\nX: y¦Connection: content-type
  Connection: Host¦Connection: content-length¦Connection: upgrade¦Proxy-Connection: close¦Keep-Alive: timeout=5
  Keep-Alive: x¦TE: trailers¦TE: chunked¦Trailer: X¦Trailer: Content-Length¦Upgrade: h2c
  Upgrade: websocket\r\nConnection: Upgrade¦Upgrade: h2c\r\nConnection: keep-alive, Upgrade¦Upgrade:
  Upgrade: x\r\nConnection: close
  HTTP2-Settings: AAMAAABkAAQAAP__\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings¦Via: 1.0 x
  Max-Forwards: 0¦Expect: 100-continue¦Expect: 100-Continue¦Expect:100-continue\x20¦Expect:¦Expect: x
  Expect: 100-continue, x¦Expect: 200¦Expect: 100-continue\r\nExpect: 100-continue
  Expect: 100-continue\r\nExpect: x¦Expect: "100-continue"¦Expect: 100-continue;a¦Content-Length: 2
  Content-Length: 3¦content-length: 2¦Content_Length: 3¦Content-Length : 3¦Content-Length\x00: 3¦Content-Lengt: 3
  Transfer-Encoding: identity¦Transfer-Encoding:¦Transfer_Encoding: chunked¦Content-Encoding: chunked
  Content-Transfer-Encoding: x
`),
  `${'x'.repeat(200)}: y`,
  `X: ${'y'.repeat(4_000)}`,
].map((field) => toCase(`the field ${shown(field)}`, `${head(line, field, host, 'Content-Length: 2')}ok${next}`));

const hostFields = table(String.raw`
  a¦A¦a.b¦a.¦.a¦a-b¦-a¦a_b¦a~¦xn--a¦1¦1.2.3.4¦1.2.3.4:5¦[::1]¦[::1]:80¦[::FFFF:1.2.3.4]¦[v1.a]¦[::1%25lo]¦a:0¦a:80
  a:65535¦a:65536¦a:99999¦a:100000¦a:00080¦a:¦a: 80¦a :80¦a:8 0¦a:+80¦a:x¦:¦[¦]¦[]¦[]:80¦[::1¦::1¦[::1]a¦[a]¦a b
  \x20a\x20¦a\tb¦a,b¦a, a¦a/b¦a?b¦a#b¦u@a¦u:p@a¦http://a¦a%62¦*¦''¦\x20¦\xe4¦a\x00¦a\x01b¦a"¦a'b¦a;b¦a!b¦a$b¦a&b
  a(b)¦a*b¦a+b¦a=b¦a|b¦a\x5cb¦a^b¦a\x60b¦a{b}
`).map((value) => toCase(`Host: ${shown(value)}`, `${head(line, `Host: ${value}`, 'Content-Length: 2')}ok${next}`));

const hostShapes = [
  ...[
    [],
    ['Host: a', 'Host: a'],
    ['Host: a', 'Host: b'],
    ['Host: a', 'hOST: a'],
    ['Host:', 'Host: a'],
    ['Host : a'],
    ['Host\x00: a', 'Host: a'],
  ],
  ...[
    ['Host: a\r\n b'],
    ['Host:\r\n a'],
    ['\tHost: a'],
    ['Hos: a'],
    ['Hostt: a'],
    ['X-Host: a'],
    ['Host: a', 'X-Forwarded-Host: b'],
  ],
].flatMap((lines) =>
  ['HTTP/1.1', 'HTTP/1.0'].map((version) =>
    toCase(
      `${version}, Hosts ${shown(lines.join('|'))}`,
      `${head(`POST /a ${version}`, ...lines, 'Content-Length: 2')}ok`,
    ),
  ),
);

const lengthFields = table(String.raw`
  0¦2¦4¦02¦00¦+2¦-2¦-0¦2.0¦2e0¦0x2¦2;¦2,¦,2¦2,2¦2, 2¦2, 4¦2 2¦2\t¦\t2¦\x202\x20¦\x0b2¦2\x0b¦2\x00¦"2"¦'2'¦\xb2
  2\xa0¦two¦''¦\x20¦_2¦2_0¦1_0¦0b10¦0o2¦2n¦9007199254740991¦9007199254740993¦18446744073709551615
  18446744073709551616¦18446744073709551618¦4294967298¦99999999999999999999999¦9999999999999999¦10000000000000000
`).map((value) =>
  toCase(
    `Content-Length: ${shown(value)}`,
    `${head(line, host, `Content-Length: ${value}`)}${value === '0' ? '' : value === '4' ? 'ok\r\n' : 'ok'}${next}`,
  ),
);

const codingFields = table(String.raw`
  chunked¦Chunked¦CHUNKED¦\x20chunked\x20¦\tchunked\t¦chunke¦chunkedd¦xchunked¦chunked x¦x chunked¦"chunked"
  chunked;¦chunked;a=b¦chunked,¦,chunked¦chunked,chunked¦chunked, chunked¦chunked, identity¦identity, chunked
  gzip, chunked¦chunked, gzip¦gzip¦deflate¦compress¦identity¦trailers¦''¦\x20¦chu nked¦chu\tnked¦chunked\x00
  \x00chunked¦\x0bchunked¦chunked\x0b¦chunked\xa0¦ch\xfcnked¦\xa0chunked
`).map((value) =>
  toCase(
    `Transfer-Encoding: ${shown(value)}`,
    `${head(line, host, `Transfer-Encoding: ${value}`)}2\r\nok\r\n0\r\n\r\n${next}`,
  ),
);

const framings = [
  ...[
    ['Content-Length: 2', 'Content-Length: 2'],
    ['Content-Length: 2', 'Content-Length: 4'],
    ['Content-Length: 12', chunked],
    [chunked, 'Content-Length: 12'],
  ],
  ...[
    [chunked, 'Content-Length:'],
    [chunked, chunked],
    [chunked, 'Transfer-Encoding: x'],
    ['Transfer-Encoding: x', chunked],
    ['Transfer-Encoding:', chunked],
  ],
  ...[
    ['Transfer-Encoding:', 'Content-Length: 12'],
    ['Transfer-Encoding: gzip', 'Transfer-Encoding: chunked'],
    ['Transfer-Encoding : chunked', 'Content-Length: 12'],
  ],
  ...[
    ['transfer_encoding: chunked', 'Content-Length: 12'],
    [' Transfer-Encoding: chunked', 'Content-Length: 12'],
    ['Transfer-Encoding:\r\n chunked'],
    ['Content-Length:\r\n 12'],
  ],
  ...[
    ['X: y\r\n Content-Length: 3', 'Content-Length: 12'],
    ['Connection: Content-Length', 'Content-Length: 12'],
    ['Connection: Transfer-Encoding', chunked],
    [],
  ],
  ...[
    [chunked, 'Expect: 100-continue'],
    [chunked, 'Connection: close'],
    [chunked, 'Trailer: X'],
    [chunked, 'TE: trailers'],
    [chunked, 'Upgrade: h2c', 'Connection: Upgrade'],
  ],
].flatMap((lines) =>
  [
    'POST /a HTTP/1.1',
    'GET /a HTTP/1.1',
    'HEAD /a HTTP/1.1',
    'POST /a HTTP/1.0',
    'POST /a HTTP/1.0\r\nConnection: keep-alive',
  ].map((first) =>
    toCase(
      `${shown(first)} with ${shown(lines.join('|'))}`,
      `${head(first, host, ...lines)}2\r\nok\r\n0\r\n\r\n${next}`,
    ),
  ),
);

const chunkTexts = [
  ...table(String.raw`
  2\r\nok\r\n¦02\r\nok\r\n¦0000002\r\nok\r\n¦00000000000000002\r\nok\r\n¦2;\r\nok\r\n¦2;a\r\nok\r\n
  2;a=b\r\nok\r\n¦2;a="b;c"\r\nok\r\n¦2;a="\x5c""\r\nok\r\n¦2;a="\r\nok\r\n¦2;a=b;c\r\nok\r\n¦2 ;a\r\nok\r\n
  2; a\r\nok\r\n¦2;a =b\r\nok\r\n¦2;=b\r\nok\r\n¦2;;\r\nok\r\n¦2;\xe4\r\nok\r\n¦2;\x00\r\nok\r\n¦2;\x7f\r\nok\r\n
  2;a\nok\r\n¦2;a\rok\r\n¦2;a\r\r\nok\r\n¦2;a="b\nc"\r\nok\r\n¦2;\ta\r\nok\r\n¦2;(\r\nok\r\n¦2;a,b\r\nok\r\n
  2,\r\nok\r\n¦2 \r\nok\r\n¦2\t\r\nok\r\n¦\x202\r\nok\r\n¦\t2\r\nok\r\n¦+2\r\nok\r\n¦-2\r\nok\r\n¦0x2\r\nok\r\n
  2h\r\nok\r\n¦2.0\r\nok\r\n¦"2"\r\nok\r\n¦\r\nok\r\n¦;a\r\nok\r\n¦g\r\nok\r\n¦2\nok\r\n¦2\rok\r\n¦2\r\r\nok\r\n
  2\n\rok\r\n¦2\r\nok\n¦2\r\nok\r¦2\r\nok¦2\r\nokk\r\n¦2\r\no\r\n¦2\r\nok\r\r\n¦2\r\nok\n\r¦2\r\nok\r\n\r\n
  2\r\nok  \r\n¦2\r\n\r\n\r\n¦A\r\n0123456789\r\n¦a\r\n0123456789\r\n¦1\r\na\r\n1\r\nb\r\n¦ffffffff\r\n
  100000000\r\n¦fffffffff\r\n¦8000000000000000\r\n¦ffffffffffffffff\r\n¦10000000000000002\r\nok\r\n¦2_0\r\nok\r\n
  2\x00\r\nok\r\n¦\x002\r\nok\r\n¦\xb2\r\nok\r\n¦2\x0b\r\nok\r\n¦2\xa0\r\nok\r\n¦2\r\n\x00\xff\r\n
`),
  `2;${'x'.repeat(2_000)}\r\nok\r\n`,
  `2;${'x'.repeat(20_000)}\r\nok\r\n`,
  '1\r\nx\r\n'.repeat(50),
].map((text) => toCase(`the chunk ${shown(text)}`, `${head(line, host, chunked)}${text}0\r\n\r\n${next}`));

const lastChunks = [
  ...table(String.raw`
  0\r\n\r\n¦00\r\n\r\n¦00000000\r\n\r\n¦000000000\r\n\r\n¦0;a=b\r\n\r\n¦0 \r\n\r\n¦0\n\n¦0\n\r\n¦0\r\n\n¦0\r\r\n
  0\r\n\r¦0\r\n¦0\r\n\rx¦0¦''¦0\r\nX: y\r\n\r\n¦0\r\nX: y\r\nX: z\r\n\r\n¦0\r\nX:\r\n\r\n¦0\r\nX: y\n\n
  0\r\nX: y\n\r\n¦0\r\nX: y\r\n\n¦0\r\nX: y\r\n¦0\r\nX : y\r\n\r\n¦0\r\n X: y\r\n\r\n¦0\r\nX: y\r\n z\r\n\r\n
  0\r\nX\r\n\r\n¦0\r\n: y\r\n\r\n¦0\r\nX: a\x00b\r\n\r\n¦0\r\nX: a\rb\r\n\r\n¦0\r\nX: a\nb: c\r\n\r\n
  0\r\nX: \xe4\r\n\r\n¦0\r\nX\xe4: y\r\n\r\n¦0\r\nContent-Length: 2\r\n\r\n
  0\r\ntransfer-encoding: chunked\r\n\r\n¦0\r\nHost: b\r\n\r\n¦0\r\nConnection: close\r\n\r\n
  0\r\nTrailer: X\r\n\r\n¦0\r\nAuthorization: x\r\n\r\n¦0\r\nContent-Length: x\r\n\r\n
  0\r\nExpect: 100-continue\r\n\r\n¦0\r\nUpgrade: x\r\n\r\n¦0\r\nGET /hidden HTTP/1.1\r\n\r\n
  0\r\nGET /hidden HTTP/1.1\r\nHost: a\r\n\r\n
`),
  ...[40, 100].map((count) => `0\r\n${'X: y\r\n'.repeat(count)}\r\n`),
  `0\r\nX: ${'y'.repeat(20_000)}\r\n\r\n`,
].map((text) => toCase(`the last chunk ${shown(text)}`, `${head(line, host, chunked)}2\r\nok\r\n${text}${next}`));

const before = [
  '\r\n',
  '\r\n\r\n',
  '\r\n'.repeat(20),
  '\n',
  '\n\n',
  '\r',
  '\r\r\n',
  '\n\r\n',
  ' \r\n',
  ' ',
  '\t',
  '\0',
  '\r\n ',
  '\r\n\n',
  '\xef\xbb\xbf',
  'x',
];
const plain = `${head(line, host, 'Content-Length: 2')}ok`;
const old = `${head('POST /a HTTP/1.0', 'Connection: keep-alive', 'Content-Length: 2')}ok`;
const inChunks = `${head(line, host, chunked)}2\r\nok\r\n0\r\n\r\n`;

const streams = [
  ...before.flatMap((text) => [`${text}${next}`, `${plain}${text}${next}`, `${inChunks}${text}${next}`]),
  ...[plain, old, inChunks, next].flatMap((first) =>
    [plain, old, inChunks, next].map((second) => first + second + next),
  ),
  ...[
    plain.slice(0, -1),
    plain.slice(0, -4),
    plain.slice(0, -2),
    plain.slice(0, 9),
    inChunks.slice(0, -2),
    inChunks.slice(0, -7),
    `${plain}GET`,
    inChunks.replace(/\r\n$/, 'X: y\r\n\n'),
    inChunks.replace(/\r\n$/, 'X: y\r\nZ: z\n'),
    `${plain}${next.slice(0, -2)}`,
  ],
  ...[
    '',
    '\r\n',
    'G',
    'GET',
    'GET ',
    'GET / ',
    'GET /\r\n',
    'GET / HTTP/1.1',
    'GET / HTTP/1.1\r',
    'GET / HTTP/1.1\r\n',
    'GET / HTTP/1.1\r\n\r\n',
    'GET / HTTP/1.0\r\n\r\n',
    'GET / HTTP/1.0\r\n\r\nGET',
  ],
  ...[plain, inChunks, next, old].map((text) => text.replaceAll('\r\n', '\n')),
  ...[plain, inChunks, next, old].map((text) => text.replaceAll('\r\n', '\r')),
  ...[
    'HTTP/1.1 200 OK\r\n\r\n',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    '\x16\x03\x01\x02\x00\x01',
    '{"a":1}',
    `${plain}PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n`,
    `${plain}HTTP/1.1 200 OK\r\n\r\n`,
  ],
  ...[
    old.replace('keep-alive', 'close') + next,
    old.replace('keep-alive', 'x') + next,
    old.replace('keep-alive', 'keep-alive\xa0') + next,
    old.replace('Connection', 'Upgrade: x\r\nConnection') + next,
    old.replace('Connection', 'Connection: close\r\nConnection') + next,
    old.replace('Connection: keep-alive\r\n', '') + next,
    plain.replace('Host', 'Connection: close\r\nHost') + next,
  ],
].map((text) => toCase(`the bytes ${shown(text)}`, text));

/** Written here, and those of `malformed-requests.ts`. */
export const wireRequests: readonly WireCase[] = [
  ...requestLines,
  ...fieldLines,
  ...hostFields,
  ...hostShapes,
  ...lengthFields,
  ...codingFields,
  ...framings,
  ...chunkTexts,
  ...lastChunks,
  ...streams,
  ...malformedRequests,
];
