/** Quotes text as a CSV cell. */

/** Quotes a cell as in RFC 4180; a text that a spreadsheet would read as a formula gets an apostrophe. */
export function toCsvText(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
