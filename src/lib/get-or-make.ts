/** Looks a value up in a map; makes and stores it where it is missing. */

interface Kept<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** Returns the value of a key. `make` runs at the key's first use only; on the path of requests it is a constant function. */
export function getOrMake<Key, Value>(map: Kept<Key, Value>, key: Key, make: (key: Key) => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  map.set(key, made);
  return made;
}
