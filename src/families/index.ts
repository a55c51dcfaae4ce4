/** Loads all upstream families: every file beside this one declares one. */

import { readdir } from 'node:fs/promises';
import { defineFamily, type Family, type Offer, type Offers, type Options, offersOf } from '../core/family.ts';
import { bridgesOver } from './bridges/index.ts';

export const families: readonly Family[] = await readFamilies();

async function readFamilies(): Promise<Family[]> {
  const files = await readdir(import.meta.dirname, { withFileTypes: true });
  const modules = files.flatMap(({ name }) => (isFamily(name) ? [import(`./${name}`)] : []));
  const found = (await Promise.all(modules)).map(({ default: family }): Family => withChat(family));
  return found.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

/** Adds chat to a family that has it in OpenAI's format: chat passes unchanged, and bridges serve other operations through it. */
function withChat(family: Family): Family {
  const { chat, chatFacts, chatAuth, chatModel, offers, bridges } = family;
  if (chat === undefined) return family;
  const pathFor = (options: Options): string => (typeof chat === 'string' ? chat : chat(options));
  /** Fields of the chat offer that differ from the offers of the family's other operations. */
  const differing: Partial<Offer> = {
    ...(chatAuth !== undefined && { asChat: true }),
    ...(chatModel !== undefined && { resource: chatModel }),
  };
  const facts = chatFacts === undefined ? 'bytes pass' : `bytes pass; ${chatFacts}`;
  const withPath = (standing: Offers, path: string): Offers => ({
    ...standing,
    openai: { ...standing.openai, chat: { path, facts, ...differing } },
  });
  return defineFamily({
    ...family,
    offers:
      typeof chat === 'string' && typeof offers !== 'function'
        ? withPath(offers, chat)
        : (options) => withPath(offersOf(family, options), pathFor(options)),
    bridges(options) {
      const standing = Object.entries(bridges?.(options) ?? bridgesOver(pathFor(options)));
      return Object.fromEntries(
        standing.map(([name, { openai = {} }]) => {
          const all = Object.entries(openai).map(([operation, offer]) => [operation, { ...offer, ...differing }]);
          return [name, { openai: Object.fromEntries(all) }];
        }),
      );
    },
  });
}

/** Whether a file declares a family: TypeScript in a checkout, JavaScript in the published package. */
function isFamily(name: string): boolean {
  return /^(?!index\.)[a-z0-9-]+\.(?:ts|js)$/.test(name);
}
