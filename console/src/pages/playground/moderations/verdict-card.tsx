/** One input and what was found in it: a bar a category, flagged ones marked in words and shape as well as in colour. */

import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../../parts/marks/icon.tsx';
import { StatusBadge } from '../../../parts/marks/status.tsx';
import { type Category, toTitle, type Verdict } from './verdicts.ts';

const fewest = 5;
const digits = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

interface VerdictCardProps {
  readonly verdict: Verdict;
  readonly text: string;
}

export function VerdictCard({ verdict: { isFlagged, categories }, text }: VerdictCardProps) {
  const [all, setAll] = useState(false);
  const few = Math.max(fewest, categories.filter((category) => category.isFlagged).length);
  const shown = all ? categories : categories.slice(0, few);
  const left = categories.length - few;
  return (
    <Paper withBorder p="md" component="article">
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="flex-start" gap="sm">
          <Text className="verdict-text">{text}</Text>
          <span className="verdict-state">
            {isFlagged ? (
              <StatusBadge state="warning" label="Flagged" />
            ) : (
              <StatusBadge state="ok" label="Not flagged" />
            )}
          </span>
        </Group>
        <ul className="verdict-bars">
          {shown.map((category) => (
            <CategoryBar key={category.name} category={category} />
          ))}
        </ul>
        {left > 0 && (
          <Button variant="subtle" size="compact-xs" onClick={() => setAll(!all)} className="verdict-more">
            {all ? 'Show the strongest only' : `Show ${left} more categories`}
          </Button>
        )}
      </Stack>
    </Paper>
  );
}

function CategoryBar({ category: { name, score, isFlagged } }: { readonly category: Category }) {
  return (
    <li className="verdict-bar" data-flagged={isFlagged || undefined}>
      <span className="verdict-name">
        {toTitle(name)}
        {isFlagged && (
          <span className="verdict-flag">
            <Icon name="warning" size={13} />
            flagged
          </span>
        )}
      </span>
      <span className="verdict-track" aria-hidden="true">
        <span style={{ transform: `scaleX(${Math.max(0, Math.min(1, score))})` }} />
      </span>
      <span className="verdict-score">{digits.format(score)}</span>
    </li>
  );
}
