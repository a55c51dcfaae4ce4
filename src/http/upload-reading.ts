/** Reads a form completely within a limit: small ones in memory, others in a file, so that it can be sent more than once. */

import { Buffer } from 'node:buffer';
import { GatewayError } from '../core/errors.ts';
import type { MemoryLease } from '../core/memory-lease.ts';
import type { FormPart, Upload } from '../core/upload.ts';
import type { PartHead } from '../lib/multipart/part-head.ts';
import { type MultipartFault, MultipartReader, type MultipartSink } from '../lib/multipart/reader.ts';
import { reasonOf } from '../lib/thrown.ts';
import type { WireFault } from '../wire/fault.ts';
import type { RequestSink, ServerRequest } from '../wire/server-request.ts';
import type { BodyReader } from './body.ts';
import { toRefusal } from './framing.ts';
import { GrowingBody } from './gathering.ts';
import type { Spool, SpoolFile } from './spool.ts';

/** Forms up to this length stay in memory; longer ones go into a file. */
export const inMemoryBytes = 1024 ** 2;
/** Longest text part that is read, among parts that are no file; longer ones pass unread. */
const longestTextBytes = 64 * 1024;
const mostTextBytes = 1024 ** 2;
/** With more bytes than this waiting to be written, the client is paused. */
const pausesAtBytes = 512 * 1024;
const limits = { parts: 256, headBytes: 8 * 1024, nameBytes: 256 };

export interface UploadPlan {
  readonly limitBytes: number;
  readonly boundary: string;
}

export interface UploadStorage {
  readonly memory: MemoryLease;
  readonly disk: MemoryLease;
  readonly spool: Spool;
}

export class UploadReading implements RequestSink, MultipartSink {
  readonly #request: ServerRequest;
  readonly #reader: BodyReader;
  readonly #limitBytes: number;
  readonly #boundary: string;
  readonly #storage: UploadStorage;
  readonly #form: MultipartReader;
  readonly #gathering: GrowingBody;
  readonly #parts: FormPart[] = [];
  #head: PartHead | undefined = undefined;
  #start = 0;
  /** Text of the present part; undefined for a file, or a long text. */
  #text: Buffer | undefined = undefined;
  #textBytes = 0;
  #allTextBytes = 0;
  #receivedBytes = 0;
  #isReceived = false;

  #isOnDisk = false;
  #isWriting = false;
  #file: SpoolFile | undefined = undefined;
  #waiting: Buffer[] = [];
  #waitingBytes = 0;

  #resolve: ((upload: Upload) => void) | undefined = undefined;
  #reject: ((error: GatewayError) => void) | undefined = undefined;

  constructor(
    request: ServerRequest,
    { limitBytes, boundary }: UploadPlan,
    storage: UploadStorage,
    reader: BodyReader,
  ) {
    this.#request = request;
    this.#reader = reader;
    this.#limitBytes = limitBytes;
    this.#boundary = boundary;
    this.#storage = storage;
    this.#form = new MultipartReader(boundary, this, limits);
    this.#gathering = new GrowingBody(storage.memory, () => 0);
  }

  whole(): Promise<Upload> {
    return new Promise((resolve, reject) => {
      this.#resolve = resolve;
      this.#reject = reject;
      this.#request.read(this);
    });
  }

  fail(error: GatewayError): boolean {
    if (this.#reject === undefined) return false;
    this.#reject(error);
    this.#reject = undefined;
    this.#reader.onBodyRead(this.#receivedBytes);
    this.#gathering.drop();
    this.#waiting = [];
    // Writes in progress are finished before the file is closed.
    this.#file?.close();
    this.#storage.disk.release();
    this.#request.resume();
    return true;
  }

  onBody(chunk: Buffer): void {
    if (this.#reject === undefined) return;
    this.#receivedBytes += chunk.length;
    if (this.#receivedBytes > this.#limitBytes) {
      this.fail(tooLarge(this.#limitBytes, 'goes on beyond it'));
      return;
    }
    const fault = this.#form.push(chunk);
    if (fault !== undefined) this.fail(noForm(fault));
    else if (this.#isOnDisk) this.#toDisk([chunk]);
    else if (this.#receivedBytes > inMemoryBytes) this.#leaveMemory(chunk);
    else if (!this.#gathering.add(chunk)) this.fail(outgrown());
  }

  onBodyEnd(): void {
    if (this.#reject === undefined) return;
    const fault = this.#form.end();
    if (fault !== undefined) {
      this.fail(noForm(fault));
      return;
    }
    this.#isReceived = true;
    this.#finishIfWhole();
  }

  onBodyFault(fault: WireFault): void {
    this.fail(toRefusal(fault));
  }

  onPart(head: PartHead, at: number): void {
    this.#head = head;
    this.#start = at;
    this.#text = head.filename === undefined ? noText : undefined;
    this.#textBytes = 0;
  }

  onData(piece: Buffer): void {
    if (this.#text === undefined) return;
    const start = this.#textBytes;
    this.#textBytes += piece.length;
    this.#allTextBytes += piece.length;
    if (this.#textBytes > longestTextBytes || this.#allTextBytes > mostTextBytes) {
      this.#text = undefined;
      return;
    }
    // Copied into one buffer: thousands of short pieces would take a hundred times their content.
    if (this.#textBytes > this.#text.length) this.#text = lengthened(this.#text, start, 2 * this.#textBytes);
    piece.copy(this.#text, start);
  }

  onPartEnd(at: number): void {
    if (this.#head === undefined) return;
    const text = this.#text && Buffer.from(this.#text.subarray(0, this.#textBytes));
    this.#parts.push({ ...this.#head, start: this.#start, end: at, text });
    this.#text = undefined;
  }

  #leaveMemory(chunk: Buffer): void {
    this.#isOnDisk = true;
    const held = this.#gathering.whole();
    if (held instanceof Promise) throw new TypeError('what is held in memory is short');
    this.#toDisk([held, chunk]);
  }

  #toDisk(pieces: readonly Buffer[]): void {
    if (!this.#storage.disk.growTo(this.#receivedBytes)) {
      this.fail(diskFull());
      return;
    }
    for (const piece of pieces) {
      this.#waiting.push(piece);
      this.#waitingBytes += piece.length;
    }
    if (this.#waitingBytes > pausesAtBytes) this.#request.pause();
    if (!this.#isWriting) void this.#write();
  }

  async #write(): Promise<void> {
    this.#isWriting = true;
    try {
      const file = this.#file ?? (await this.#storage.spool.open());
      this.#file = file;
      while (this.#waiting.length > 0 && this.#reject !== undefined) {
        const pieces = this.#waiting;
        this.#waiting = [];
        this.#waitingBytes = 0;
        this.#request.resume();
        await file.append(pieces);
      }
    } catch (error) {
      this.fail(unwritable(error));
    }
    this.#isWriting = false;
    // The form was refused while the file was opened.
    if (this.#reject === undefined) this.#file?.close();
    else this.#finishIfWhole();
  }

  #finishIfWhole(): void {
    if (!this.#isReceived || this.#isWriting || this.#reject === undefined) return;
    this.#reject = undefined;
    this.#reader.onBodyRead(this.#receivedBytes);
    const { disk } = this.#storage;
    const file = this.#file;
    const body = file === undefined ? this.#gathering.whole() : [file.whole()];
    if (body instanceof Promise) throw new TypeError('what is held in memory is short');
    this.#resolve?.({
      body,
      bytes: this.#receivedBytes,
      parts: this.#parts,
      boundary: this.#boundary,
      beginsAt: this.#form.beginsAt,
      release() {
        file?.close();
        disk.release();
      },
    });
  }
}

const noText = Buffer.alloc(0);

function lengthened(text: Buffer, usedBytes: number, bytes: number): Buffer {
  const longer = Buffer.allocUnsafeSlow(bytes);
  text.copy(longer, 0, 0, usedBytes);
  return longer;
}

export function tooLarge(limitBytes: number, what: string): GatewayError {
  return new GatewayError('body_too_large', {
    message: `The limit of a form is ${limitBytes} bytes (server.upload_limit), and this one ${what}; send less at once.`,
  });
}

function noForm({ what, at }: MultipartFault): GatewayError {
  return new GatewayError('invalid_multipart', {
    message: `The body is not valid multipart/form-data: ${what} (at byte ${at}).`,
  });
}

const retryAfter = ['Retry-After', '1'];

function outgrown(): GatewayError {
  return new GatewayError('overloaded', {
    message: 'There is no memory left for request bodies (server.body_memory); try again in 1 s.',
    headers: retryAfter,
    cause: 'memory for request bodies: none left for a form',
  });
}

export function diskFull(): GatewayError {
  return new GatewayError('overloaded', {
    message: 'There is no room left on the disk for forms with long files (server.upload_disk); try again in 1 s.',
    headers: retryAfter,
    cause: 'disk for uploads: none left for this key, or for any',
  });
}

function unwritable(error: unknown): GatewayError {
  return new GatewayError('overloaded', {
    message: 'A form with long files could not be kept just now; try again in 1 s.',
    headers: retryAfter,
    cause: `uploads cannot be written: ${reasonOf(error)}`,
  });
}
