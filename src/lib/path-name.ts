/** Says whether a name with slashes in it can stand in a path and be read as nothing but that name. */

/** No control characters, nothing that begins a query or a fragment, no segment that is empty or climbs. */
export function isPathName(name: string): boolean {
  if (/[\u0000-\u001f\u007f-\u009f?#\\]/.test(name)) return false;
  return name.split('/').every((segment) => segment !== '' && segment !== '.' && segment !== '..');
}
