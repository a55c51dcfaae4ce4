/** Configuration elements in the store, and the interface. */

/** A setting is a section of the file; the store may hold those that the file leaves out. */
export const resourceKinds = ['upstream', 'model', 'project', 'setting'] as const;
export type ResourceKind = (typeof resourceKinds)[number];

export interface Resource {
  readonly kind: ResourceKind;
  readonly id: string;
  /** As an element of the file's list, ID included; its secrets are encrypted. */
  readonly document: Readonly<Record<string, unknown>>;
  /** Incremented by each change. */
  readonly version: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface ChangeOptions {
  /** The version that the writer saw, 0 where it saw none; undefined: overwrite any. */
  readonly expected?: number | undefined;
  /** The writer's name in the audit log. */
  readonly actor: string;
}

export interface ResourceStore {
  /** In order of creation. Elements that have not changed since the last call are the same objects, and are not read again. */
  list(): Promise<readonly Resource[]>;
  get(kind: ResourceKind, id: string): Promise<Resource | undefined>;
  /** `conflict` where another writer was first. */
  put(
    kind: ResourceKind,
    id: string,
    document: Readonly<Record<string, unknown>>,
    options: ChangeOptions,
  ): Promise<Resource | 'conflict'>;
  remove(kind: ResourceKind, id: string, options: ChangeOptions): Promise<'removed' | 'absent' | 'conflict'>;
}

/** Named values of the whole installation, and their port. */
export interface SettingStore {
  get(name: string): Promise<unknown>;
  all(): Promise<ReadonlyMap<string, unknown>>;
  set(name: string, value: unknown, actor: string): Promise<void>;
  /** True for the first caller with this name, ever. It changes no setting, and is not in the audit log. */
  claim(name: string): Promise<boolean>;
  /** A random name of the installation: the same for every node that shares the store. */
  installation(): Promise<string>;
  /** When this was first called; the same for every node that shares the store. */
  installedAtMs(): Promise<number>;
}
