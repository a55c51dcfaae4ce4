/** Mappings of keys to values: what is one, and one with nothing in it. */

/** Tells a mapping from all else that a document may hold. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Has no key but those that are put into it. The engine keeps its like in a third of the room that it takes for objects without a prototype. */
class Mapping {
  readonly [key: string]: unknown;
}
Object.setPrototypeOf(Mapping.prototype, null);
Reflect.deleteProperty(Mapping.prototype, 'constructor');

export function emptyMapping(): Record<string, unknown> {
  return new Mapping();
}
