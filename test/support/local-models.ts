/** Test helper: calls a local model as the pipeline does. */

import { createHash } from 'node:crypto';
import type { MadeAnswer, Maker } from '../../src/core/family.ts';

export interface Answered<T> {
  readonly status: number;
  readonly headers: ReadonlyMap<string, string>;
  readonly text: string;
  /** The body parsed as JSON; the test knows its type. */
  readonly json: T;
}

export interface ErrorBody {
  readonly error: {
    readonly message: string;
    readonly type: string;
    readonly param: string | null;
    readonly code: string;
  };
}

const neverAborted = new AbortController().signal;

export async function ask<T = ErrorBody>(make: Maker, fields: object | string): Promise<Answered<T>> {
  const answer = await make(toBody(fields), neverAborted);
  const text = Buffer.concat(await readParts(answer)).toString();
  const isJson = answer.headers.some(([, value]) => value === 'application/json');
  return { status: answer.status, headers: new Map(answer.headers), text, json: JSON.parse(isJson ? text : 'null') };
}

export const toBody = (fields: object | string): Buffer =>
  Buffer.from(typeof fields === 'string' ? fields : JSON.stringify(fields));

export async function readParts({ body }: MadeAnswer): Promise<Buffer[]> {
  return Buffer.isBuffer(body) ? [body] : await Array.fromAsync(body);
}

export const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, 16);
