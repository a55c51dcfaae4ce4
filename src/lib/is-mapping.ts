/** Checks whether a value is a plain object, such as a YAML mapping. */

export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
