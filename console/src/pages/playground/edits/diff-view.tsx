/** A text and what became of it: words that went are struck out, words that came are underlined. */

import { Group, Paper, SegmentedControl, Stack, Text } from '@mantine/core';
import { useMemo, useState } from 'react';
import { CopyButton } from '../../../parts/snippets/copy.tsx';
import { countWords, type DiffPart, diffWords } from './word-diff.ts';

interface DiffViewProps {
  readonly before: string;
  readonly after: string;
  readonly title: string;
}

const views = [
  { value: 'changes', label: 'Changes' },
  { value: 'sides', label: 'Side by side' },
];

export function DiffView({ before, after, title }: DiffViewProps) {
  const [view, setView] = useState('changes');
  const parts = useMemo(() => diffWords(before, after), [before, after]);
  return (
    <Paper withBorder p="md" component="article">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Text size="sm" c="dimmed">
            {title}
            {summarise(parts)}
          </Text>
          <Group gap="xs">
            <SegmentedControl size="xs" data={views} value={view} onChange={setView} aria-label="How to show it" />
            <CopyButton text={after} label="Copy the new text" />
          </Group>
        </Group>
        {view === 'changes' ? (
          <p className="diff-text">
            <Parts parts={parts} />
          </p>
        ) : (
          <div className="diff-sides">
            <p className="diff-text">
              <Parts parts={parts.filter(({ kind }) => kind !== 'added')} />
            </p>
            <p className="diff-text">
              <Parts parts={parts.filter(({ kind }) => kind !== 'removed')} />
            </p>
          </div>
        )}
      </Stack>
    </Paper>
  );
}

function Parts({ parts }: { readonly parts: readonly DiffPart[] }) {
  return parts.map(({ kind, text }, index) => {
    const key = `${index} ${kind}`;
    if (kind === 'removed') return <del key={key}>{text}</del>;
    return kind === 'added' ? <ins key={key}>{text}</ins> : <span key={key}>{text}</span>;
  });
}

function summarise(parts: readonly DiffPart[]): string {
  const [came, went] = [countWords(parts, 'added'), countWords(parts, 'removed')];
  if (parts.every(({ kind }) => kind === 'same')) return ': nothing changed';
  return `: ${came} ${came === 1 ? 'word' : 'words'} came, ${went} went`;
}
