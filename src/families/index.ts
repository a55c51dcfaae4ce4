/** All families: each file beside this one is a family. */

import { readdir } from 'node:fs/promises';
import { defineFamily, type Family, type Offer, type Offers, offersOf } from '../core/family.ts';
import { bridgesOver } from './bridges/index.ts';

export const families: readonly Family[] = await readFamilies();

async function readFamilies(): Promise<Family[]> {
  const files = await readdir(import.meta.dirname, { withFileTypes: true });
  const modules = files.flatMap(({ name }) => (isFamily(name) ? [import(`./${name}`)] : []));
  const found = (await Promise.all(modules)).map(({ default: family }): Family => withChat(withBridges(family)));
  return found.toSorted((one, other) => (one.id < other.id ? -1 : 1));
}

function withBridges(family: Family): Family {
  const { chat, bridges } = family;
  if (chat === undefined) return family;
  const more = callOfChat(family);
  return defineFamily({
    ...family,
    bridges: (options) => {
      const standing = bridges?.(options) ?? bridgesOver(typeof chat === 'string' ? chat : chat(options));
      const asChat = ([name, { openai }]: [string, Offers]): [string, Offers] => [
        name,
        { openai: withAll(openai, more) },
      ];
      return Object.fromEntries(Object.entries(standing).map(asChat));
    },
  });
}

function withAll(byOperation: Offers['openai'], more: Partial<Offer>): NonNullable<Offers['openai']> {
  return Object.fromEntries(
    Object.entries(byOperation ?? {}).map(([operation, offer]) => [operation, { ...offer, ...more }]),
  );
}

/** An upstream with OpenAI's chat gets it unchanged. */
function withChat(family: Family): Family {
  const { chat, chatFacts, offers } = family;
  if (chat === undefined) return family;
  const facts = chatFacts === undefined ? 'bytes pass' : `bytes pass; ${chatFacts}`;
  const withPath = (standing: Offers, path: string): Offers => ({
    ...standing,
    openai: { ...standing.openai, chat: { path, facts, ...callOfChat(family) } },
  });
  if (typeof chat === 'string' && typeof offers !== 'function') {
    return defineFamily({ ...family, offers: withPath(offers, chat) });
  }
  return defineFamily({
    ...family,
    offers: (options) => withPath(offersOf(family, options), typeof chat === 'string' ? chat : chat(options)),
  });
}

/** Where the family's chat differs from its other paths. */
function callOfChat({ chatAuth, chatModel }: Family): Partial<Offer> {
  return {
    ...(chatAuth !== undefined && { asChat: true }),
    ...(chatModel !== undefined && { resource: chatModel }),
  };
}

/** TypeScript in a checkout, JavaScript in the published package. */
function isFamily(name: string): boolean {
  return /^(?!index\.)[a-z0-9-]+\.(?:ts|js)$/.test(name);
}
