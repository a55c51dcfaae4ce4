/** Interface to store configuration elements (upstreams, models, projects) and settings that are edited in the console. */

/** Kinds of stored elements. A `setting` is a section of the configuration file, which the store may hold where the file leaves it out. */
export const resourceKinds = ['upstream', 'model', 'project', 'setting'] as const;
export type ResourceKind = (typeof resourceKinds)[number];

export interface Resource {
  readonly kind: ResourceKind;
  readonly id: string;
  /** The element as in the file's list, ID included; its secrets are encrypted. */
  readonly document: Readonly<Record<string, unknown>>;
  /** The element's version: each change adds one. */
  readonly version: number;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

export interface ChangeOptions {
  /** The version that the writer saw, 0 where there was none; undefined: overwrite any. */
  readonly expected?: number | undefined;
  readonly actor: string;
}

export interface ResourceStore {
  /** All elements in order of creation. Those unchanged since the last call are the same objects, and are not read again. */
  list(): Promise<readonly Resource[]>;
  get(kind: ResourceKind, id: string): Promise<Resource | undefined>;
  /** Stores an element; `conflict` where another writer was first. */
  put(
    kind: ResourceKind,
    id: string,
    document: Readonly<Record<string, unknown>>,
    options: ChangeOptions,
  ): Promise<Resource | 'conflict'>;
  remove(kind: ResourceKind, id: string, options: ChangeOptions): Promise<'removed' | 'absent' | 'conflict'>;
}

/** Stores named values of the whole installation. */
export interface SettingStore {
  get(name: string): Promise<unknown>;
  all(): Promise<ReadonlyMap<string, unknown>>;
  set(name: string, value: unknown, actor: string): Promise<void>;
  /** True for the first caller ever that claims this name. A claim changes no setting, and is not in the audit log. */
  claim(name: string): Promise<boolean>;
  /** A random name of the installation, made once: the same for every node that shares the store. */
  installation(): Promise<string>;
  /** Time of the first call ever; the same for every node that shares the store. */
  installedAtMs(): Promise<number>;
}
