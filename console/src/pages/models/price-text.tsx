/** A price in words, and who says so. */

import { Stack, Text, Tooltip } from '@mantine/core';
import type { ModelTarget } from '../../../../src/admin/contract.ts';
import { priceInWords, sourceInWords } from './price-words.ts';

/** Of several targets: one line for each price that differs. */
export function PriceText({ targets }: { readonly targets: readonly ModelTarget[] }) {
  const lines = new Map(targets.map(({ price }) => [priceInWords(price), price]));
  return (
    <Stack gap={2} align="flex-start">
      {[...lines].map(([words, price]) => (
        <Tooltip key={words} label={sourceInWords(price)} withinPortal multiline maw={320} disabled={price === null}>
          <Text size="sm" {...(price === null || price.amounts === null ? { c: 'dimmed' } : {})}>
            {words}
            {price?.listed?.verified === false && (
              <Text span size="xs" c="dimmed">
                {' '}
                (not checked)
              </Text>
            )}
          </Text>
        </Tooltip>
      ))}
    </Stack>
  );
}
