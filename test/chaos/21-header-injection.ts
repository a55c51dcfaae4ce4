/** Promise 21: no forwarded value, in any spelling, becomes a header upstream. */

import type { TestContext } from 'node:test';
import { headerValue } from '../support/clients/http-message.ts';
import { send } from '../support/clients/raw-client.ts';
import { upstreamCredential } from '../support/gateways/pair.ts';
import { type Rig, startRig, testKey } from '../support/gateways/rig.ts';
import { type FakeUpstream, startFakeUpstream } from '../support/upstreams/fake-upstream.ts';
import { atMost, definePromise } from './promise.ts';
import { pick, type Random } from './support/hostile/request-draft.ts';
import { createRandom } from './support/random.ts';
import { none } from './support/readings/findings.ts';

const randomCounts = { long: 10_000, short: 600 } as const;
const clients = 16;

/** Where a client's words go further: by header, by path, by body. */
const forwarded = [
  'content-type',
  'accept',
  'accept-encoding',
  'traceparent',
  'tracestate',
  'idempotency-key',
  'openai-beta',
  'x-let-through',
] as const;

/** All that the gateway writes itself. */
const expected = new Set([
  ...forwarded,
  'host',
  'connection',
  'content-length',
  'authorization',
  'user-agent',
  'x-request-id',
  'x-postern-loop',
  'x-fixed',
]);

const injected = 'X-Injected: 1';

/** What might pass for a line break on the way; bytes, each a character. U+560A and U+560D end in those of LF and CR. */
const breaks = [
  '\r\n',
  '\n',
  '\r',
  '\r\n ',
  '\r\n\t',
  '\0',
  '\0\r\n',
  '\x0b',
  '\x0c',
  '\x1e',
  '\x85',
  '\x8d\x8a',
  '\x7f',
  '\xff',
  '\xe5\x98\x8d\xe5\x98\x8a',
  '\xc4\x8d\xc4\x8a',
  '\xe2\x80\xa8',
  '\xc0\x8d\xc0\x8a',
  '%0d%0a',
  '%E5%98%8D%E5%98%8A',
  '\\r\\n',
  '\\u000d\\u000a',
  '&#13;&#10;',
  '=?utf-8?q?=0D=0A?=',
] as const;

const ends = [
  '',
  '\r\n\r\n',
  '\r\nHost: b',
  '\nTransfer-Encoding: chunked',
  '\r\n\r\nPOST /embeddings HTTP/1.1\r\nHost: b\r\n\r\n',
] as const;

interface Attack {
  readonly name: string;
  readonly bytes: Buffer;
}

export default definePromise({
  no: 21,
  title: 'line breaks and strange characters in forwarded values',
  async run({ t, scale, seed, progress }) {
    const upstream = await startFakeUpstream();
    t.after(() => upstream.close());
    const rig = await startRig(t, documentFor(upstream));
    const random = createRandom(seed);
    const attacks = [...everyBreakEverywhere(), ...Array.from({ length: randomCounts[scale] }, () => mixed(random))];

    const serverErrors: string[] = [];
    const split: string[] = [];
    const left = [...attacks];
    const work = async (): Promise<void> => {
      for (let attack = left.pop(); attack !== undefined; attack = left.pop()) {
        const answer = await send(rig.port, attack.bytes);
        if (answer.status >= 500) serverErrors.push(`${answer.status} ${attack.name}`);
        if (headerValue(answer.headers, 'x-injected') !== undefined) split.push(attack.name);
        progress(`${left.length} attacks are left`);
      }
    };
    await Promise.all(Array.from({ length: clients }, work));

    const strangers = upstream.requests.flatMap(({ headers, rawHead }) => {
      const names = headers.map(([name]) => name.toLowerCase());
      const isClean = names.every((name) => expected.has(name)) && new Set(names).size === names.length;
      return isClean ? [] : [JSON.stringify(rawHead.toString('latin1'))];
    });
    const otherPaths = upstream.requests.filter(
      ({ path }) => !/^\/(?:embeddings|engines\/[^/?#]+\/embeddings)$/.test(path),
    );
    const configured = await attackBySettings(t, upstream, rig);
    return [
      none(`injected upstream headers, of ${attacks.length} attacks`, strangers),
      atMost('malformed in the journal of the upstream', upstream.malformed.length, 0),
      none(
        'other upstream paths',
        otherPaths.map(({ path }) => path),
      ),
      none('injected headers in answers', split),
      none('answers of 5xx', serverErrors),
      {
        name: 'attacks of which something was forwarded, so that there was a chance',
        bar: 'at least 100',
        measured: String(upstream.requests.length),
        met: upstream.requests.length >= 100,
        broken: upstream.requests.length < 100,
      },
      none('settings with a line break or the like that became a header', configured),
    ];
  },
});

function documentFor(upstream: FakeUpstream): Record<string, unknown> {
  const common = {
    family: 'openai',
    base_url: upstream.url,
    api_key: upstreamCredential,
    forward_headers: ['x-let-through'],
    headers: { 'x-fixed': 'y' },
  };
  return {
    upstreams: [
      { id: 'lifted', ...common },
      { id: 'native', ...common, legacy_engines: 'native' },
    ],
    models: [
      { id: 'm', operations: ['embeddings'], space: 's', targets: [{ upstream: 'lifted' }] },
      { id: 'lifted-*', operations: ['embeddings'], space: 's', targets: [{ upstream: 'lifted', model: '*' }] },
      { id: 'native-*', operations: ['embeddings'], space: 's', targets: [{ upstream: 'native', model: '*' }] },
    ],
  };
}

function everyBreakEverywhere(): Attack[] {
  return breaks.flatMap((line) => [
    ...forwarded.flatMap((name) => ends.map((end) => inHeader(name, `a${line}${injected}${end}`))),
    inHeader('x-request-id', `a${line}${injected}`),
    inPath('native-', `a${line}${injected}`),
    inPath('lifted-', `a${line}${injected}`),
    inBody(`lifted-a${line}${injected}`),
  ]);
}

function mixed(random: Random): Attack {
  const value = Array.from({ length: 1 + Math.floor(random() * 4) }, () =>
    pick([...breaks, injected, 'a', ' ', String.fromCharCode(Math.floor(random() * 256))], random),
  ).join('');
  const carrier = pick([...forwarded, 'path', 'body'], random);
  if (carrier === 'path') return inPath(pick(['native-', 'lifted-'], random), value);
  return carrier === 'body' ? inBody(`lifted-${value}`) : inHeader(carrier, value);
}

function inHeader(name: string, value: string): Attack {
  // A Content-Type of another kind is refused before anything is forwarded.
  const written = name === 'content-type' ? `application/json; x=${value}` : value;
  return attack('/v1/embeddings', [`${name}: ${written}`], '{"model":"m","input":"x"}', `${name}: ${value}`);
}

/** As a client would encode it; what is encoded already stays as it is. */
function inPath(prefix: string, value: string): Attack {
  const encoded = value.replace(/[^A-Za-z0-9%._~-]/g, (byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`);
  return attack(`/v1/engines/${prefix}${encoded}/embeddings`, [], '{"input":"x"}', `path ${value}`);
}

function inBody(model: string): Attack {
  const text = Buffer.from(model, 'latin1').toString('utf8');
  return attack(
    '/v1/embeddings',
    [],
    Buffer.from(JSON.stringify({ model: text, input: 'x' })).toString('latin1'),
    `model ${model}`,
  );
}

function attack(target: string, fields: readonly string[], body: string, name: string): Attack {
  const lines = [
    `POST ${target} HTTP/1.1`,
    'Host: a',
    `x-api-key: ${testKey}`,
    ...fields,
    `Content-Length: ${body.length}`,
    'Connection: close',
  ];
  return { name: JSON.stringify(name), bytes: Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`, 'latin1') };
}

/** What an operator writes is refused at the start, or harmless. */
async function attackBySettings(t: TestContext, upstream: FakeUpstream, rig: Rig): Promise<string[]> {
  const found: string[] = [];
  for (const line of breaks) {
    const value = Buffer.from(`a${line}${injected}`, 'latin1').toString('utf8');
    for (const [part, change] of Object.entries({
      'a header': { headers: { 'x-fixed': value } },
      'a credential': { api_key: `sk-0123456789abcdef${value}` },
      'a header name': { forward_headers: [value] },
      'an address': { base_url: `${upstream.url}/${value}` },
    })) {
      const [lifted] = documentFor(upstream).upstreams as [object];
      const document = {
        ...documentFor(upstream),
        upstreams: [
          { ...lifted, ...change },
          { ...lifted, id: 'native' },
        ],
      };
      const before = upstream.requests.length;
      const isAccepted = await rig.compile(document).then(
        () => true,
        () => false,
      );
      if (!isAccepted) continue;
      const other = await startRig(t, document);
      const { status } = await other.post('/v1/embeddings', { model: 'm', input: 'x' });
      for (const { headers, rawHead } of upstream.requests.slice(before)) {
        const names = headers.map(([name]) => name.toLowerCase());
        if (!names.every((name) => expected.has(name))) found.push(JSON.stringify(rawHead.toString('latin1')));
      }
      if (status >= 500) found.push(`${status} with ${part} of ${JSON.stringify(value)}`);
    }
  }
  return found;
}
