/** A mapping of keys to values with nothing in it. */

/** Has no key but those that are put into it. The engine keeps its like in a third of the room that it takes for objects without a prototype. */
class Mapping {
  readonly [key: string]: unknown;
}
Object.setPrototypeOf(Mapping.prototype, null);
Reflect.deleteProperty(Mapping.prototype, 'constructor');

export function emptyMapping(): Record<string, unknown> {
  return new Mapping();
}
