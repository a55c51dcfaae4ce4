/** Looks up stored objects by ID. Only found ones are cached, so that objects that other nodes record are found at once. */

import { GatewayError } from '../../core/errors.ts';
import type { KeyRecord } from '../../core/key.ts';
import type { StoredName, StoredObject, StoredObjectStore } from '../../core/store/stored-objects.ts';
import { beforeDeadline } from '../../lib/deadline.ts';

export interface RegistryDeps {
  readonly store: StoredObjectStore;
  readonly deadlineMs?: number;
  readonly maxEntries?: number;
}

/** The owner of all that a key creates: its project, or the key itself without one. */
export const ownerOf = ({ id, project }: Pick<KeyRecord, 'id' | 'project'>): string =>
  project === undefined ? `key/${id}` : `project/${project}`;

interface Writing {
  readonly objects: readonly StoredObject[];
  readonly written: PromiseWithResolvers<void>;
}

export class ObjectRegistry {
  readonly #store: StoredObjectStore;
  readonly #deadlineMs: number;
  readonly #maxEntries: number;
  /** Cached objects in the order of use, the least recent first. */
  readonly #known = new Map<string, readonly StoredObject[]>();
  /** Names of objects that are known to be in the store, of any owner. */
  readonly #written = new Set<string>();
  #waiting: Writing[] = [];
  #isWriting = false;

  constructor({ store, deadlineMs = storeTimeoutMs, maxEntries = 10_000 }: RegistryDeps) {
    this.#store = store;
    this.#deadlineMs = deadlineMs;
    this.#maxEntries = maxEntries;
  }

  /** Records objects. Resolves once every node can find them; rejects with `store_unavailable`. Repeated objects are written once. */
  record(all: readonly StoredObject[]): Promise<void> {
    const objects = all.filter((object) => !this.#written.has(writtenKeyOf(object)));
    if (objects.length === 0) return Promise.resolve();
    const written = Promise.withResolvers<void>();
    this.#waiting.push({ objects, written });
    if (!this.#isWriting) void this.#write();
    return inTime(
      written.promise,
      'What the upstream keeps of this request cannot be written down just now',
      this.#deadlineMs,
    );
  }

  /** Writes pending objects; those that arrive meanwhile are written together with the next write. */
  async #write(): Promise<void> {
    this.#isWriting = true;
    while (this.#waiting.length > 0) {
      const writings = this.#waiting;
      this.#waiting = [];
      try {
        await this.#store.add(writings.flatMap(({ objects }) => objects));
        for (const { written, objects } of writings) {
          for (const object of objects) {
            this.#written.add(writtenKeyOf(object));
            dropOldest(this.#written, this.#maxEntries);
          }
          written.resolve();
        }
      } catch (error) {
        for (const { written } of writings) written.reject(error);
      }
    }
    this.#isWriting = false;
  }

  /** Finds the objects with these names, of the owner and of others. Returns no promise where all of the owner's are cached. */
  find(names: readonly StoredName[], owner: string): readonly StoredObject[] | Promise<readonly StoredObject[]> {
    const found: StoredObject[] = [];
    // An ID that is requested as several kinds is an object of one of them.
    for (const same of Map.groupBy(names, ({ id }) => id).values()) {
      const known = same.flatMap((name) => this.#known.get(keyOf(name)) ?? []);
      if (!known.some((object) => object.owner === owner)) return this.#look(names);
      found.push(...known);
    }
    return found;
  }

  async findOwn(name: StoredName, owner: string): Promise<StoredObject | undefined> {
    const found = await this.find([name], owner);
    return found.find((object) => object.owner === owner);
  }

  async #look(names: readonly StoredName[]): Promise<readonly StoredObject[]> {
    const found = await inTime(
      this.#store.find(names),
      'What this request names cannot be looked up just now',
      this.#deadlineMs,
    );
    for (const [key, objects] of Map.groupBy(found, keyOf)) this.#remember(key, objects);
    return found;
  }

  #remember(key: string, objects: readonly StoredObject[]): void {
    this.#known.delete(key);
    this.#known.set(key, objects);
    dropOldest(this.#known, this.#maxEntries);
  }

  async forget(object: StoredObject): Promise<void> {
    this.#known.delete(keyOf(object));
    this.#written.delete(writtenKeyOf(object));
    await inTime(this.#store.remove(object), 'What was deleted cannot be forgotten just now', this.#deadlineMs);
  }
}

const storeTimeoutMs = 1_000;

/** Waits for the store; throws `store_unavailable` after the deadline or a failure, with `what` in the message. */
export async function inTime<T>(work: Promise<T>, what: string, deadlineMs = storeTimeoutMs): Promise<T> {
  const tooLate = (): Error => new Error(`The store did not answer within ${deadlineMs} ms.`);
  try {
    return await beforeDeadline(work, deadlineMs, tooLate);
  } catch (cause) {
    throw new GatewayError('store_unavailable', {
      message: `${what}, as the store does not answer; try again in a moment.`,
      headers: ['Retry-After', '1'],
      cause,
    });
  }
}

const writtenKeyOf = ({ kind, id, upstream }: StoredObject): string => `${kind} ${id} ${upstream}`;

function dropOldest(kept: Map<string, unknown> | Set<string>, most: number): void {
  const [oldest] = kept.keys();
  if (oldest !== undefined && kept.size > most) kept.delete(oldest);
}

const keyOf = ({ kind, id }: StoredName): string => `${kind} ${id}`;
