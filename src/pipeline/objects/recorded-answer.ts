/** Holds back each piece of a response until the IDs in it are recorded in the store. Its bytes do not change. */

import type { Buffer } from 'node:buffer';
import { PassingAnswer } from '../../answers/passing-answer.ts';
import type { Usage } from '../../core/accounting/usage.ts';
import { GatewayError } from '../../core/errors.ts';
import type { Answer, AnswerSink, ClientWork, Failure } from '../../core/outcome.ts';
import type { StoredName } from '../../core/store/stored-objects.ts';
import { traceOf } from '../../lib/thrown.ts';
import type { StoredIds } from './stored-ids.ts';

type Piece =
  | { readonly kind: 'chunk'; readonly chunk: Buffer }
  | { readonly kind: 'end'; readonly trailers: readonly string[] }
  | { readonly kind: 'broken'; readonly failure: Failure };

/** Limit of bytes held while the answer's own ID is unknown; the rest waits at the upstream. */
const mostHeldBytes = 256 * 1024;

export class RecordedAnswer extends PassingAnswer implements ClientWork {
  readonly #ids: StoredIds;
  readonly #record: (names: readonly StoredName[]) => Promise<void>;
  readonly #beginning = Promise.withResolvers<void>();
  /** Pieces that were not searched for IDs yet; and pieces whose IDs are recorded, but that were not passed on yet. */
  readonly #unread: Piece[] = [];
  readonly #ready: Piece[] = [];
  #heldBytes = 0;
  #isWriting = false;
  #isOver = false;
  #acceptsPieces = true;

  constructor(answer: Answer, ids: StoredIds, record: (names: readonly StoredName[]) => Promise<void>) {
    super(answer);
    this.#ids = ids;
    this.#record = record;
  }

  get countedApart(): Usage | undefined {
    return this.answer.countedApart;
  }

  /** Resolves when the answer's own ID was recorded, or there is none; rejects where recording fails. */
  begin(): Promise<void> {
    this.answer.take(this);
    return this.#beginning.promise;
  }

  override take(sink: AnswerSink): void {
    this.sink = sink;
    this.#handOn();
    if (this.#acceptsPieces && !this.#isWriting) this.answer.resume();
  }

  override resume(): void {
    this.#acceptsPieces = true;
    if (!this.#isWriting) this.answer.resume();
  }

  override cancel(): void {
    this.#isOver = true;
    this.answer.cancel();
  }

  clientLeft(): void {
    this.cancel();
    this.#beginning.reject(new GatewayError('client_closed'));
  }

  override onChunk(chunk: Buffer): boolean {
    this.#take({ kind: 'chunk', chunk });
    if (this.#isWriting) return false;
    return this.sink === undefined ? this.#heldBytes < mostHeldBytes : this.#acceptsPieces;
  }

  override onEnd(trailers: readonly string[]): void {
    this.#take({ kind: 'end', trailers });
  }

  override onBroken(failure: Failure): void {
    this.#take({ kind: 'broken', failure });
  }

  #take(piece: Piece): void {
    if (this.#isOver) return;
    this.#unread.push(piece);
    if (!this.#isWriting) this.#read();
  }

  #read(): void {
    for (let piece = this.#unread.shift(); piece !== undefined; piece = this.#unread.shift()) {
      const names = piece.kind === 'chunk' ? this.#ids.push(piece.chunk) : [];
      if (names.length > 0) {
        this.#write(names, piece);
        return;
      }
      this.#release(piece);
    }
  }

  #write(names: readonly StoredName[], piece: Piece): void {
    this.#isWriting = true;
    this.#record(names).then(
      () => {
        this.#isWriting = false;
        if (this.#isOver) return;
        this.#release(piece);
        this.#read();
        if (!this.#isWriting && this.#acceptsPieces) this.answer.resume();
      },
      (error: unknown) => this.#fail(error),
    );
  }

  #release(piece: Piece): void {
    this.#ready.push(piece);
    if (this.sink !== undefined) {
      this.#handOn();
      return;
    }
    if (piece.kind === 'chunk') this.#heldBytes += piece.chunk.length;
    if (piece.kind !== 'chunk' || this.#ids.isPastBeginning || this.#heldBytes >= mostHeldBytes) {
      this.#beginning.resolve();
    }
  }

  #handOn(): void {
    const { sink } = this;
    if (sink === undefined) return;
    for (let piece = this.#ready.shift(); piece !== undefined; piece = this.#ready.shift()) {
      if (piece.kind === 'chunk') this.#acceptsPieces = sink.onChunk(piece.chunk);
      else if (piece.kind === 'end') sink.onEnd(piece.trailers);
      else sink.onBroken(piece.failure);
    }
  }

  /** Fails the answer: one that could not be recorded would have no owner, so it is not shown. */
  #fail(error: unknown): void {
    if (this.#isOver) return;
    this.cancel();
    this.#beginning.reject(error);
    this.sink?.onBroken(toFailure(error));
  }
}

function toFailure(error: unknown): Failure {
  if (!(error instanceof GatewayError)) {
    return { code: 'internal_error', message: 'What the upstream keeps was not written down.', cause: traceOf(error) };
  }
  return { code: error.code, message: error.message, cause: traceOf(error.cause ?? error), ours: true };
}
