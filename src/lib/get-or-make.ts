/** Looks a value up in a map, and makes it where it is missing. */

interface Kept<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): unknown;
}

/** `make` runs at the first use of the key only; where requests pass, it is a constant function. */
export function getOrMake<Key, Value>(map: Kept<Key, Value>, key: Key, make: (key: Key) => Value): Value {
  const known = map.get(key);
  if (known !== undefined) return known;
  const made = make(key);
  map.set(key, made);
  return made;
}
