/** How far a budget has come, in words and as a bar. */

import { Group, Progress, Stack, Text } from '@mantine/core';
import type { BudgetState } from '../../../../src/admin/contract.ts';
import { periodWords } from '../../parts/words/caps.ts';
import { formatMoney } from '../../parts/words/format.ts';
import { When } from '../../parts/words/numbers.tsx';

interface BudgetBarProps {
  readonly budget: BudgetState;
  /** With what is set aside, and when it begins anew. */
  readonly wide?: boolean;
}

const nearShare = 0.8;

export function BudgetBar({ budget, wide = false }: BudgetBarProps) {
  const { every, amount, spent, outstanding, left, endsAt } = budget;
  const share = Number(spent) / Number(amount);
  const setAside = Number(outstanding) / Number(amount);
  const isOver = Number(left) === 0;
  const words = `${formatMoney(spent)} of ${formatMoney(amount)} ${periodWords[every]}`;
  return (
    <Stack gap={4}>
      <Group justify="space-between" gap={6}>
        <Text size={wide ? 'sm' : 'xs'} className="numeric">
          {words}
        </Text>
        {isOver && (
          <Text size="xs" fw={600} className="tone-bad">
            Spent
          </Text>
        )}
      </Group>
      <Progress.Root size={wide ? 'md' : 'sm'}>
        <Progress.Section value={toPercent(share)} color={colorOf(share, isOver)} aria-label={words} />
        <Progress.Section value={toPercent(Math.min(setAside, 1 - share))} color="gray.5" aria-label="Set aside" />
      </Progress.Root>
      {wide && (
        <Group justify="space-between" gap={6}>
          <Text size="xs" c="dimmed">
            {formatMoney(left)} left
            {Number(outstanding) > 0 && `, ${formatMoney(outstanding)} set aside for requests under way`}
          </Text>
          {endsAt !== null && (
            <Text size="xs" c="dimmed">
              Begins anew <When at={endsAt} />
            </Text>
          )}
        </Group>
      )}
    </Stack>
  );
}

const toPercent = (share: number): number => Math.max(0, Math.min(100, share * 100));

function colorOf(share: number, isOver: boolean): string {
  if (isOver) return 'red';
  return share >= nearShare ? 'yellow' : 'teal';
}
