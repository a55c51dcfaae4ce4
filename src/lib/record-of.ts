/** Makes objects with one value for each of some names. */
export const recordOf = <K extends string, V>(names: readonly K[], of: (name: K) => V): Record<K, V> =>
  Object.fromEntries(names.map((name) => [name, of(name)])) as Record<K, V>;

export const pick = <T, K extends keyof T & string>(from: T, names: readonly K[]): Pick<T, K> =>
  recordOf(names, (name) => from[name]) as Pick<T, K>;

export const positionsOf = <K extends string>(names: readonly K[]): Record<K, number> =>
  recordOf(names, (name) => names.indexOf(name));
