/** Reads fields that hold several texts or JSON. */

import { isMapping } from '../../parts/forms/documents.ts';

interface Texts {
  /** The objects of a JSON array, which are sent unchanged. */
  readonly items: readonly unknown[];
  readonly how: 'json' | 'blocks' | 'lines';
}

/** Reads a JSON array, blocks separated by an empty line, or one text per line. */
export function parseTexts(text: string): Texts {
  const trimmed = text.trim();
  const pasted = parseArray(trimmed);
  if (pasted !== undefined) return { items: pasted, how: 'json' };
  const blocks = trimmed.split(/\n[^\S\n]*\n\s*/u).filter((block) => block.trim() !== '');
  if (blocks.length > 1) return { items: blocks.map((block) => block.trim()), how: 'blocks' };
  const lines = trimmed.split('\n').map((line) => line.trim());
  return { items: lines.filter((line) => line !== ''), how: 'lines' };
}

function parseArray(text: string): unknown[] | undefined {
  if (!text.startsWith('[')) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : undefined;
  } catch {
    return undefined; // a text that begins with a bracket
  }
}

/** How an item is shown: its text, or the object as JSON. */
export function toShownText(item: unknown): string {
  if (typeof item === 'string') return item;
  if (typeof item === 'object' && item !== null && 'text' in item && typeof item.text === 'string') return item.text;
  return JSON.stringify(item) ?? '';
}

/** Further fields as JSON, which the form lacks; an error text if it is no object. */
export function parseFurther(text: string): Readonly<Record<string, unknown>> | string {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    return isMapping(value) ? value : 'Write an object: {"seed": 7}.';
  } catch {
    return 'This is not JSON yet.';
  }
}
