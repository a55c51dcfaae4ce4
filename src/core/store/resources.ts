/** Configuration elements in the store, and the interface. */

/** A setting is a section of the file, of which the store may hold what the file leaves open. */
export const resourceKinds = ['upstream', 'model', 'project', 'setting'] as const;
export type ResourceKind = (typeof resourceKinds)[number];

export interface Resource {
  readonly kind: ResourceKind;
  readonly id: string;
  /** As an element of the file's list, ID included; secrets in it are sealed. */
  readonly document: Readonly<Record<string, unknown>>;
  /** Goes up by one with each change. */
  readonly version: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface ResourceStore {
  /** Of those that are known and have not changed since, the document is not read again: the known one comes back. */
  list(known?: readonly Resource[]): Promise<Resource[]>;
  get(kind: ResourceKind, id: string): Promise<Resource | undefined>;
  /**
   * `expected` is the version that the writer saw, 0 where it saw none, undefined where it does not care. `conflict` where
   * someone else was quicker.
   */
  put(
    kind: ResourceKind,
    id: string,
    document: Readonly<Record<string, unknown>>,
    options: { readonly expected?: number | undefined; readonly actor: string },
  ): Promise<Resource | 'conflict'>;
  remove(
    kind: ResourceKind,
    id: string,
    options: { readonly expected?: number | undefined; readonly actor: string },
  ): Promise<'removed' | 'absent' | 'conflict'>;
}

/** Named values of the whole installation, and their port. */
export interface SettingStore {
  get(name: string): Promise<unknown>;
  all(): Promise<ReadonlyMap<string, unknown>>;
  set(name: string, value: unknown, actor: string): Promise<void>;
  /** Of all who ask for one name, the first hears yes, once and for all. It is no change of a setting, and not in the audit log. */
  claim(name: string): Promise<boolean>;
  /** A random name of whoever shares this store, the same for all of them from the first time that it was asked for. */
  installation(): Promise<string>;
  /** When this was first asked for; the same for everybody who shares this store. */
  installedAtMs(): Promise<number>;
}
