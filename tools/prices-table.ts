/** Generates the table of docs/reference/prices.md from the built-in prices. */

import { type PriceList, priceTable, type WrittenPrice } from '../src/prices/table.ts';

export function renderPrices(): string {
  return priceTable.map(renderList).join('\n\n');
}

function renderList({ family, source, asOf, verified, note, models }: PriceList): string {
  const rows = Object.entries(models).map(([model, price]) => `| \`${model}\` | ${cells(price).join(' | ')} |`);
  const proof = verified ? 'compared with it on that day' : '**not verified**';
  return [
    `### ${family}`,
    '',
    `Built-in prices of family \`${family}\` as of ${asOf}, from <${source}>, ${proof}${note === undefined ? '' : `; ${note}`}.`,
    '',
    '| model | input | cached input | output | search unit |',
    '|---|---|---|---|---|',
    ...rows,
  ].join('\n');
}

function cells({ input, cachedInput, output, searchUnit }: WrittenPrice): string[] {
  if ([input, cachedInput, output, searchUnit].every((price) => price === undefined || Number(price) === 0)) {
    return ['free', '', '', ''];
  }
  return [input, cachedInput, output, searchUnit].map((price) => price ?? '');
}
