/** Generates the tables of docs/reference/families.md from the families. */

import { type Family, type Offer, offersOf, standardOptions } from '../src/core/family.ts';
import { operations } from '../src/core/operations/index.ts';

export function renderFamilies(families: readonly Family[]): string {
  return [offersTable(families), optionsTable(families), factsTable(families)].join('\n\n');
}

const ways = ['passes', 'adapts', 'translated', 'made here'] as const;

function offersTable(families: readonly Family[]): string {
  const rows = families.map((family) => {
    const { engines: _, openai, ...labels } = offersOf(family, standardOptions(family));
    const offers = Object.assign({}, ...Object.values(labels), openai);
    const cells = ways.map((way) => operations.filter((operation) => wayOf(offers[operation]) === way).join(', '));
    const bridge = family.chat === undefined ? '' : 'yes';
    const list = family.modelList === undefined ? '' : `\`${family.modelList.path}\``;
    return `| \`${family.id}\` | ${family.title} | ${cells.join(' | ')} | ${bridge} | ${list} |`;
  });
  return [
    `| family | service | ${ways.join(' | ')} | \`bridge: chat\` | model list at |`,
    `|---|---|${ways.map(() => '---|').join('')}---|---|`,
    ...rows,
  ].join('\n');
}

function wayOf(offer: Offer | undefined): (typeof ways)[number] | undefined {
  if (offer === undefined) return undefined;
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

/** The scale of the scores; undefined if it is unknown, or depends on the model. */
function scoresOf(offer: Offer | undefined): string | undefined {
  const { scale, isSwitched } = offer?.scores ?? {};
  if (scale === undefined || typeof scale === 'function') return undefined;
  const what = scale === 'raw' ? 'scores are logits (`raw`)' : 'scores are between 0 and 1 (`sigmoid`)';
  return isSwitched ? `${what} unless \`raw_scores\` is true` : what;
}

function factsTable(families: readonly Family[]): string {
  const rows = families.flatMap((family) =>
    operations.flatMap((operation) => {
      const offer = offersOf(family, standardOptions(family)).openai?.[operation];
      const facts = [offer?.facts, scoresOf(offer)].filter((one) => one !== undefined && one !== 'bytes pass');
      return facts.length === 0 ? [] : [`| \`${family.id}\` | ${operation} | ${facts.join('; ')} |`];
    }),
  );
  return ['| family | operation | details |', '|---|---|---|', ...rows].join('\n');
}
