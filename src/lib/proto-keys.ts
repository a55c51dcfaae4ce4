/** Finds keys named `__proto__`, which most copying code loses silently, before a document is validated. */

type Path = readonly (string | number)[];

const name = '__proto__';

/** Removes keys named `__proto__` from a JSON value at any depth, and returns their paths. */
export function takeOutProtoKeys(root: unknown): Path[] {
  const found: Path[] = [];
  const left: { readonly value: unknown; readonly path: Path }[] = [{ value: root, path: [] }];
  for (let next = left.pop(); next !== undefined; next = left.pop()) {
    const { value, path } = next;
    if (typeof value !== 'object' || value === null) continue;
    if (Object.hasOwn(value, name)) {
      found.push([...path, name]);
      Reflect.deleteProperty(value, name);
    }
    const entries = Array.isArray(value) ? value.entries() : Object.entries(value);
    for (const [step, inner] of entries) {
      if (typeof inner === 'object' && inner !== null) left.push({ value: inner, path: [...path, step] });
    }
  }
  return found;
}

export function holdsProtoKey(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return Object.hasOwn(value, name) || Object.values(value).some(holdsProtoKey);
}
