/** Quotes text as a CSV cell. */

/** As RFC 4180 has it; and what a spreadsheet would take for a formula begins with an apostrophe. */
export function toCsvText(text: string): string {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
