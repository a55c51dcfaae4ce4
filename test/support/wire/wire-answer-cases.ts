/** Valid and invalid responses, following the grammar of RFC 9110 and 9112. All text is Latin-1: a character is a byte. */

import { table } from './wire-rows.ts';

const ok = 'HTTP/1.1 200 OK';
const head = (...lines: readonly string[]): string => `${lines.join('\r\n')}\r\n\r\n`;
const length = 'Content-Length: 2';
const chunked = 'Transfer-Encoding: chunked';

const statusLines = table(String.raw`
  HTTP/1.1 200 OK¦HTTP/1.0 200 OK¦HTTP/1.1 200\x20¦HTTP/1.1 200¦HTTP/1.0 200¦HTTP/1.1 200 Not at all¦HTTP/1.1 200 \xe4\xff
  HTTP/1.1 200 a\tb¦HTTP/1.1 200  two¦HTTP/1.1 200 OK\x20¦HTTP/1.1 200 OK\t¦HTTP/1.1 200\t¦HTTP/1.1 200\tOK¦HTTP/1.1 200 O\x00K
  HTTP/1.1 200 O\x0bK¦HTTP/1.1 200 O\x7fK¦HTTP/1.1 200 O\rK¦HTTP/1.1 200 O\nK¦HTTP/1.1 200\rX: y¦HTTP/1.1 200 OK\rX: y¦HTTP/1.1 200 OK\nX: y
  HTTP/1.1 200 OK\r¦HTTP/1.1 201 Created¦HTTP/1.1 204 No Content¦HTTP/1.1 205 Reset Content¦HTTP/1.1 206 x¦HTTP/1.1 300 x¦HTTP/1.1 304 x
  HTTP/1.1 400 x¦HTTP/1.1 418 x¦HTTP/1.1 499 x¦HTTP/1.1 500 x¦HTTP/1.1 599 x¦HTTP/1.1 600 x¦HTTP/1.1 999 x¦HTTP/1.1 099 x¦HTTP/1.1 000 x
  HTTP/1.1 20 x¦HTTP/1.1 2 x¦HTTP/1.1 2000 x¦HTTP/1.1 -20 x¦HTTP/1.1 +20 x¦HTTP/1.1 2x0 x¦HTTP/1.1 0x1 x¦HTTP/1.1 20.0 x¦HTTP/1.1  200 OK
  HTTP/1.1\t200 OK¦HTTP/1.1200 OK¦HTTP/1.1 200OK¦HTTP/1.1¦HTTP/1.1\x20¦HTTP/1.2 200 OK¦HTTP/2.0 200 OK¦HTTP/2 200 OK¦HTTP/0.9 200 OK
  HTTP/1.10 200 OK¦HTTP/1 200 OK¦HTTP/01.1 200 OK¦http/1.1 200 OK¦Http/1.1 200 OK¦HTTPS/1.1 200 OK¦ICY 200 OK¦RTSP/1.0 200 OK¦200 OK¦''
  \x20HTTP/1.1 200 OK¦\tHTTP/1.1 200 OK¦\r\nHTTP/1.1 200 OK¦\r\n\r\nHTTP/1.1 200 OK¦\nHTTP/1.1 200 OK¦\rHTTP/1.1 200 OK¦GET / HTTP/1.1
`).flatMap((line) => [`${head(line, length)}ok`, `${head(line, chunked)}2\r\nok\r\n0\r\n\r\n`, `${head(line)}ok`]);

const fieldLines = table(String.raw`
  X: y¦X:y¦X:\t y \t¦X:¦X: ¦X: a b¦X: \xe4\xff¦X: "a"¦X: a:b¦!#$%&'*+-.^_|~0: y¦X: 1\r\nX: 2¦Set-Cookie: a\r\nSet-Cookie: b¦x_y: z
  X : y¦X\t: y¦\x20X: y¦\tX: y¦: y¦X¦X y¦X(: y¦X\xe4: y¦X\x00: y¦X\x7f: y¦X"Y: z¦X[: y¦X: a\x00b¦X: a\x01b¦X: a\x0bb¦X: a\x7fb¦X: a\rb
  X: a\nb¦X: a\nb: c¦X: a\r\n b¦X: a\r\n\tb¦X:\r\n b¦X: a\r¦X: a\r\r¦X: a\n¦X: a\r\n\r¦\rX: y¦\nX: y¦X: y\rZ: z¦X: y\nZ: z
  Connection: close¦Connection: keep-alive¦Connection: x, Close¦Connection: closed¦Connection:¦Connection: upgrade¦Connection: content-length
  Keep-Alive: timeout=5¦Keep-Alive: x¦Upgrade: h2c¦Upgrade: x\r\nConnection: upgrade¦Trailer: X¦TE: x¦Proxy-Connection: close¦Host: a
  Content-Length: 2¦Content-Length: 3¦content-length: 2¦Content-Length : 2¦Content_Length: 3¦Transfer-Encoding: identity¦Transfer_Encoding: chunked
  Content-Encoding: gzip¦Content-Type: a\r\nContent-Type: b¦Date: never¦Location: /\r\nLocation: /b
`).flatMap((field) => [
  `${head(ok, field, length)}ok`,
  `${head(ok, field, chunked)}2\r\nok\r\n0\r\n\r\n`,
  `${head(ok, length, field)}ok`,
]);

const lengths = table(String.raw`
  0¦2¦02¦0002¦+2¦-2¦2.0¦2e0¦0x2¦2,2¦2, 2¦2,¦,2¦2;¦2 2¦\t2\t¦\x0b2¦2\x0b¦2\x00¦"2"¦''¦two¦\xb2¦3¦1¦4294967298¦18446744073709551618¦9007199254740993
`).map((value) => `${head(ok, `Content-Length: ${value}`)}ok`);

const codings = table(String.raw`
  chunked¦Chunked¦\tchunked\t¦chunked,¦,chunked¦chunked, chunked¦chunked, identity¦identity, chunked¦gzip, chunked¦chunked, gzip¦gzip¦identity¦''
  xchunked¦chunkedx¦"chunked"¦chunked;a¦chu nked¦\x0bchunked¦chunked\x0b¦chunked\x00¦chunked\xa0
`).flatMap((value) => [
  `${head(ok, `Transfer-Encoding: ${value}`)}2\r\nok\r\n0\r\n\r\n`,
  `${head('HTTP/1.0 200 OK', `Transfer-Encoding: ${value}`)}2\r\nok\r\n0\r\n\r\n`,
  `${head(ok, `Transfer-Encoding: ${value}`, 'Content-Length: 12')}2\r\nok\r\n0\r\n\r\n`,
]);

const chunks = table(String.raw`
  2\r\nok\r\n0\r\n\r\n¦02\r\nok\r\n0\r\n\r\n¦00000002\r\nok\r\n0\r\n\r\n¦000000002\r\nok\r\n0\r\n\r\n¦2;a\r\nok\r\n0;b=c\r\n\r\n¦2;a="b;\\""\r\nok\r\n0\r\n\r\n
  2; a = b\r\nok\r\n0\r\n\r\n¦2;\r\nok\r\n0\r\n\r\n¦2;a="\r\nok\r\n0\r\n\r\n¦2;\xe4\r\nok\r\n0\r\n\r\n¦2 ;a\r\nok\r\n0\r\n\r\n¦2 \r\nok\r\n0\r\n\r\n¦\x202\r\nok\r\n0\r\n\r\n
  +2\r\nok\r\n0\r\n\r\n¦-2\r\nok\r\n0\r\n\r\n¦0x2\r\nok\r\n0\r\n\r\n¦2\nok\r\n0\r\n\r\n¦2\rok\r\n0\r\n\r\n¦2\r\nok\n0\r\n\r\n¦2\r\nok0\r\n\r\n¦2\r\nokk\r\n0\r\n\r\n
  2\r\nok\r\n0\r\nX: y\r\n\r\n¦2\r\nok\r\n0\r\nX: y\r\nx:\tz \r\nX:\r\n\r\n¦2\r\nok\r\n0\r\nX: y\n\n¦2\r\nok\r\n0\r\nX : y\r\n\r\n¦2\r\nok\r\n0\r\n X: y\r\n\r\n
  2\r\nok\r\n0\r\nContent-Length: 2\r\n\r\n¦2\r\nok\r\n0\r\nTransfer-Encoding: x\r\n\r\n¦2\r\nok\r\n0\r\nConnection: close\r\n\r\n¦2\r\nok\r\n0\r\nX: a\x00b\r\n\r\n
  2\r\nok\r\n0\r\n\r\nmore¦2\r\nok\r\n0\r\n\n¦2\r\nok\r\n0\n\r\n¦2\r\nok\r\n0\r\n¦2\r\nok\r\n0¦2\r\nok\r\n¦2\r\no¦2\r\n¦2¦''¦g\r\nok\r\n¦ffffffff\r\nok¦fffffffff\r\nok¦10000000000000002\r\nok\r\n0\r\n\r\n
`).map((text) => head(ok, chunked) + text);

const whole = `${head(ok, length)}ok`;
const streams = [
  ...[
    'HTTP/1.1 100 Continue',
    'HTTP/1.1 102',
    'HTTP/1.1 103 Early Hints\r\nLink: </x>',
    'HTTP/1.1 199 x',
    'HTTP/1.0 100 x',
  ].flatMap((line) => [
    head(line) + whole,
    head(line) + head(line) + whole,
    head(line),
    head(line, length) + whole,
    head(line, chunked) + whole,
  ]),
  ...[
    whole + whole,
    `${whole}\r\n`,
    `${whole}x`,
    `\r\n${whole}`,
    whole.replaceAll('\r\n', '\n'),
    whole.replaceAll('\r\n', '\r'),
    whole.slice(0, -1),
  ],
  ...[
    head(ok, length, length),
    head(ok, length, 'Content-Length: 3'),
    head(ok, chunked, chunked),
    head(ok, chunked, length),
  ].map((text) => `${text}ok`),
  ...[
    head('HTTP/1.1 101 x', 'Upgrade: a', 'Connection: upgrade'),
    head('HTTP/1.1 101 x'),
    head('HTTP/1.1 204 x', chunked),
    head('HTTP/1.1 304 x', chunked),
  ],
  ...['{"error":1}', '<html>', 'HTTP/1.1 200 OK', 'HTTP/1.1 200 OK\r\n', '\x15\x03\x03\x00\x02\x02\x28'],
];

export const wireAnswers: readonly string[] = [
  ...new Set([...statusLines, ...fieldLines, ...lengths, ...codings, ...chunks, ...streams]),
];
