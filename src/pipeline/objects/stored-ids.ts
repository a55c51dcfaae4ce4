/** Finds IDs of stored objects in a response while it passes: in a JSON document, or in an event stream. */

import { Buffer } from 'node:buffer';
import type { ObjectRecords } from '../../core/operations/row.ts';
import { isStoredId, type StoredName } from '../../core/store/stored-objects.ts';
import { JsonPicker, type Picked } from '../../lib/json/json-picker.ts';
import { LINE_FEED, RETURN } from '../../lib/json/json-tokens.ts';

export interface StoredIds {
  /** Searches a chunk; returns IDs that end in it and are new. */
  push(chunk: Buffer): readonly StoredName[];
  /** Whether the answer's own ID is known, or will not come any more: later IDs are additional. */
  readonly isPastBeginning: boolean;
}

/** Limit of IDs in one answer, above any real one; further IDs are not recorded. */
const mostIds = 2_000;
/** Bytes in which a document's own ID is expected, as it comes early. */
const longestBeginningBytes = 64 * 1024;

/** A search for IDs in the answer; undefined where it is neither JSON nor a stream. */
export function storedIdsIn(contentType: string | undefined, records: ObjectRecords): StoredIds | undefined {
  const mediaType = contentType?.split(';', 1)[0]?.trim().toLowerCase() ?? '';
  if (mediaType === 'text/event-stream') return new IdsInEvents(records.events);
  return mediaType === 'application/json' || mediaType.endsWith('+json') ? new IdsInDocument(records.whole) : undefined;
}

class Seen {
  readonly #paths: ObjectRecords['whole'];
  readonly #seen = new Set<string>();

  constructor(locations: ObjectRecords['whole']) {
    this.#paths = locations;
  }

  newIn(picked: readonly Picked[]): StoredName[] {
    const names: StoredName[] = [];
    for (const { path, text: id } of picked) {
      const kind = this.#paths[path];
      if (kind === undefined || !isStoredId(id)) continue;
      const key = `${kind} ${id}`;
      if (this.#seen.has(key) || this.#seen.size >= mostIds) continue;
      this.#seen.add(key);
      names.push({ kind, id });
    }
    return names;
  }
}

class IdsInDocument implements StoredIds {
  readonly #picker: JsonPicker;
  readonly #seen: Seen;
  #bytes = 0;
  isPastBeginning = false;

  constructor(locations: ObjectRecords['whole']) {
    this.#picker = new JsonPicker(Object.keys(locations));
    this.#seen = new Seen(locations);
  }

  push(chunk: Buffer): readonly StoredName[] {
    const picked: Picked[] = [];
    this.#picker.push(chunk, picked);
    this.#bytes += chunk.length;
    if (this.#bytes > longestBeginningBytes || picked.some(({ path }) => path === 'id')) this.isPastBeginning = true;
    return picked.length === 0 ? none : this.#seen.newIn(picked);
  }
}

const none: readonly StoredName[] = Object.freeze([]);

const field = Buffer.from('data:');

/** Offset of a byte; the length of the chunk where it is absent. */
function offsetIn(chunk: Buffer, byte: number, from: number): number {
  const at = chunk.indexOf(byte, from);
  return at === -1 ? chunk.length : at;
}

class IdsInEvents implements StoredIds {
  readonly #picker: JsonPicker;
  readonly #seen: Seen;
  /** How many bytes of the current line match the beginning of a data line; -1 for other lines. */
  #matched = 0;
  isPastBeginning = false;

  constructor(locations: ObjectRecords['events']) {
    this.#picker = new JsonPicker(Object.keys(locations));
    this.#seen = new Seen(locations);
  }

  push(chunk: Buffer): readonly StoredName[] {
    const picked: Picked[] = [];
    let at = 0;
    // Each byte is searched once per chunk: searching again for an absent one would make it quadratic.
    let feed = offsetIn(chunk, LINE_FEED, 0);
    let nextReturn = offsetIn(chunk, RETURN, 0);
    while (at < chunk.length) {
      if (feed < at) feed = offsetIn(chunk, LINE_FEED, at);
      if (nextReturn < at) nextReturn = offsetIn(chunk, RETURN, at);
      const end = Math.min(feed, nextReturn);
      this.#readLine(chunk, at, end, picked);
      if (end < chunk.length) this.#endLine();
      at = end + 1;
    }
    return picked.length === 0 ? none : this.#seen.newIn(picked);
  }

  #readLine(chunk: Buffer, start: number, end: number, picked: Picked[]): void {
    let at = start;
    while (at < end && this.#matched >= 0 && this.#matched < field.length) {
      this.#matched = chunk[at] === field[this.#matched] ? this.#matched + 1 : -1;
      at += 1;
    }
    if (at < end && this.#matched === field.length) this.#picker.push(chunk, picked, at, end);
  }

  #endLine(): void {
    if (this.#matched === field.length) {
      this.isPastBeginning = true;
      this.#picker.reset();
    }
    this.#matched = 0;
  }
}
