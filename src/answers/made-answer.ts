/** Makes a response whose body the gateway wrote, with the head of the upstream's answer. */

import type { Buffer } from 'node:buffer';
import { performance } from 'node:perf_hooks';
import type { Usage } from '../core/accounting/usage.ts';
import type { Answer, AnswerSink } from '../core/outcome.ts';
import type { Translated } from '../core/translation.ts';
import { headersWithout } from '../lib/raw-headers.ts';
import { isWritable } from '../wire/head-writer.ts';

/** The parts of a made response. By default, status, headers and times are those of the upstream's answer. */
interface MadeParts
  extends Partial<Pick<Answer, 'status' | 'statusText' | 'sentAtMs' | 'firstByteAtMs' | 'ignored' | 'meantStatus'>> {
  /** Names and values, alternating, without headers of framing or content. */
  readonly headers?: readonly string[];
  readonly body: Buffer;
  /** The body's content type, by default `application/json`. */
  readonly contentType?: string | undefined;
  /** Set where the body was translated; undefined for the upstream's own bytes. */
  readonly translated?: Translated | undefined;
  /** Usage that was counted before the body was rewritten. */
  readonly countedApart?: Usage | undefined;
}

const json = 'application/json';

/** The upstream's content type for rewritten JSON, with its charset if that is UTF-8. */
export function jsonTypeLike(type: string | undefined): string {
  const [charset] = /(?<=;\s*)charset="?utf-?8"?(?=\s*(?:;|$))/i.exec(type ?? '') ?? [];
  return charset === undefined ? json : `${json}; ${charset}`;
}

export class WholeMadeAnswer implements Answer {
  readonly status: number;
  readonly statusText: string;
  readonly headers: readonly string[];
  readonly sentAtMs: number;
  readonly firstByteAtMs: number;
  readonly waiting: readonly Buffer[];
  readonly ended = true;
  readonly broken = undefined;
  readonly translated: Translated | undefined;
  readonly ignored: readonly string[] | undefined;
  readonly countedApart: Usage | undefined;
  readonly meantStatus: number | undefined;
  readonly #body: Buffer;

  /** `from`: the upstream's answer; undefined where no upstream was called. */
  constructor(from: Answer | undefined, { contentType = json, body, ...parts }: MadeParts) {
    const { status = from?.status ?? 200, headers = withoutBodyHeaders(from?.headers ?? []) } = parts;
    this.status = status;
    this.statusText = parts.statusText ?? (status === from?.status ? from.statusText : '');
    // A stored answer's type may be anything.
    const type = isWritable(contentType) ? contentType : json;
    this.headers = [...headers, 'content-type', type, 'content-length', String(body.length)];
    this.sentAtMs = parts.sentAtMs ?? from?.sentAtMs ?? performance.now();
    this.firstByteAtMs = parts.firstByteAtMs ?? from?.firstByteAtMs ?? this.sentAtMs;
    this.waiting = [body];
    this.translated = parts.translated;
    this.ignored = parts.ignored;
    this.countedApart = parts.countedApart;
    this.meantStatus = parts.meantStatus ?? (status === from?.status ? from.meantStatus : undefined);
    this.#body = body;
  }

  get bytes(): number {
    return this.#body.length;
  }

  take(sink: AnswerSink): void {
    sink.onChunk(this.#body);
    sink.onEnd([]);
  }

  resume(): void {
    // The whole body is here already.
  }

  cancel(): void {
    // Nothing is running.
  }
}

/** Names of headers that describe the upstream's body, and so do not fit the client's. */
const ofTheBody =
  /^(?:content-(?:type|length|encoding|md5|digest|range|language|location|disposition)|digest|repr-digest|etag|last-modified|accept-ranges|trailer)$/i;

export const withoutBodyHeaders = (raw: readonly string[]): string[] =>
  headersWithout(raw, (name) => ofTheBody.test(name));
