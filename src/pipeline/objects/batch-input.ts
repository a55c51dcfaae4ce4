/** Validates a batch file before it is sent, each line like a direct call, and sums the estimates. One fault refuses the file. */

import { Buffer } from 'node:buffer';
import { createHash } from 'node:crypto';
import { forNothing, type RequestEstimate } from '../../core/accounting/price.ts';
import type { CallBody } from '../../core/call-body.ts';
import { unfitField } from '../../core/client-api.ts';
import { GatewayError } from '../../core/errors.ts';
import type { KeyRecord } from '../../core/key.ts';
import type { Operation } from '../../core/operations/index.ts';
import type { Route } from '../../core/route.ts';
import type { ResolvedModel } from '../../core/snapshot.ts';
import type { BatchInput } from '../../core/store/stored-objects.ts';
import type { FormPart, Upload } from '../../core/upload.ts';
import { type JsonField, replaceSpans, textOf } from '../../lib/json/json-scan.ts';
import { type Line, LineReader } from '../../lib/lines.ts';
import { PatchedBytes, type Patches } from '../../lib/patched-bytes.ts';
import { isSliceOver, nextSlice } from '../../lib/time-slices.ts';
import { addEstimate, sureToolsOf } from './batch-count.ts';
import { type BatchAsker, type JudgedRequest, judgeRequest, type RequestJudge } from './batch-request.ts';
import { compileFields, needed, readFields } from './known-fields.ts';

interface BatchLine {
  readonly customId: JsonField;
  readonly url: string;
  readonly body: JsonField;
}

const lineFields = compileFields(['custom_id', 'method', 'url', 'body']);

const longestUrlBytes = 256;
const longestIdBytes = 1_022;
const quotesBytes = 2;
/** Longest ID that is remembered as it is; a longer one is remembered by its digest. */
const longestRememberedId = 40;

const RETURN = 0x0d;
const byteOrderMark = Buffer.from([0xef, 0xbb, 0xbf]);

/** Parses a line; `bytes` are without the line feed. */
async function readBatchLine(bytes: Buffer, no: number): Promise<BatchLine> {
  checkBytes(bytes, no);
  const fields = await readFields(bytes, lineFields);
  const customId = needed(fields, 'custom_id', 'a string that no other line has');
  const method = needed(fields, 'method', '"POST"');
  const url = needed(fields, 'url', 'a string such as "/v1/chat/completions"');
  const body = needed(fields, 'body', 'an object, as the body of a request has it');
  const idBytes = customId.end - customId.start - quotesBytes;
  if (customId.kind !== 'string' || idBytes > longestIdBytes || idBytes < 1) {
    throw unfitField('custom_id', `a string that is not empty, of ${longestIdBytes} bytes at most`);
  }
  if (method.kind !== 'string' || shortened(bytes, method) !== 'POST') throw unfitField('method', '"POST"');
  if (url.kind !== 'string') throw unfitField('url', 'a string');
  if (body.kind !== 'object') throw unfitField('body', 'an object');
  return { customId, url: shortened(bytes, url), body };
}

function customIdIn(bytes: Buffer, field: JsonField): string {
  const id = textOf(bytes, field);
  return id.length <= longestRememberedId ? id : createHash('sha256').update(id).digest('base64');
}

function checkBytes(bytes: Buffer, no: number): void {
  if (no === 1 && bytes.subarray(0, byteOrderMark.length).equals(byteOrderMark)) {
    throw new GatewayError('invalid_json', {
      param: 'file',
      message: 'It begins with a byte order mark; save the file without one.',
    });
  }
  const end = bytes.at(-1) === RETURN ? bytes.length - 1 : bytes.length;
  if (end === 0) {
    throw new GatewayError('invalid_json', { param: 'file', message: 'It is empty; leave it out.' });
  }
  // Some readers end a line at a carriage return.
  const returned = bytes.indexOf(RETURN);
  if (returned !== -1 && returned < end) {
    throw new GatewayError('invalid_json', {
      param: 'file',
      message: `It holds a carriage return (at byte ${returned} of the line) that is not at its end.`,
    });
  }
}

const shortened = (bytes: Buffer, field: JsonField): string =>
  field.end - field.start > longestUrlBytes ? '' : textOf(bytes, field);

export interface BatchInputDeps extends RequestJudge {
  /** Routes that lines may ask for, by each spelling of their path. */
  readonly lineRoutes: ReadonlyMap<string, Route>;
  checkOperation(key: KeyRecord, operation: Operation): void;
}

interface JudgedFile {
  readonly input: BatchInput;
  /** The form to upload, with the upstream's name for the model in each line. */
  readonly body: CallBody;
}

const mostLines = 50_000;
const mostBytes = 200 * 1024 ** 2;
const pieceBytes = 256 * 1024;
/** Lines up to this length need no memory lease. */
const freeBytes = 1024 ** 2;

export type BatchInputJudge = (upload: Upload, file: FormPart, asker: BatchAsker) => Promise<JudgedFile>;

export function createBatchInputJudge(deps: BatchInputDeps): BatchInputJudge {
  return async (upload, file, asker) => {
    if (file.end - file.start > mostBytes) throw tooManyBytes();
    const reading = new InputReading(deps, asker);
    const reader = new LineReader(asker.exchange.snapshot.server.bodyLimitBytes);
    const memory = asker.exchange.requestLease;
    const ownBytes = memory?.bytes ?? 0;
    for await (const piece of piecesOf(upload.body, file)) {
      for (const line of reader.push(piece)) {
        await reading.take(line);
        memory?.shrinkTo(ownBytes);
      }
      // A complete line is joined into one buffer.
      if (reader.heldBytes > freeBytes && memory?.growTo(ownBytes + 2 * reader.heldBytes) === false) throw noMemory();
    }
    const last = reader.end();
    if (last !== undefined) await reading.take(last);
    memory?.shrinkTo(ownBytes);
    return reading.result(upload.body, file.start);
  };
}

async function* piecesOf(body: CallBody, { start, end }: FormPart): AsyncGenerator<Buffer, void, undefined> {
  if (Buffer.isBuffer(body)) {
    yield body.subarray(start, end);
    return;
  }
  const [stored, another] = body;
  if (stored === undefined || another !== undefined) throw new TypeError('a form is kept in one piece');
  if (Buffer.isBuffer(stored)) {
    yield stored.subarray(start, end);
    return;
  }
  for (let at = start; at < end; ) {
    const piece = await stored.read(at, Math.min(pieceBytes, end - at));
    yield piece;
    at += piece.length;
  }
}

/** What the first line says, with which all lines must agree. */
interface First {
  readonly route: Route;
  readonly url: string;
  readonly resolved: ResolvedModel;
  readonly upstreamModel: string;
  readonly sureTools: string;
}

class InputReading {
  readonly #deps: BatchInputDeps;
  readonly #asker: BatchAsker;
  readonly #ids = new Set<string>();
  readonly #starts: number[] = [];
  readonly #ends: number[] = [];
  #first: First | undefined = undefined;
  #estimate: RequestEstimate = forNothing;
  #lines = 0;

  constructor(deps: BatchInputDeps, asker: BatchAsker) {
    this.#deps = deps;
    this.#asker = asker;
  }

  async take(line: Line): Promise<void> {
    if (this.#asker.exchange.client.gone) throw new GatewayError('client_closed');
    try {
      await this.#judge(line);
    } catch (error) {
      throw error instanceof GatewayError && error.status < 500 ? inLine(line.no, error) : error;
    }
    if (isSliceOver()) await nextSlice();
  }

  result(body: CallBody, fileStart: number): JudgedFile {
    const first = this.#first;
    if (first === undefined) {
      throw new GatewayError('invalid_json', {
        param: 'file',
        message: 'The file has no line; send one for each request.',
      });
    }
    const { resolved, upstreamModel, route } = first;
    const estimate = { ...this.#estimate, batch: { path: route.path, lines: this.#lines } };
    const shift = (at: number): number => fileStart + at;
    const patches: Patches = {
      starts: this.#starts.map(shift),
      ends: this.#ends.map(shift),
      text: Buffer.from(JSON.stringify(upstreamModel)),
    };
    return { input: { model: resolved.id, upstreamModel, estimate }, body: patched(body, patches) };
  }

  async #judge({ no, at, bytes }: Line): Promise<void> {
    if (no > mostLines) throw tooManyLines();
    if (bytes === undefined) throw tooLong(this.#asker.exchange.snapshot.server.bodyLimitBytes);
    const line = await readBatchLine(bytes, no);
    const id = customIdIn(bytes, line.customId);
    if (this.#ids.has(id)) {
      throw new GatewayError('duplicate_parameter', {
        param: 'custom_id',
        message: 'An earlier line has the same "custom_id"; give each its own.',
      });
    }
    this.#ids.add(id);
    const route = this.#routeAt(line.url);
    const asked = await judgeRequest(bytes.subarray(line.body.start, line.body.end), route, this.#asker, this.#deps);
    this.#compare(asked, route, line.url);
    const { span } = asked;
    if (span !== undefined) {
      this.#starts.push(at + line.body.start + span.start);
      this.#ends.push(at + line.body.start + span.end);
    }
    this.#estimate = addEstimate(this.#estimate, asked.estimate);
    this.#lines += 1;
  }

  #routeAt(url: string): Route {
    const route = this.#deps.lineRoutes.get(url);
    if (route === undefined) {
      const known = [...new Set([...this.#deps.lineRoutes.values()].map(({ path }) => path))];
      throw new GatewayError('unsupported_parameter', {
        param: 'url',
        message: `The "url" is not available to batches; it must be one of ${known.join(', ')}.`,
      });
    }
    if (this.#first === undefined) this.#deps.checkOperation(this.#asker.key, route.operation);
    return route;
  }

  #compare({ resolved, upstreamModel, estimate }: JudgedRequest, route: Route, url: string): void {
    const sureTools = sureToolsOf(estimate);
    this.#first ??= { route, url, resolved, upstreamModel, sureTools };
    const first = this.#first;
    if (first.url !== url) {
      throw new GatewayError('unsupported_parameter', {
        param: 'url',
        message: `The first line has the "url" "${first.url}", and all lines of a batch must have the same; make a file for each.`,
      });
    }
    if (first.sureTools !== sureTools) {
      throw new GatewayError('unsupported_parameter', {
        param: 'body',
        message:
          'The first line differs in tools that the upstream runs and whose calls no answer reports; make a file for each.',
      });
    }
    if (first.resolved.id === resolved.id && first.upstreamModel === upstreamModel) return;
    throw new GatewayError('unsupported_parameter', {
      param: 'body.model',
      message: `The first line asks the model ${JSON.stringify(first.resolved.id)}, and a batch asks one model; make a file for each.`,
    });
  }
}

function patched(body: CallBody, patches: Patches): CallBody {
  if (patches.starts.length === 0) return body;
  if (!Buffer.isBuffer(body))
    return body.map((piece) => (Buffer.isBuffer(piece) ? piece : new PatchedBytes(piece, patches)));
  const { starts, ends, text } = patches;
  return replaceSpans(
    body,
    starts.map((start, index) => ({ start, end: ends[index] ?? start, pieces: [text] })),
  );
}

function inLine(no: number, { code, message, param, headers, cause, recordedAs }: GatewayError): GatewayError {
  return new GatewayError(code, {
    param: param ?? 'file',
    message: `Line ${no} of the file: ${message}`,
    headers,
    cause,
    recordedAs,
  });
}

function tooManyLines(): GatewayError {
  return new GatewayError('body_too_large', {
    param: 'file',
    message: `A batch has at most ${mostLines} lines; make several files of it.`,
  });
}

function tooManyBytes(): GatewayError {
  return new GatewayError('body_too_large', {
    param: 'file',
    message: `The file of a batch has at most ${mostBytes} bytes; make several files of it.`,
  });
}

function tooLong(limitBytes: number): GatewayError {
  return new GatewayError('body_too_large', {
    param: 'file',
    message: `It is longer than a request may be, which is ${limitBytes} bytes (server.body_limit).`,
  });
}

function noMemory(): GatewayError {
  return new GatewayError('overloaded', {
    message: 'There is no memory left for request bodies (server.body_memory); try again in 1 s.',
    headers: ['Retry-After', '1'],
    cause: 'memory for request bodies: none left for a line of a batch',
  });
}
