/** Playground tab for recordings: transcribes or translates one by one model, or two to compare. */

import './audio.css';
import { Group, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { Remark } from '../../../parts/layout/text.tsx';
import { CopyButton } from '../../../parts/snippets/copy.tsx';
import { formatDuration } from '../../../parts/words/format.ts';
import type { Answer } from '../call.ts';
import { temperature } from '../fields.tsx';
import { type OperationSpec, OperationTab, type TabProps } from '../operation-tab.tsx';
import { toClock, toHeard } from './heard.ts';
import { Recording } from './recording.tsx';

const mostBytes = 32 * 1024 * 1024;

const spec: OperationSpec = {
  draft: 'transcription',
  operations: ['transcriptions', 'translations'],
  isPair: true,
  examples: [],
  fields: [
    {
      name: 'file',
      kind: 'files',
      label: 'Recording',
      sentAs: 'file',
      view: Recording,
      needed: 'Choose or record something first.',
    },
  ],
  options: [
    {
      name: 'language',
      kind: 'line',
      label: 'language',
      description: 'Two letters, where it is known',
      trimmed: true,
      isShown: ({ operation }) => operation !== 'translations',
    },
    {
      name: 'format',
      kind: 'choice',
      label: 'response_format',
      description: 'verbose_json tells where each part begins',
      choices: ['json', 'verbose_json', 'text', 'srt', 'vtt'],
    },
    { name: 'prompt', kind: 'line', label: 'prompt', description: 'Names and words that occur in it' },
    { ...temperature, description: '0: what is likeliest', range: { min: 0, max: 1, step: 0.1 } },
  ],
  runLabel: 'Write down',
  nothingYet: ['file', 'What is said in the recording stands here as text.'],
  missing: (_form, { file = [] }) =>
    file.some(({ size }) => size > mostBytes)
      ? 'The recording is too large to be sent from here; see curl.'
      : undefined,
};

export default function TranscriptionTab(props: TabProps) {
  return <OperationTab {...props} spec={spec} render={(answer) => <HeardView answer={answer} />} />;
}

function HeardView({ answer }: { readonly answer: Answer }) {
  const { text, language, seconds, parts } = useMemo(() => toHeard(answer), [answer]);
  const facts = [
    seconds === undefined ? '' : `${formatDuration(seconds * 1_000)} long`,
    language === undefined ? '' : `language: ${language}`,
  ].filter((fact) => fact !== '');
  return (
    <Stack gap="xs">
      <Group justify="space-between" wrap="nowrap">
        <Remark>{facts.join(', ')}</Remark>
        <CopyButton text={text} label="Copy the text" />
      </Group>
      <p className="heard" role="status" data-testid="heard">
        {text === '' ? 'Nothing was heard.' : text}
      </p>
      {parts.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
        <ol className="heard-parts" aria-label="Parts" tabIndex={0}>
          {parts.map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a part is identified by its position
            <li key={index}>
              <Remark className="numeric">{part.startSeconds === undefined ? '' : toClock(part.startSeconds)}</Remark>
              <Text size="sm">{part.text}</Text>
            </li>
          ))}
        </ol>
      )}
    </Stack>
  );
}
