/** Counts tool calls run by the service in a passing response. */

import type { Buffer } from 'node:buffer';
import type { OperationRow } from '../../core/operations/row.ts';
import { JsonPicker, type Picked } from '../../lib/json/json-picker.ts';

type ToolCalls = Readonly<Record<string, number>>;

export interface CallReader {
  push(chunk: Buffer): void;
  calls(): ToolCalls;
}

/** The reader for an operation; undefined where the usage itself has the calls. */
export function createCallReader(callsIn: OperationRow['callsIn'], isStream: boolean): CallReader | undefined {
  if (callsIn === 'output') return new LineReader(isStream, isStream ? new AddedItems() : new WholeItems());
  return callsIn === 'grounding' ? new LineReader(isStream, new Grounding()) : undefined;
}

/** Counts the calls in the values picked from one JSON document; each line of a stream is a document. */
interface Counter {
  readonly paths: readonly string[];
  take(picked: readonly Picked[]): void;
  calls(): ToolCalls;
}

const LINE_FEED = 0x0a;

class LineReader implements CallReader {
  readonly #isStream: boolean;
  readonly #counter: Counter;
  readonly #picker: JsonPicker;
  #picked: Picked[] = [];

  constructor(isStream: boolean, counter: Counter) {
    this.#isStream = isStream;
    this.#counter = counter;
    this.#picker = new JsonPicker(counter.paths);
  }

  push(chunk: Buffer): void {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); this.#isStream && end !== -1; end = chunk.indexOf(LINE_FEED, start)) {
      this.#picker.push(chunk, this.#picked, start, end);
      this.#picker.reset();
      this.#flush();
      start = end + 1;
    }
    this.#picker.push(chunk, this.#picked, start);
  }

  calls(): ToolCalls {
    this.#flush();
    return this.#counter.calls();
  }

  #flush(): void {
    if (this.#picked.length > 0) this.#counter.take(this.#picked);
    this.#picked = [];
  }
}

const called = /^([a-z0-9_]{1,60})_call$/;
const clientTools: ReadonlySet<string> = new Set(['function', 'custom_tool', 'local_shell', 'apply_patch', 'computer']);
/** Actions of a search tool that are not billed as a search: they only read a page. */
const noSearches: ReadonlySet<string> = new Set(['open_page', 'find_in_page']);

const kindIn = (type: string): string | undefined => {
  const kind = called.exec(type)?.[1];
  return kind === undefined || clientTools.has(kind) ? undefined : kind;
};

class Tally {
  readonly counts = new Map<string, number>();
  /** The containers that were used: one container runs code for many calls, so it counts once. */
  readonly containers = new Set<string>();

  add(kind: string | undefined, count = 1): void {
    if (kind !== undefined) this.counts.set(kind, (this.counts.get(kind) ?? 0) + count);
  }

  calls(): ToolCalls {
    const calls = Object.fromEntries([...this.counts].filter(([, count]) => count > 0));
    const ran = calls.code_interpreter ?? 0;
    if (ran > 0 && this.containers.size > 0) calls.code_interpreter = Math.min(ran, this.containers.size);
    return calls;
  }
}

class WholeItems implements Counter {
  readonly paths = ['output.*.type', 'output.*.action.type', 'output.*.container_id'];
  readonly #tally = new Tally();

  take(picked: readonly Picked[]): void {
    for (const { path, text } of picked) {
      if (path === 'output.*.type') this.#tally.add(kindIn(text));
      else if (path === 'output.*.container_id') this.#tally.containers.add(text);
      else if (noSearches.has(text)) this.#tally.add('web_search', -1);
    }
  }

  calls(): ToolCalls {
    return this.#tally.calls();
  }
}

/** Counts calls in a stream. A call counts once it has begun, so that clients cannot avoid it by leaving early. */
class AddedItems implements Counter {
  readonly paths = ['type', 'item.type', 'item.action.type', 'item.container_id'];
  readonly #begun = new Tally();
  readonly #ended = new Tally();
  #pages = 0;

  take(picked: readonly Picked[]): void {
    const at = (wanted: string) => picked.find(({ path }) => path === wanted)?.text ?? '';
    const kind = kindIn(at('item.type'));
    const container = at('item.container_id');
    if (kind === undefined) return;
    if (container !== '') this.#begun.containers.add(container);
    if (at('type') === 'response.output_item.added') this.#begun.add(kind);
    if (at('type') !== 'response.output_item.done') return;
    this.#ended.add(kind);
    if (noSearches.has(at('item.action.type'))) this.#pages += 1;
  }

  calls(): ToolCalls {
    const tally = new Tally();
    for (const name of this.#begun.containers) tally.containers.add(name);
    for (const kind of new Set([...this.#begun.counts.keys(), ...this.#ended.counts.keys()])) {
      tally.add(kind, Math.max(this.#begun.counts.get(kind) ?? 0, this.#ended.counts.get(kind) ?? 0));
    }
    tally.add('web_search', -this.#pages);
    return tally.calls();
  }
}

const queries = 'candidates.*.groundingMetadata.webSearchQueries.*';
const maps = 'candidates.*.groundingMetadata.groundingChunks.*.maps.uri';

/** Counts Google's searches: some models are billed for each grounded answer, some for each query. */
class Grounding implements Counter {
  readonly paths = [queries, maps];
  readonly #queries = new Set<string>();
  #hasMaps = false;

  take(picked: readonly Picked[]): void {
    for (const { path, text } of picked) {
      if (path === queries) this.#queries.add(text);
      else this.#hasMaps = true;
    }
  }

  calls(): ToolCalls {
    const asked = this.#queries.size;
    return {
      ...(asked > 0 && { google_search: 1, google_search_query: asked }),
      ...(this.#hasMaps && { google_maps: 1 }),
    };
  }
}
