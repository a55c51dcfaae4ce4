/** What a request used: as the upstream counted it, as it is billed, and what that costs. */

import { Stack, Table, Text } from '@mantine/core';
import type { LedgerDetail } from '../../../../src/admin/contract.ts';
import { Count, Money } from '../../parts/words/numbers.tsx';
import { SavedWords, TermWords, unitLines } from './unit-facts.tsx';

export function UsageFacts({ row }: { readonly row: LedgerDetail }) {
  const lines: [name: string, seen: number | null, billed: number | null | undefined][] = [
    ['Input tokens', row.promptTokens, row.billedInputTokens],
    ['Of them from its cache', row.cachedTokens, undefined],
    ['Output tokens', row.completionTokens, row.billedOutputTokens],
    ['Search units', row.searchUnits, row.billedSearchUnits],
    ...unitLines(row.units),
  ];
  return (
    <Stack gap="xs">
      <Table withTableBorder verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>What</Table.Th>
            <Table.Th ta="right">The upstream said</Table.Th>
            <Table.Th ta="right">Billed</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {lines.map(([name, seen, billed]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row" fw={400}>
                {name}
              </Table.Th>
              <Table.Td ta="right">
                <Count value={seen} />
              </Table.Td>
              <Table.Td ta="right">
                {billed !== undefined && <Count value={billed} />}
                {row.isEstimated && billed !== null && billed !== undefined && billed !== seen && ' est.'}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
        <Table.Tfoot>
          <Table.Tr>
            <Table.Th scope="row">Cost</Table.Th>
            <Table.Td />
            <Table.Td ta="right" fw={600}>
              {row.cost === null ? 'unknown' : <Money dollars={row.cost} />}
            </Table.Td>
          </Table.Tr>
        </Table.Tfoot>
      </Table>
      <SavedWords units={row.units} />
      <TermWords units={row.units} />
      {row.isEstimated && (
        <Text size="xs" c="dimmed">
          Estimated: the upstream did not say all of what it counted, so part of what is billed is Postern's estimate.
        </Text>
      )}
      {row.cost === null && (
        <Text size="xs" c="dimmed">
          No price is known for this model at this upstream. Set one at the model, and later requests have a cost.
        </Text>
      )}
      {row.billedInputTokens === null && row.cost !== null && (
        <Text size="xs" c="dimmed">
          Nothing is billed for it.
        </Text>
      )}
    </Stack>
  );
}
