/** Every family there is: a file beside this one is a family, and the rest derives from the list. */

import { readdir } from 'node:fs/promises';
import { defineFamily, type Family, type Offers, offersOf } from '../core/family.ts';
import { bridgesOver } from './bridges/index.ts';

export const families: readonly Family[] = await readFamilies();

async function readFamilies(): Promise<Family[]> {
  const files = await readdir(import.meta.dirname, { withFileTypes: true });
  const modules = files.flatMap(({ name }) => (isFamily(name) ? [import(`./${name}`)] : []));
  const found = (await Promise.all(modules)).map(({ default: family }): Family => withChat(withBridges(family)));
  return found.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function withBridges(family: Family): Family {
  const { chat } = family;
  if (chat === undefined || family.bridges !== undefined) return family;
  return defineFamily({
    ...family,
    bridges: (options) => bridgesOver(typeof chat === 'string' ? chat : chat(options)),
  });
}

/** Whoever speaks OpenAI's chat is asked for it as it comes. */
function withChat(family: Family): Family {
  const { chat, chatAuth, offers } = family;
  if (chat === undefined) return family;
  const asChat = chatAuth !== undefined && ({ asChat: true } as const);
  const withPath = (standing: Offers, path: string): Offers => ({
    ...standing,
    openai: { ...standing.openai, chat: { path, facts: 'bytes pass', ...asChat } },
  });
  if (typeof chat === 'string' && typeof offers !== 'function') {
    return defineFamily({ ...family, offers: withPath(offers, chat) });
  }
  return defineFamily({
    ...family,
    offers: (options) => withPath(offersOf(family, options), typeof chat === 'string' ? chat : chat(options)),
  });
}

/** In a checkout as TypeScript, in the published package as JavaScript. */
function isFamily(name: string): boolean {
  return /^(?!index\.)[a-z0-9-]+\.(?:ts|js)$/.test(name);
}
