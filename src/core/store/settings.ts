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
