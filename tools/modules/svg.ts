/** SVG helpers: elements, and text broken into lines. */

type Attributes = Readonly<Record<string, string | number>>;

export function element(name: string, attributes: Attributes, content = ''): string {
  const said = Object.entries(attributes).map(([key, value]) => ` ${key}="${escaped(String(value))}"`);
  return content === '' ? `<${name}${said.join('')}/>` : `<${name}${said.join('')}>${content}</${name}>`;
}

export const text = (className: string, x: number, y: number, words: string, more: Attributes = {}): string =>
  element('text', { class: className, x, y, ...more }, escaped(words));

export const box = (className: string, x: number, y: number, width: number, height: number): string =>
  element('rect', { class: className, x, y, width, height, rx: 8 });

export const path = (className: string, d: string): string => element('path', { class: className, d });

/** Breaks text into lines of at most `most` characters; a longer word has a line of its own. */
export function toLines(words: string, most: number): string[] {
  const lines: string[] = [];
  for (const word of words.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= most) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}

const escaped = (words: string): string =>
  words.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
