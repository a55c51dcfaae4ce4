/** Lists names in a sentence: the first few, and the number of the others. */
export function inShort(names: readonly string[], most = 5): string {
  const more = names.length - most;
  return names.slice(0, most).join(', ') + (more > 0 ? ` and ${more} more` : '');
}
