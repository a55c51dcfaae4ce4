/** Converts a page to HTML with heading anchors, and splits it into sections for the search. */

import { Marked, type Token } from 'marked';
import type { Section } from './search.ts';

export interface Rendered {
  readonly title: string;
  readonly html: string;
  readonly sections: readonly Omit<Section, 'page' | 'title'>[];
}

/** `link` returns the target of a link in the site. */
export function render(text: string, link: (href: string) => string): Rendered {
  const name = createNames();
  const sections: { heading: string; anchor: string; text: string }[] = [];
  const marked = new Marked({ gfm: true });
  const tokens = marked.lexer(text);
  const anchors = new Map<Token, string>();
  for (const token of tokens) {
    if (token.type === 'heading') {
      const heading = toText(token);
      const anchor = name(heading);
      anchors.set(token, anchor);
      sections.push({ heading, anchor, text: '' });
    } else if (token.type !== 'html') {
      const last = sections.at(-1);
      if (last !== undefined) last.text = `${last.text} ${toText(token)}`.trim();
    }
  }
  marked.use({
    renderer: {
      heading(token) {
        const { depth, tokens: inside } = token;
        const anchor = anchors.get(token) ?? '';
        return `<h${depth} id="${anchor}">${this.parser.parseInline(inside)} <a class="here" href="#${anchor}" aria-label="link to this">#</a></h${depth}>\n`;
      },
      link({ href, tokens: inside }) {
        return `<a href="${escapeHtml(link(href))}">${this.parser.parseInline(inside)}</a>`;
      },
      image({ href, text: words }) {
        return `<img src="${escapeHtml(link(href))}" alt="${escapeHtml(words)}">`;
      },
      // HTML comments are notes to authors; no other HTML is allowed.
      html: ({ text: note }) => (/^<!--[\s\S]*-->\s*$/.test(note) ? '' : escapeHtml(note)),
    },
  });
  return { title: sections[0]?.heading ?? '', html: marked.parser(tokens), sections };
}

/** Makes the IDs of headings as GitHub does, so that links work in both. */
function createNames(): (heading: string) => string {
  const taken = new Map<string, number>();
  return (heading) => {
    const name = heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N}\p{M} _-]/gu, '')
      .replaceAll(' ', '-');
    const count = taken.get(name) ?? 0;
    taken.set(name, count + 1);
    return count === 0 ? name : `${name}-${count}`;
  };
}

function toText(token: Token): string {
  if (token.type === 'table') {
    const rows: { tokens: Token[] }[][] = [token.header, ...token.rows];
    return rows.map((row) => row.map(({ tokens }) => tokens.map(toText).join('')).join(' ')).join(' ');
  }
  if (token.type === 'list') return token.items.map(toText).join(' ');
  if ('tokens' in token && token.tokens !== undefined) return token.tokens.map(toText).join('');
  return 'text' in token && typeof token.text === 'string' ? unescapeHtml(token.text) : ' ';
}

export function escapeHtml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
}

function unescapeHtml(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&');
}
