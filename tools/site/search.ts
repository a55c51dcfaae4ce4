/** Finds sections by words; runs in the reader's browser with its types stripped. */

export interface Section {
  readonly page: string;
  readonly title: string;
  readonly heading: string;
  readonly anchor: string;
  readonly text: string;
}

interface Found {
  readonly section: Section;
  /** A part of the text, which begins a little before the first word that matches. */
  readonly excerpt: string;
}

const most = 20;
const before = 40;
const length = 160;

/** Each word has to begin a word of the section; matches nearest to its heading come first. */
export function find(sections: readonly Section[], question: string): Found[] {
  const words = question.toLowerCase().split(/\s+/).filter(Boolean);
  if (words.length === 0) return [];
  const scored = sections.map((section) => ({ section, score: scoreOf(section, words) }));
  return scored
    .filter(({ score }) => score > 0)
    .sort((one, other) => other.score - one.score)
    .slice(0, most)
    .map(({ section }) => ({ section, excerpt: excerptOf(section.text, words[0] ?? '') }));
}

function scoreOf({ title, heading, text }: Section, words: readonly string[]): number {
  let sum = 0;
  for (const word of words) {
    const score = 12 * timesIn(heading, word) + 6 * timesIn(title, word) + Math.log2(1 + timesIn(text, word));
    if (score === 0) return 0;
    sum += score;
  }
  return sum;
}

/** How often a word of the text begins with this word. */
function timesIn(text: string, word: string): number {
  const low = text.toLowerCase();
  let times = 0;
  for (let at = low.indexOf(word); at >= 0; at = low.indexOf(word, at + word.length)) {
    if (at === 0 || !/[\p{L}\p{N}]/u.test(low[at - 1] ?? '')) times += 1;
  }
  return times;
}

function excerptOf(text: string, word: string): string {
  const at = Math.max(0, text.toLowerCase().indexOf(word) - before);
  return `${at > 0 ? '… ' : ''}${text.slice(at, at + length).trim()}${at + length < text.length ? ' …' : ''}`;
}
