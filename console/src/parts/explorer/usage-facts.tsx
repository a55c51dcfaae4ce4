/** Shows the usage of a request: as the upstream reported it, as billed, and its cost. */

import { Stack } from '@mantine/core';
import { Fragment } from 'react';
import type { LedgerDetail } from '../../../../src/admin/contract.ts';
import { DataTable } from '../layout/table.tsx';
import { Remark } from '../layout/text.tsx';
import { formatCount } from '../words/format.ts';
import { Count, Money } from '../words/numbers.tsx';

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
      <DataTable
        withTableBorder
        verticalSpacing={4}
        isNamed
        columns={['What', { title: 'Reported by the upstream', ta: 'right' }, { title: 'Billed', ta: 'right' }]}
        rows={lines.map(([name, seen, billed]) => ({
          id: name,
          cells: [
            name,
            <Count key="seen" value={seen} />,
            <Fragment key="billed">
              {billed !== undefined && <Count value={billed} />}
              {row.isEstimated && billed !== null && billed !== undefined && billed !== seen && ' est.'}
            </Fragment>,
          ],
        }))}
        foot={{
          id: 'cost',
          cells: [
            'Cost',
            '',
            <strong key="cost">{row.cost === null ? 'unknown' : <Money dollars={row.cost} />}</strong>,
          ],
        }}
      />
      <SavedWords units={row.units} />
      <TermWords units={row.units} />
      {row.isEstimated && (
        <Remark>
          Estimated: the upstream did not say all of what it counted, so part of what is billed is Postern's estimate.
        </Remark>
      )}
      {row.cost === null && (
        <Remark>
          No price is known for this model at this upstream. Set one at the model, and later requests have a cost.
        </Remark>
      )}
      {row.billedInputTokens === null && row.cost !== null && <Remark>Nothing is billed for it.</Remark>}
    </Stack>
  );
}

type Units = LedgerDetail['units'];

const counts: readonly (readonly [keyof NonNullable<Units>, string])[] = [
  ['cacheWriteTokens', 'Of the input put into its cache'],
  ['cacheWriteHourTokens', 'Of these for an hour'],
  ['audioInputTokens', 'Input tokens of sound'],
  ['imageInputTokens', 'Input tokens of images'],
  ['audioOutputTokens', 'Output tokens of sound'],
  ['imageOutputTokens', 'Output tokens of images'],
  ['reasoningTokens', 'Output tokens of thought'],
  ['images', 'Images'],
  ['seconds', 'Seconds'],
  ['characters', 'Characters'],
  ['calls', 'Calls in which the list was asked for'],
];

/** Units (besides tokens) that are billed, as lines of the usage table. */
function unitLines(units: Units): [name: string, seen: null, billed: number][] {
  const lines: [string, null, number][] = [];
  for (const [name, words] of counts) {
    const count = units?.[name];
    if (typeof count === 'number') lines.push([words, null, count]);
  }
  for (const [kind, count] of Object.entries(units?.toolCalls ?? {})) lines.push([`Calls of ${kind}`, null, count]);
  return lines;
}

const terms = [
  ['serviceTier', 'tier'],
  ['speed', 'speed'],
  ['inferenceGeo', 'region'],
  ['imageSize', 'size'],
  ['imageQuality', 'quality'],
] as const;

const counted = (count: number, name: string): string => `${formatCount(count)} ${name}${count === 1 ? '' : 's'}`;

function SavedWords({ units }: { readonly units: Units }) {
  const { savedItems: items = 0, savedTokens: tokens = 0, savedNanos: nanos = 0 } = units ?? {};
  if (items === 0) return null;
  return (
    <Remark>
      Remembered, and asked of nobody: {counted(items, 'item')}
      {tokens > 0 && `, ${counted(tokens, 'token')}`}
      {nanos > 0 && (
        <>
          , saving <Money dollars={(nanos / 1e9).toFixed(9)} />
        </>
      )}
      .
    </Remark>
  );
}

function TermWords({ units }: { readonly units: Units }) {
  const words = terms.flatMap(([name, word]) => (units?.[name] === undefined ? [] : [`${word} ${units[name]}`]));
  if (words.length === 0) return null;
  return <Remark>Priced for {words.join(', ')}.</Remark>;
}
