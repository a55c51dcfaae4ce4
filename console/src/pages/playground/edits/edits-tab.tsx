/** Playground tab for edits: takes a text and an instruction, and shows which words differ. */

import './edits.css';
import { Group, Paper, SegmentedControl, Stack } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Muted } from '../../../parts/layout/text.tsx';
import { CopyButton } from '../../../parts/snippets/copy.tsx';
import { read, readList } from '../call.ts';
import { temperature, topP, versions } from '../fields.tsx';
import { type OperationSpec, OperationTab, type Result, type TabProps } from '../operation-tab.tsx';
import { CallResult } from '../result.tsx';
import { countWords, type DiffPart, diffWords } from './word-diff.ts';

const spec: OperationSpec = {
  draft: 'edits',
  operations: ['edits'],
  isPair: false,
  examples: [
    {
      title: 'Replace a word',
      values: {
        input:
          'The postern is the small gate of a castle. Through the small gate people came and went unseen, while the main gate was watched.',
        instruction: 'Replace "small gate" with "back door"',
      },
    },
    {
      title: 'Clean up a list',
      values: {
        input: ['pears', 'apples', 'plums', 'apples', 'cherries', 'pears'].join('\n'),
        instruction: 'Remove duplicate lines',
      },
    },
    { title: 'Title case', values: { input: 'the small gate in the wall', instruction: 'Capitalize each word' } },
  ],
  fields: [
    { name: 'input', kind: 'text', label: 'Text', rows: [5, 14], sentAs: 'input' },
    {
      name: 'instruction',
      kind: 'line',
      label: 'Instruction',
      sentAs: 'instruction',
      needed: 'Write an instruction first.',
    },
  ],
  options: [versions, temperature, topP],
  runLabel: 'Edit',
  nothingYet: ['edit', 'The text comes back edited, with every word marked that went or came.'],
};

export default function EditsTab(props: TabProps) {
  return <OperationTab {...props} spec={spec} result={(result) => <EditsResult {...result} />} />;
}

function EditsResult(result: Result) {
  const { answer } = result.pair.first;
  const choices = answer?.ending === 'answered' ? readList(answer.json, 'choices') : [];
  const texts = choices.map((choice) => read(choice, 'text')).filter((text) => typeof text === 'string');
  const before = String(answer?.call.body.input ?? '');
  return (
    <CallResult {...result} announced={texts.length === 0 ? '' : 'Edited.'}>
      {texts.map((text, index) => (
        <DiffView
          // biome-ignore lint/suspicious/noArrayIndexKey: a version is identified by its position
          key={index}
          before={before}
          after={text}
          title={texts.length === 1 ? 'The edit' : `Version ${index + 1}`}
        />
      ))}
    </CallResult>
  );
}

/** Shows a text and its new version: removed words are struck out, added words are underlined. */
interface DiffViewProps {
  readonly before: string;
  readonly after: string;
  readonly title: string;
}

const views = [
  { value: 'changes', label: 'Changes' },
  { value: 'sides', label: 'Side by side' },
];

function DiffView({ before, after, title }: DiffViewProps) {
  const [view, setView] = useState('changes');
  const parts = useMemo(() => diffWords(before, after), [before, after]);
  return (
    <Paper withBorder p="md" component="article">
      <Stack gap="sm">
        <Group justify="space-between" gap="xs">
          <Muted>
            {title}
            {summarise(parts)}
          </Muted>
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

const Parts = ({ parts }: { readonly parts: readonly DiffPart[] }) =>
  parts.map(({ kind, text }, index) => {
    const key = `${index} ${kind}`;
    if (kind === 'removed') return <del key={key}>{text}</del>;
    return kind === 'added' ? <ins key={key}>{text}</ins> : <span key={key}>{text}</span>;
  });

function summarise(parts: readonly DiffPart[]): string {
  const [came, went] = [countWords(parts, 'added'), countWords(parts, 'removed')];
  if (parts.every(({ kind }) => kind === 'same')) return ': nothing changed';
  return `: ${came} ${came === 1 ? 'word' : 'words'} came, ${went} went`;
}
