/** What was used in the last weeks, and how the budgets are doing: the same for a key and for a project. */

import { Group, Stack, Text, Title } from '@mantine/core';
import type { BudgetState } from '../../../../src/admin/contract.ts';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { formatCount } from '../../parts/words/format.ts';
import { Count, Money } from '../../parts/words/numbers.tsx';
import { BudgetBar } from './budget-bar.tsx';
import { BurnDown } from './burn-down.tsx';
import { type Spender, useSpend } from './data.ts';
import { Trend } from './trend.tsx';

const days = 30;

export function UsageFacts({ spender }: { readonly spender: Spender }) {
  const { data, error, refetch } = useSpend(spender, days);
  return (
    <Stack gap="xs" component="section">
      <Title order={3} size="h5">
        Last {days} days
      </Title>
      {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading rows={1} rowHeight={72} />}
      {data !== undefined && (
        <>
          <Group gap="xl">
            <Figure title="Requests">
              <Count value={data.total.requests} />
            </Figure>
            <Figure title="Not well ended">
              <Count value={data.total.errors} />
            </Figure>
            <Figure title="Tokens">
              <Count value={data.total.inputTokens + data.total.outputTokens} compact />
            </Figure>
            <Figure title="Cost">
              <Money dollars={data.total.cost} />
            </Figure>
          </Group>
          <Trend
            values={data.days.map(({ requests }) => requests)}
            label={`Requests on each of the last ${days} days`}
            width={440}
            height={40}
          />
          {data.total.unpriced > 0 && (
            <Text size="xs" c="dimmed">
              The cost of {formatCount(data.total.unpriced)} requests is not known, and not in the sum.
            </Text>
          )}
        </>
      )}
    </Stack>
  );
}

function Figure({ title, children }: { readonly title: string; readonly children: React.ReactNode }) {
  return (
    <div>
      <Text size="xs" c="dimmed">
        {title}
      </Text>
      <Text fw={600}>{children}</Text>
    </div>
  );
}

interface BudgetFactsProps {
  readonly spender: Spender;
  readonly budgets: readonly BudgetState[];
}

export function BudgetFacts({ spender, budgets }: BudgetFactsProps) {
  if (budgets.length === 0) return null;
  return (
    <Stack gap="md" component="section">
      <Title order={3} size="h5">
        Budgets
      </Title>
      {budgets.map((budget) => (
        <Stack key={budget.every} gap="xs">
          <BudgetBar budget={budget} wide />
          <BurnDown spender={spender} period={budget.every} />
        </Stack>
      ))}
    </Stack>
  );
}
