/** JSON as people can look at it: long vectors and long texts are cut, and say how much was left out. */

const mostNumbers = 8;
const mostItems = 60;
const mostCharacters = 2_000;

export interface Shortened {
  readonly text: string;
  readonly isShortened: boolean;
}

export function shorten(value: unknown): Shortened {
  let isShortened = false;

  function write(one: unknown, indent: string): string {
    if (Array.isArray(one)) return writeArray(one, indent);
    if (typeof one === 'object' && one !== null) return writeObject(Object.entries(one), indent);
    if (typeof one === 'string' && one.length > mostCharacters) {
      isShortened = true;
      return `${JSON.stringify(one.slice(0, mostCharacters))} … ${one.length - mostCharacters} more characters`;
    }
    return JSON.stringify(one) ?? 'null';
  }

  function writeObject(entries: readonly (readonly [string, unknown])[], indent: string): string {
    if (entries.length === 0) return '{}';
    const inner = `${indent}  `;
    const lines = entries.map(([name, part]) => `${inner}${JSON.stringify(name)}: ${write(part, inner)}`);
    return `{\n${lines.join(',\n')}\n${indent}}`;
  }

  function writeArray(items: readonly unknown[], indent: string): string {
    if (items.length === 0) return '[]';
    const isNumbers = items.every((item) => typeof item === 'number');
    const most = isNumbers ? mostNumbers : mostItems;
    const left = items.length - most;
    const inner = `${indent}  `;
    const shown = items.slice(0, most).map((item) => write(item, inner));
    if (left > 0) {
      isShortened = true;
      shown.push(`… ${left} more`);
    }
    return isNumbers ? `[${shown.join(', ')}]` : `[\n${shown.map((line) => inner + line).join(',\n')}\n${indent}]`;
  }

  return { text: write(value, ''), isShortened };
}
