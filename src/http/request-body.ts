/** Reads the body of a request into leased memory, or a long form to disk, and stops when its client leaves. */

import type { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { Exchange, RequestHeaders } from '../core/exchange.ts';
import { loopHeader } from '../core/loop-mark.ts';
import type { BodyWaiter, MemoryLease, MemoryPool } from '../core/memory-lease.ts';
import type { Route } from '../core/route.ts';
import type { Upload } from '../core/upload.ts';
import { boundaryOf, isMultipart } from '../lib/multipart/part-head.ts';
import type { AnswerEnd, ServerAnswer } from '../wire/server-answer.ts';
import type { ServerRequest } from '../wire/server-request.ts';
import { announcedBytesOf, type BodyPlan, type BodyReader, BodyReading, bytesToBeginWith } from './body.ts';
import { findCoding } from './coding.ts';
import { toGatewayError } from './error-answer.ts';
import { toRefusal } from './framing.ts';
import type { Spool } from './spool.ts';
import { diskFull, inMemoryBytes, tooLarge, UploadReading } from './upload-reading.ts';

export interface RequestBodiesDeps {
  readonly bodyPool: MemoryPool;
  /** Storage of long forms on disk. `enter` reserves space: undefined where the key's share, or all of it, is used up. */
  readonly uploads: { readonly spool: Spool; enter(key: string): MemoryLease | undefined };
}

export interface RequestBodies {
  readJsonBody(exchange: Exchange, request: ServerRequest, response: ServerAnswer): Promise<Buffer>;
  /** Reads a JSON body and notifies the waiter. Returns no promise where memory is available. */
  takeJsonBody(exchange: Exchange, request: ServerRequest, response: ServerAnswer, waiter: BodyWaiter): void;
  /** Reads a JSON body, or a form where the route accepts one. */
  readBody(exchange: Exchange, route: Route, request: ServerRequest, response: ServerAnswer): Promise<Buffer | Upload>;
}

export function createRequestBodies(deps: RequestBodiesDeps): RequestBodies {
  function readBody(
    exchange: Exchange,
    { form }: Route,
    request: ServerRequest,
    response: ServerAnswer,
  ): Promise<Buffer | Upload> {
    const contentType = request.header('content-type') ?? '';
    if (form !== undefined && isMultipart(contentType)) return readUpload(exchange, contentType, request, response);
    if (form?.only === true) {
      throw new GatewayError('unsupported_media_type', {
        message: 'Send the body as "Content-Type: multipart/form-data".',
      });
    }
    return readJsonBody(exchange, request, response);
  }

  async function readUpload(
    exchange: Exchange,
    contentType: string,
    request: ServerRequest,
    response: ServerAnswer,
  ): Promise<Upload> {
    const limitBytes = exchange.snapshot.server.uploadLimitBytes;
    if (findCoding(request.header('content-encoding')) !== undefined) {
      throw new GatewayError('unsupported_encoding', { message: 'Send a form plain, without Content-Encoding.' });
    }
    const boundary = boundaryOf(contentType);
    if (boundary === undefined) {
      throw new GatewayError('invalid_multipart', {
        message: 'The Content-Type must name one boundary, of 1 to 70 of the characters that RFC 2046 allows.',
      });
    }
    checkReadable(exchange, request);
    const { bodyBytes } = request;
    if (bodyBytes !== 'chunked' && bodyBytes > limitBytes) throw tooLarge(limitBytes, `is ${bodyBytes} bytes long`);
    const announcedBytes = bodyBytes === 'chunked' ? undefined : Math.min(bodyBytes, inMemoryBytes);
    const memory = await leaseFor(exchange, { limitBytes, announcedBytes, coding: undefined });
    exchange.requestLease = memory;
    checkReadable(exchange, request);
    const disk = deps.uploads.enter(exchange.key?.id ?? '');
    if (disk === undefined) throw diskFull();
    request.askForBody();
    const storage = { memory, disk, spool: deps.uploads.spool };
    const link = linkOf(response);
    const reading = new UploadReading(request, { limitBytes, boundary }, storage, link);
    link.reads(reading);
    return reading.whole();
  }

  function readJsonBody(exchange: Exchange, request: ServerRequest, response: ServerAnswer): Promise<Buffer> {
    return new Promise((resolve, reject) =>
      takeJsonBody(exchange, request, response, { onWhole: resolve, onFailed: reject }),
    );
  }

  function takeJsonBody(exchange: Exchange, request: ServerRequest, response: ServerAnswer, waiter: BodyWaiter): void {
    const { server } = exchange.snapshot;
    const { isJson, contentEncoding } = factsOf(request.fields);
    if (!isJson && exchange.clientApi?.takesAnyMediaType !== true) throw new GatewayError('unsupported_media_type');
    const coding = findCoding(contentEncoding);
    // The client may have left while its key was looked up.
    checkReadable(exchange, request);
    const limitBytes = server.bodyLimitBytes;
    const plan = { limitBytes, announcedBytes: announcedBytesOf(request, limitBytes), coding };
    const found = leaseFor(exchange, plan);
    if (!(found instanceof Promise)) {
      readInto(found, plan, exchange, request, response, waiter);
      return;
    }
    found
      .then((lease) => readInto(lease, plan, exchange, request, response, waiter))
      .catch((error: unknown) => waiter.onFailed(toGatewayError(error)));
  }

  function readInto(
    lease: MemoryLease,
    plan: BodyPlan,
    exchange: Exchange,
    request: ServerRequest,
    response: ServerAnswer,
    waiter: BodyWaiter,
  ): void {
    exchange.requestLease = lease;
    // The client may have left while the request waited for memory.
    checkReadable(exchange, request);
    const link = linkOf(response);
    const whole = plan.coding === undefined ? request.takeWhole() : undefined;
    if (whole !== undefined) {
      link.onBodyRead(whole.length);
      waiter.onWhole(whole);
      return;
    }
    request.askForBody();
    const reading = new BodyReading(request, plan, lease, link);
    link.reads(reading);
    reading.start(waiter);
  }

  /** Throws where the client has left or the request is unreadable: no further bytes or events would come. */
  function checkReadable({ client }: Exchange, request: ServerRequest): void {
    if (client.gone) throw new GatewayError('client_closed');
    const { fault } = request;
    if (fault !== undefined) throw toRefusal(fault);
  }

  function leaseFor({ key, client, snapshot }: Exchange, plan: BodyPlan): MemoryLease | Promise<MemoryLease> {
    if (key === undefined) throw new TypeError('a body is read for a key');
    return deps.bodyPool.enter({ key: key.id, client, waitMs: snapshot.server.bodyWaitMs }, bytesToBeginWith(plan));
  }

  return { readBody, readJsonBody, takeJsonBody };
}

interface Reading {
  fail(error: GatewayError): boolean;
}

function linkOf({ ends }: ServerAnswer): ClientLink {
  if (!(ends instanceof ClientLink)) throw new TypeError('a body is read for a client');
  return ends;
}

/** Notified when a connection has sent the answer, or its client has left: then ends the work for the client. */
export class ClientLink implements AnswerEnd, BodyReader {
  #reading: Reading | undefined = undefined;
  readonly #exchange: Exchange;

  constructor(exchange: Exchange) {
    this.#exchange = exchange;
  }

  reads(reading: Reading): void {
    this.#reading = reading;
  }

  onBodyRead(receivedBytes: number): void {
    this.#exchange.requestBytes = receivedBytes;
    this.#reading = undefined;
  }

  onAnswerClosed(isWhole: boolean): void {
    const { answerLease, client } = this.#exchange;
    answerLease?.release();
    if (isWhole) return;
    client.gone = true;
    this.#reading?.fail(new GatewayError('client_closed'));
    client.work?.clientLeft();
  }
}

const clientRequestIdPattern = /^[A-Za-z0-9._-]{1,128}$/;

const readFacts = (headers: RequestHeaders) => ({
  clientRequestId: clientRequestIdIn(headers),
  loopMark: headers.get(loopHeader),
  forwardedFor: headers.get('x-forwarded-for'),
  isJson: isJsonMediaType(headers.get('content-type')),
  contentEncoding: headers.get('content-encoding'),
});
type HeadFacts = ReturnType<typeof readFacts>;

export function factsOf(fields: ServerRequest['fields']): HeadFacts {
  fields.facts ??= readFacts(fields);
  // Only this function stores something there.
  return fields.facts as HeadFacts;
}

export function clientRequestIdIn(headers: RequestHeaders): string | undefined {
  const id = headers.get('x-request-id');
  return id !== undefined && clientRequestIdPattern.test(id) ? id : undefined;
}

/** Whether a body may be JSON: `application/json`, any `+json`, or no type. Other charsets than UTF-8 could read differently at the upstream. */
export function isJsonMediaType(contentType: string | undefined): boolean {
  if (contentType === undefined || contentType === 'application/json') return true;
  const [mediaType = '', ...parameters] = contentType.toLowerCase().split(';');
  const essence = mediaType.trim();
  if (
    essence !== '' &&
    essence !== 'application/json' &&
    !/^[a-z0-9!#$&^_.+-]+\/[a-z0-9!#$&^_.+-]+\+json$/.test(essence)
  ) {
    return false;
  }
  return parameters.every((parameter) => {
    const [name = '', value = ''] = parameter.split('=');
    return name.trim() !== 'charset' || /^"?(?:utf-?8|us-ascii|ascii)"?$/.test(value.trim());
  });
}
