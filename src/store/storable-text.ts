/** Text as every database keeps it. */

/** PostgreSQL's text cannot hold a NUL: it becomes the sign for what is no text, as half a character does in any UTF-8. */
export function toStorableText(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\uFFFD') : text;
}
