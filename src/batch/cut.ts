/** Makes shorter embeddings (Matryoshka): requests full vectors, truncates each and scales it to unit length. */

import { Buffer } from 'node:buffer';
import { dimensionNames } from '../core/dimension-names.ts';
import { GatewayError } from '../core/errors.ts';
import { Unfit } from '../core/translation.ts';
import { floatsIn, floatsToBytes } from '../lib/float-bytes.ts';
import type { JsonSpan } from '../lib/json/json-elements.ts';
import { JsonWalk } from '../lib/json/json-walk.ts';
import { toUnitLength } from '../lib/unit-length.ts';
import { type ListRequest, numberAt, type Result, sourceOf } from './codecs/codec.ts';

const names: ReadonlySet<string> = new Set(dimensionNames);
const numberKindFields = ['output_dtype', 'embedding_type', 'embed_dtype'];
const floats: ReadonlySet<string> = new Set(['"float"', '"float32"', '"base64"', 'null']);

/** The request without its width, and that width; undefined where it asks for none. Throws where the client's width is invalid. */
export function cutIn(
  request: ListRequest,
  widest: number | undefined,
): { readonly request: ListRequest; readonly width: number } | undefined {
  const { members, body } = request;
  const named = members.filter(({ name }) => names.has(name));
  const [asked] = named.filter(({ value }) => sourceIn(body, value) !== 'null');
  if (asked === undefined) return undefined;
  const width = numberAt(body, asked.value);
  if (!Number.isInteger(width) || width < 1 || width > (widest ?? Number.POSITIVE_INFINITY)) {
    const to = widest === undefined ? 'from 1 on' : `from 1 to ${widest}, as many as the vectors of this model have`;
    throw new GatewayError('unsupported_parameter', {
      param: asked.name,
      message: `The field "${asked.name}" cannot be served; send a whole number ${to}.`,
    });
  }
  const kind = numberKindFields.find((name) => !floats.has(sourceOf(request, name) ?? 'null'));
  if (kind !== undefined) {
    throw new GatewayError('unsupported_parameter', {
      param: kind,
      message: `The field "${kind}" cannot be served together with "${asked.name}": vectors of this model are cut here, and only floats can be; leave one of the two out.`,
    });
  }
  const kept = members.filter(({ name }) => !names.has(name));
  return { width, request: { ...request, members: kept, without: members.flatMap(gapsIn(request)) } };
}

const sourceIn = (body: Buffer, { start, end }: JsonSpan): string => body.toString('latin1', start, end);

const COMMA = 0x2c;
const OPEN = '{';

/** The spans of the fields with the width, each with one neighbouring comma, so that removing them leaves valid JSON. */
const gapsIn =
  ({ body, members }: ListRequest) =>
  ({ name, value }: ListRequest['members'][number], index: number): JsonSpan[] => {
    if (!names.has(name)) return [];
    const before = members[index - 1];
    if (before === undefined) return [{ start: body.indexOf(OPEN) + 1, end: behindComma(body, value) }];
    const isLeading = members.slice(0, index).every((one) => names.has(one.name));
    return isLeading
      ? [{ start: behindComma(body, before.value), end: behindComma(body, value) }]
      : [{ start: before.value.end, end: value.end }];
  };

const behindComma = (body: Buffer, { end }: JsonSpan): number => body.indexOf(COMMA, end) + 1;

/** Truncates a result's vector. Throws `Unfit` where the result is no vector, or has fewer numbers. */
export function cut(result: Result, width: number): Result {
  const { bytes, index, width: whole } = result;
  if (whole === width) return result;
  if (whole === undefined || whole < width) throw new Unfit(`a vector cannot be cut to ${width} numbers`);
  const at = vectorIn(bytes);
  const written = Buffer.from(shortened(sourceIn(bytes, at), width), 'latin1');
  const moved = index !== undefined && index.start > at.start ? written.length - (at.end - at.start) : 0;
  return {
    ...result,
    bytes: Buffer.concat([bytes.subarray(0, at.start), written, bytes.subarray(at.end)]),
    index: index && { start: index.start + moved, end: index.end + moved },
    width,
  };
}

function vectorIn(bytes: Buffer): JsonSpan {
  const walk = new JsonWalk(bytes);
  let found: JsonSpan | undefined;
  walk.object((name) => {
    walk.peek();
    const value = walk.value();
    if (name === 'embedding') found = value;
  });
  if (found === undefined) throw new TypeError('a result of embeddings has a vector');
  return found;
}

function shortened(source: string, width: number): string {
  if (!source.startsWith('"')) {
    const numbers: readonly number[] = JSON.parse(source);
    return JSON.stringify(ofUnitLength(numbers.slice(0, width)));
  }
  const text: string = JSON.parse(source);
  return `"${floatsToBytes(ofUnitLength(floatsIn(text).slice(0, width))).toString('base64')}"`;
}

const ofUnitLength = (values: readonly number[]): readonly number[] => toUnitLength(values) ?? values;
