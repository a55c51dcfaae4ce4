/** The tables of docs/reference/families.md, from the families themselves. */

import { type Family, type Offer, offersOf, standardOptions } from '../src/core/family.ts';
import { operations } from '../src/core/operations/index.ts';

export function renderFamilies(families: readonly Family[]): string {
  return [offersTable(families), optionsTable(families), factsTable(families)].join('\n\n');
}

function offersTable(families: readonly Family[]): string {
  const rows = families.map((family) => {
    const offers = offersOf(family, standardOptions(family)).openai ?? {};
    const cells = operations.map((operation) => wayOf(offers[operation]));
    const bridges = family.chat === undefined ? '' : 'yes';
    const list = family.modelList === undefined ? '' : `\`${family.modelList.path}\``;
    return `| \`${family.id}\` | ${family.title} | ${cells.join(' | ')} | ${bridges} | ${list} |`;
  });
  return [
    `| family | what it is | ${operations.join(' | ')} | bridges | lists its models at |`,
    `|---|---|${operations.map(() => '---|').join('')}---|---|`,
    ...rows,
  ].join('\n');
}

function wayOf(offer: Offer | undefined): string {
  if (offer === undefined) return '';
  if (offer.make !== undefined) return 'made here';
  if (offer.translation === undefined) return 'passes';
  return offer.translation.isNeeded === undefined ? 'translated' : 'adapts';
}

function optionsTable(families: readonly Family[]): string {
  const rows = families.flatMap(({ id, options = {} }) =>
    Object.entries(options).map(([name, { description, default: standard, required }]) => {
      const value = required ? 'required' : standard === undefined ? 'none' : `\`${standard}\``;
      return `| \`${id}\` | \`${name}\` | ${value} | ${description} |`;
    }),
  );
  return ['| family | `upstreams[].options` | default | meaning |', '|---|---|---|---|', ...rows].join('\n');
}

/** What is left out, nobody knows, or it depends on the model. */
function scoresOf(offer: Offer | undefined): string | undefined {
  const { scale, isSwitched } = offer?.scores ?? {};
  if (scale === undefined || typeof scale === 'function') return undefined;
  const what = scale === 'raw' ? 'scores are logits without bounds (`raw`)' : 'scores lie between 0 and 1 (`sigmoid`)';
  return isSwitched ? `${what} unless \`raw_scores\` is true` : what;
}

function factsTable(families: readonly Family[]): string {
  const rows = families.flatMap((family) =>
    operations.flatMap((operation) => {
      const offer = offersOf(family, standardOptions(family)).openai?.[operation];
      const facts = [offer?.facts, scoresOf(offer)].filter((one) => one !== undefined);
      return facts.length === 0 ? [] : [`| \`${family.id}\` | ${operation} | ${facts.join('; ')} |`];
    }),
  );
  return ['| family | operation | what to know |', '|---|---|---|', ...rows].join('\n');
}
