/** What a request was billed by beside tokens, and what its price hung on. */

import { Text } from '@mantine/core';
import type { LedgerDetail } from '../../../../src/admin/contract.ts';
import { formatCount } from '../../parts/words/format.ts';
import { Money } from '../../parts/words/numbers.tsx';
import { toDollarText } from './usage-units.ts';

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

/** As lines of the table of usage: what is billed by them. */
export function unitLines(units: Units): [name: string, seen: null, billed: number][] {
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
  ['inferenceGeo', 'place'],
  ['imageSize', 'size'],
  ['imageQuality', 'quality'],
] as const;

const counted = (count: number, name: string): string => `${formatCount(count)} ${name}${count === 1 ? '' : 's'}`;

/** What was known before, and asked of nobody. */
export function SavedWords({ units }: { readonly units: Units }) {
  const { savedItems: items = 0, savedTokens: tokens = 0, savedNanos: nanos = 0 } = units ?? {};
  if (items === 0) return null;
  return (
    <Text size="xs" c="dimmed">
      Remembered, and asked of nobody: {counted(items, 'item')}
      {tokens > 0 && `, ${counted(tokens, 'token')}`}
      {nanos > 0 && (
        <>
          , saving <Money dollars={toDollarText(nanos)} />
        </>
      )}
      .
    </Text>
  );
}

export function TermWords({ units }: { readonly units: Units }) {
  const words = terms.flatMap(([name, word]) => (units?.[name] === undefined ? [] : [`${word} ${units[name]}`]));
  if (words.length === 0) return null;
  return (
    <Text size="xs" c="dimmed">
      Priced for {words.join(', ')}.
    </Text>
  );
}
