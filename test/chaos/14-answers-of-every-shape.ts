/** Promise 14: responses of every form (compressed, empty, with trailers, after 1xx) arrive unchanged, and only documented headers differ. */

import { isDeepStrictEqual } from 'node:util';
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { type HeaderField, headerValue, lastChunk, toChunk, toHead } from '../support/clients/http-message.ts';
import type { RawResponse } from '../support/clients/raw-client.ts';
import { authorized, fromUpstream, startPair } from '../support/gateways/pair.ts';
import { definePromise } from './promise.ts';
import { createRandom } from './support/random.ts';
import { createViolations } from './support/readings/findings.ts';

type Framing = 'length' | 'chunked' | 'trailers' | 'until-close' | 'none' | 'announced-only';

interface Shape {
  readonly status: number;
  readonly coding: string;
  readonly framing: Framing;
  readonly interim: string;
  readonly bodyName: string;
}

interface Answer {
  readonly shape: Shape;
  readonly headers: readonly HeaderField[];
  readonly trailers: readonly HeaderField[];
  readonly body: Buffer;
  /** In the pieces in which it is written. */
  readonly wire: readonly Buffer[];
}

const withBody = [200, 201, 206, 400, 429, 500];
const withoutBody = [204, 304];
const framings: readonly Framing[] = ['length', 'chunked', 'trailers', 'until-close'];

const codings: ReadonlyMap<string, (plain: Buffer) => Buffer> = new Map([
  ['', (plain) => plain],
  ['identity', (plain) => plain],
  ['gzip', (plain) => gzipSync(plain)],
  ['br', (plain) => brotliCompressSync(plain)],
  ['deflate', (plain) => deflateSync(plain)],
  ['zstd', (plain) => zstdCompressSync(plain)],
  ['gzip, br', (plain) => brotliCompressSync(gzipSync(plain))],
  ['dcb', (plain) => plain],
  // The body is not what its header announces: the client has to judge.
  ['x-gzip', (plain) => plain],
]);

const interims: ReadonlyMap<string, string> = new Map([
  ['nothing', ''],
  ['100', 'HTTP/1.1 100 Continue\r\n\r\n'],
  ['103', 'HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\nX-Hint: 1\r\n\r\n'],
  [
    '102, 103, 100',
    'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early\r\nLink: </b>\r\n\r\nHTTP/1.1 100 Continue\r\n\r\n',
  ],
]);

/** What docs/reference/routes.md names as held back, beside framing. */
const withheld: readonly HeaderField[] = [
  ['Set-Cookie', 'a=b'],
  ['Server', 'inner'],
  ['Via', '1.1 inner'],
  ['Alt-Svc', 'h3=":443"'],
  ['Location', 'https://inner.example/'],
  ['WWW-Authenticate', 'Basic'],
  ['Clear-Site-Data', '"*"'],
  ['Strict-Transport-Security', 'max-age=1'],
  ['Access-Control-Allow-Origin', '*'],
  ['X-Postern-Upstream', 'forged'],
  ['openai-organization', 'org'],
  ['OpenAI-Project', 'proj'],
  ['Keep-Alive', 'timeout=60'],
  ['Upgrade', 'h2c'],
];

const passing: readonly HeaderField[] = [
  ['Content-Type', 'application/json'],
  ['Date', 'Thu, 01 Jan 1970 00:00:00 GMT'],
  ['ETag', '"x"'],
  ['X-Twice', '1'],
  ['x-twice', '2'],
  ['OpenAI-Version', '2020-10-01'],
  ['X-RateLimit-Remaining-Tokens', '99'],
  ['X-Empty', ''],
];

const checksums: readonly HeaderField[] = [
  ['X-Checksum', 'abc'],
  ['x-checksum', 'def'],
];

const calls: readonly (readonly [path: string, body: Readonly<Record<string, unknown>>])[] = [
  ['/v1/embeddings', { input: 'x' }],
  ['/v1/engines/m/embeddings', { input: 'x' }],
  ['/v1/rerank', { query: 'q', documents: ['d'] }],
  ['/v1/moderations', { input: 'x' }],
  ['/v1/completions', { prompt: 'x' }],
  ['/v1/edits', { input: 'x', instruction: 'y' }],
];

const shortCount = 150;
const noiseBytes = 200_000;
const clientsAtOnce = 8;

export default definePromise({
  no: 14,
  title: 'responses with every encoding and framing, with and without body, 1xx and trailers',
  async run({ t, scale, seed, progress }) {
    const random = createRandom(seed);
    const bodies = createBodies(random);
    const every = shuffle(toShapes([...bodies.keys()]), random);
    const shapes = scale === 'long' ? every : every.slice(0, shortCount);

    const answers = new Map<number, Answer>();

    const pair = await startPair(t, async (request, reply) => {
      const answer = answers.get(Number(request.header('idempotency-key')));
      if (answer === undefined) throw new Error('nobody asked for this answer');
      for (const piece of answer.wire) await reply.raw(piece);
      if (answer.shape.framing === 'until-close') reply.cut();
    });

    const otherBytes = createViolations('answers with another status or other bytes');
    const otherHeaders = createViolations('answers whose headers differ beyond what is documented');
    const otherTrailers = createViolations('answers with other trailers');
    const interim = createViolations('informational answers that reached the client');
    const left = [...shapes.entries()];
    const work = async (): Promise<void> => {
      for (let next = left.pop(); next !== undefined; next = left.pop()) {
        const [no, shape] = next;
        progress(`${shapes.length - left.length} of ${shapes.length} answers`);
        const sent = toAnswer(shape, bodies, createRandom(seed + no));
        answers.set(no, sent);
        const [path, body] = calls[no % calls.length] ?? ['', {}];
        const headers = authorized(['Idempotency-Key', String(no)], ['Accept-Encoding', 'gzip, br, zstd']);
        const seen = await pair.rig.post(path, { model: 'm', ...body }, { headers });
        answers.delete(no);
        const description = `${path} ${JSON.stringify(shape)}: ${seen.statusLine}`;
        if (!isSameMessage(sent, seen))
          otherBytes.add(`${description}, ${seen.body.length} bytes of ${sent.body.length}`);
        if (!isDeepStrictEqual(fromUpstream(seen), expectedHeaders(sent))) {
          otherHeaders.add(`${description} ${JSON.stringify(fromUpstream(seen))}`);
        }
        if (!isDeepStrictEqual(seen.trailers, sent.trailers))
          otherTrailers.add(`${description} ${JSON.stringify(seen.trailers)}`);
        if (seen.informational.length > 0) interim.add(description);
      }
    };
    await Promise.all(Array.from({ length: clientsAtOnce }, work));
    return [otherBytes, otherHeaders, otherTrailers, interim].map((violations) => violations.outOf(shapes.length));
  },
});

type Bodies = ReadonlyMap<string, ReadonlyMap<string, Buffer>>;

/** By their name, and by their coding. */
function createBodies(random: () => number): Bodies {
  const plain: [name: string, bytes: Buffer][] = [
    ['empty', Buffer.alloc(0)],
    ['json', Buffer.from('{"object":"list","data":[{"text":"é模😀"}],"usage":{"prompt_tokens":3,"total_tokens":3}}')],
    ['noise', Buffer.from(Uint8Array.from({ length: noiseBytes }, () => random() * 256))],
  ];
  return new Map(
    plain.map(([name, bytes]) => {
      // Empty means empty on the wire: there is no coding of nothing then.
      const encode = (code: (plain: Buffer) => Buffer): Buffer => (bytes.length === 0 ? bytes : code(bytes));
      return [name, new Map([...codings].map(([coding, code]) => [coding, encode(code)]))];
    }),
  );
}

function toShapes(bodyNames: readonly string[]): Shape[] {
  const shapes: Shape[] = [];
  for (const coding of codings.keys()) {
    for (const interim of interims.keys()) {
      for (const bodyName of bodyNames) {
        for (const framing of framings) {
          // A good answer has to be JSON: others become an error.
          const statuses = bodyName === 'json' ? withBody : withBody.filter((status) => status !== 200);
          for (const status of statuses) shapes.push({ status, coding, framing, interim, bodyName });
        }
      }
      for (const status of withoutBody) shapes.push({ status, coding, framing: 'none', interim, bodyName: 'empty' });
      // A length that belongs to the body that a 304 spares.
      shapes.push({ status: 304, coding, framing: 'announced-only', interim, bodyName: 'empty' });
      shapes.push({ status: 205, coding, framing: 'length', interim, bodyName: 'empty' });
    }
  }
  return shapes;
}

function toAnswer(shape: Shape, bodies: Bodies, random: () => number): Answer {
  const body = bodies.get(shape.bodyName)?.get(shape.coding);
  if (body === undefined) throw new Error(`there is no body ${shape.bodyName} in ${shape.coding}`);
  const trailers: HeaderField[] = shape.framing === 'trailers' ? [...checksums] : [];
  const headers = shuffle(
    [
      ...passing,
      ...withheld.filter(() => random() < 0.3),
      ['X-Request-Id', 'req_upstream'] as const,
      ...(shape.coding === '' ? [] : [['Content-Encoding', shape.coding] as const]),
      ...framingHeaders(shape.framing, body.length),
    ],
    random,
  );
  const head = Buffer.concat([
    Buffer.from(interims.get(shape.interim) ?? ''),
    toHead(`HTTP/1.1 ${shape.status} Fine`, headers),
  ]);
  const pieces = [head, ...toWire(shape.framing, body, trailers, random)];
  return { shape, headers, trailers, body, wire: random() < 0.5 ? pieces : [Buffer.concat(pieces)] };
}

function framingHeaders(framing: Framing, bodyBytes: number): HeaderField[] {
  switch (framing) {
    case 'length':
      return [['Content-Length', String(bodyBytes)]];
    case 'announced-only':
      return [['Content-Length', '100']];
    case 'chunked':
      return [['Transfer-Encoding', 'chunked']];
    case 'trailers':
      return [
        ['Transfer-Encoding', 'chunked'],
        ['Trailer', 'X-Checksum'],
      ];
    case 'until-close':
      return [['Connection', 'close']];
    case 'none':
      return [];
  }
}

function toWire(framing: Framing, body: Buffer, trailers: readonly HeaderField[], random: () => number): Buffer[] {
  if (framing !== 'chunked' && framing !== 'trailers') return body.length === 0 ? [] : [body];
  const chunks: Buffer[] = [];
  for (let at = 0; at < body.length; ) {
    const bytes = 1 + Math.floor(random() * 20_000);
    chunks.push(toChunk(body.subarray(at, at + bytes)));
    at += bytes;
  }
  return [...chunks, framing === 'chunked' ? lastChunk : toHead('0', trailers)];
}

function isSameMessage({ shape, body }: Answer, seen: RawResponse): boolean {
  return seen.statusLine === `HTTP/1.1 ${shape.status} Fine` && seen.complete && seen.body.equals(body);
}

/** Those of the upstream, in order, without the ones held back; a length only where it frames a body. */
function expectedHeaders({ shape, headers }: Answer): HeaderField[] {
  return headers.flatMap(([name, value]): HeaderField[] => {
    if (headerValue(withheld, name) !== undefined || /^(?:connection|transfer-encoding)$/i.test(name)) return [];
    if (name === 'Content-Length' && shape.framing !== 'length') return [];
    return name === 'X-Request-Id' ? [['x-upstream-request-id', value]] : [[name, value]];
  });
}

function shuffle<T>(values: T[], random: () => number): T[] {
  return values
    .map((value) => ({ value, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ value }) => value);
}
