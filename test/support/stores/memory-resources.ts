/** In-memory resources and changes for tests. */

import type { Resource, ResourceKind, ResourceStore } from '../../../src/core/store/resources.ts';
import type { Change, ChangeFeed } from '../../../src/core/store/store.ts';

/** As the store would give it back. */
export function toResource(kind: ResourceKind, document: Readonly<Record<string, unknown>>, version = 1): Resource {
  return { kind, id: String(document.id), document, version, createdAtMs: 0, updatedAtMs: 0 };
}

export interface MemoryResources {
  readonly resources: ResourceStore;
  readonly changes: ChangeFeed;
  /** `down` rejects, `hung` never answers. */
  mode: 'up' | 'down' | 'hung';
  /** How often it was read. */
  asked: number;
  /** Notifies of a change, as a database with notifications would. */
  notify(): void;
  /** Notes a change of something that is not kept here. */
  note(kind: Change['kind'], id: string): void;
  /** Loses the oldest changes. */
  forget(count: number): void;
  /** Goes back to the state after this change, as an older copy of the database would; 0 is one without changes. */
  putBack(sequence: number): void;
  listeners(): number;
}

export function createMemoryResources(): MemoryResources {
  const rows = new Map<string, Resource>();
  let log: Change[] = [];
  let latest = 0;
  /** Two changes of one number have different times. */
  let nowMs = 0;
  const listeners = new Set<() => void>();

  async function whenUp<T>(read: () => T): Promise<T> {
    memory.asked += 1;
    if (memory.mode === 'down') throw new Error('connection refused');
    if (memory.mode === 'hung') await new Promise(() => {});
    return read();
  }

  function note(kind: Change['kind'], id: string): void {
    latest += 1;
    nowMs += 1;
    log.push({ sequence: latest, kind, id, atMs: nowMs });
  }

  const nameOf = (kind: ResourceKind, id: string): string => `${kind}/${id}`;

  const memory: MemoryResources = {
    mode: 'up',
    asked: 0,
    resources: {
      list: () => whenUp(() => [...rows.values()]),
      get: (kind, id) => whenUp(() => rows.get(nameOf(kind, id))),
      put: (kind, id, document, { expected }) =>
        whenUp(() => {
          const before = rows.get(nameOf(kind, id))?.version ?? 0;
          if (expected !== undefined && expected !== before) return 'conflict';
          const resource = { ...toResource(kind, document, before + 1), id };
          rows.set(nameOf(kind, id), resource);
          note('resource', nameOf(kind, id));
          return resource;
        }),
      remove: (kind, id, { expected }) =>
        whenUp(() => {
          const before = rows.get(nameOf(kind, id));
          if (before === undefined) return 'absent';
          if (expected !== undefined && expected !== before.version) return 'conflict';
          rows.delete(nameOf(kind, id));
          note('resource', nameOf(kind, id));
          return 'removed';
        }),
    },
    changes: {
      latest: () => whenUp(() => log.at(-1)),
      since: (known) =>
        whenUp(() => {
          const at = known === undefined ? 0 : log.indexOf(known) + 1;
          const isKnown = known === undefined ? (log[0]?.sequence ?? 1) === 1 : at > 0;
          return isKnown ? log.slice(at, at + 1_000) : undefined;
        }),
      listen(onChange) {
        listeners.add(onChange);
        return {
          async close() {
            listeners.delete(onChange);
          },
        };
      },
    },
    notify() {
      for (const listener of listeners) listener();
    },
    note,
    forget(count) {
      log = log.slice(count);
    },
    putBack(sequence) {
      log = log.filter((change) => change.sequence <= sequence);
      latest = sequence;
    },
    listeners: () => listeners.size,
  };
  return memory;
}
