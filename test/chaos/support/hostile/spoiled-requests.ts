/** Makes malformed requests: well-formed ones with exactly one fault. */

import { type MalformedRequest, malformedRequests } from '../../../support/clients/malformed-requests.ts';
import {
  type Draft,
  framingField,
  insertBehind,
  makeDraft,
  pick,
  plusField,
  type Random,
  toBytes,
  toContent,
  toLines,
  toText,
  withChunk,
  withField,
} from './request-draft.ts';

export interface SpoiledRequest extends MalformedRequest {
  /** The same request without its oddity; undefined where it never was one. */
  readonly whole: Buffer | undefined;
}

/** The spoiled text, or its beginning if the rest never comes; undefined if the draft lacks the part to spoil. */
type Spoil = (draft: Draft, random: Random) => string | { readonly text: string; readonly cut: true } | undefined;

const controls = ['\0', ...'\x01\x02\x07\x08\x0b\x0c\x0e\x1b\x1f\x7f'] as const;
const separators = ['"', ...'(),/;<=>?@[\\]{} \t\x80\xe4\xff', ...controls] as const;

const spoils: readonly (readonly [name: string, spoil: Spoil])[] = [
  [
    'a control character in a value',
    (draft, random) =>
      toText(
        withField(draft, random, (field) =>
          insertBehind(field, field.indexOf(':') + 1, pick(controls, random), random),
        ),
      ),
  ],
  [
    'a separator in a name',
    (draft, random) =>
      toText(
        withField(draft, random, (field) => {
          const at = Math.floor(random() * (field.indexOf(':') + 1));
          return field.slice(0, at) + pick(separators, random) + field.slice(at);
        }),
      ),
  ],
  ['a line without a name', (draft, random) => toText(plusField(draft, random, pick([': x', ':', '=x', 'x'], random)))],
  [
    'a line end that is none',
    (draft, random) => {
      const lines = [...toLines(draft), ''];
      const chosen = Math.floor(random() * lines.length);
      const end = pick(['\n', '\r', '\n\r', '\r\r\n'], random);
      return lines.map((line, index) => line + (index === chosen ? end : '\r\n')).join('') + toContent(draft);
    },
  ],
  [
    'a folded field',
    (draft, random) => toText(withField(draft, random, (field) => `${field}\r\n${pick([' ', '\t', '  '], random)}y`)),
  ],
  [
    'a field that may not stand twice',
    (draft, random) => {
      const field = pick(
        ['Host: b', 'hOST: 127.0.0.1', framingField(draft), framingField(draft).toUpperCase()],
        random,
      );
      return toText(plusField(draft, random, field));
    },
  ],
  [
    'two content types',
    (draft, random) =>
      toText(plusField(plusField(draft, random, 'Content-Type: application/json'), random, 'content-type: text/plain')),
  ],
  [
    'two framings',
    (draft, random) => {
      const other = draft.chunks === undefined ? 'Transfer-Encoding: chunked' : `Content-Length: ${draft.body.length}`;
      return toText(plusField(draft, random, other));
    },
  ],
  [
    'a length that is no number',
    (draft, random) => {
      if (draft.chunks !== undefined) return undefined;
      const n = draft.body.length;
      const written = [
        `+${n}`,
        `-${n}`,
        `0${n}`,
        `0x${n}`,
        `${n}.0`,
        `${n}e0`,
        `${n},${n}`,
        `${n};`,
        `${n} 0`,
        `_${n}`,
      ];
      return toText(draft, `Content-Length: ${pick([`${n}${'0'.repeat(20)}`, ...written], random)}`);
    },
  ],
  [
    'another coding',
    (draft, random) => {
      if (draft.chunks === undefined) return undefined;
      const spoiled = insertBehind('chunked', 0, pick(['x', ...',;"\x0b\x80', ' x'], random), random);
      return toText(draft, `Transfer-Encoding: ${pick([spoiled, 'gzip, chunked', 'chunked, identity'], random)}`);
    },
  ],
  [
    'chunks before their time',
    (draft) => (draft.chunks === undefined ? undefined : toText({ ...draft, version: 'HTTP/1.0' })),
  ],
  [
    'a chunk size that is no number',
    (draft, random) =>
      withChunk(draft, random, (size, data) => {
        const strange = pick(['0x', ...'gx+-_.,:\0\x80'], random);
        return `${insertBehind(size, 0, strange, random)}\r\n${data}\r\n`;
      }),
  ],
  [
    'a chunk of another size',
    (draft, random) =>
      withChunk(draft, random, (size, data) => {
        const other = Number.parseInt(size, 16) + pick([1, -1], random);
        return `${pick([other > 0 ? other.toString(16) : '', 'f'.repeat(17)], random)}\r\n${data}\r\n`;
      }),
  ],
  [
    'a chunk that ends otherwise',
    (draft, random) =>
      withChunk(draft, random, (size, data) =>
        pick(
          [
            `${size}\n${data}\r\n`,
            `${size}\r\n${data}\n`,
            `${size}\r\n${data}`,
            `${size}\r${data}\r\n`,
            `${size};x\n${data}\r\n`,
            `${size}\r\n${data}\r\r\n`,
          ],
          random,
        ),
      ),
  ],
  [
    'an end that never comes',
    (draft, random) => {
      const text = toText(draft);
      return { text: text.slice(0, 1 + Math.floor(random() * (text.length - 1))), cut: true };
    },
  ],
  [
    'a method that is none',
    (draft, random) =>
      toText({
        ...draft,
        method: pick(
          ['post', 'pOST', 'POSTS', 'P\xd6ST', 'P OST', 'POST\t', '\0POST', 'GET /\r\nPOST', ' POST'],
          random,
        ),
      }),
  ],
  [
    'a target that is no path',
    (draft, random) => {
      const { target } = draft;
      const strange = pick([...controls, ' ', '\x80', '\xff'], random);
      const inside = `${target.slice(0, 2)}${strange}${target.slice(2)}`;
      const others = [target.slice(1), `http://a${target}`, `*${target}`, `?${target}`, '*'];
      return toText({ ...draft, target: pick([inside, ...others], random) });
    },
  ],
  [
    'a version that is none',
    (draft, random) => {
      const versions = ['HTTP/0.9', 'HTTP/2.0', 'HTTP/1.1.1', 'HTTP/1,1', 'HTTP/11', 'HTTP/1.1 x', 'HTTP/1.\xb9', ''];
      return toText({ ...draft, version: pick(['HTTP/1.2', ...versions, 'http/1.1', 'HTTP/ 1.1', 'HTP/1.1'], random) });
    },
  ],
  ['no host', (draft) => toText({ ...draft, fields: draft.fields.filter((field) => !field.startsWith('Host:')) })],
  [
    'a host that is none',
    (draft, random) => {
      const host = `Host: a${pick(['::', ...',/?#@\\%<>;"| \x80'], random)}b`;
      const fields = draft.fields.map((field) => (field.startsWith('Host:') ? host : field));
      return toText({ ...draft, fields });
    },
  ],
  [
    'a head without measure',
    (draft, random) => {
      const filler = 'x'.repeat(33_000 + Math.floor(random() * 50_000));
      const half = filler.slice(0, 17_000);
      return toText(
        plusField(draft, random, pick([`X: ${filler}`, `${filler}: x`, `X: ${half}\r\nY: ${half}`], random)),
      );
    },
  ],
  [
    'a connection that drops what frames',
    (draft, random) => {
      const name = pick(['Content-Length', 'transfer-encoding', 'HOST', 'authorization'], random);
      return toText(plusField(draft, random, `Connection: ${pick(['', 'close, ', 'x,\t'], random)}${name}`));
    },
  ],
  [
    'another expectation',
    (draft, random) =>
      toText(plusField(draft, random, `Expect: ${pick(['200-ok', '100-continu', '100-continue;', 'x'], random)}`)),
  ],
];

const [firstSpoil, ...otherSpoils] = spoils;

/** The known rows first, then made-up ones, `count` in all. */
export function spoiledRequests(count: number, random: Random): SpoiledRequest[] {
  if (firstSpoil === undefined) throw new TypeError('there is no way to spoil a request');
  const spoiled: SpoiledRequest[] = malformedRequests.map((row) => ({ ...row, whole: undefined }));
  while (spoiled.length < count) {
    if (random() < 0.03) {
      spoiled.push(noise(random));
      continue;
    }
    const draft = makeDraft(random);
    const [name, spoil] = pick([firstSpoil, ...otherSpoils], random);
    const made = spoil(draft, random);
    if (made === undefined) continue;
    const { text, cut } = typeof made === 'string' ? { text: made, cut: undefined } : made;
    const whole = toBytes(toText(draft));
    spoiled.push({ name, bytes: toBytes(text), whole, ...(cut === undefined ? {} : { cut }) });
  }
  return spoiled;
}

function noise(random: Random): SpoiledRequest {
  const bytes = Array.from({ length: 1 + Math.floor(random() * 2_000) }, () => Math.floor(random() * 256));
  return { name: 'noise', bytes: Buffer.from(bytes), cut: true, whole: undefined };
}
