/** Playground tab for completions: continues a text, and streams the answer. */

import './completions.css';
import { Group, Paper } from '@mantine/core';
import { useState } from 'react';
import { Remark } from '../../../parts/layout/text.tsx';
import { CopyButton } from '../../../parts/snippets/copy.tsx';
import { formatCount } from '../../../parts/words/format.ts';
import { type Answer, type Call, read } from '../call.ts';
import { severalTexts, stop, stream, temperature, topP, versions } from '../fields.tsx';
import { type OperationSpec, OperationTab, type Result, type TabProps } from '../operation-tab.tsx';
import { CallResult } from '../result.tsx';
import { parseTexts, toShownText } from '../texts.ts';
import type { Pair } from '../use-call.ts';
import { addPiece, nothingWritten, toReasonWords, type Written } from './written.ts';

const prompt = { name: 'prompt', rows: [6, 16], needed: 'Write the beginning of a text first.' } as const;

const spec: OperationSpec = {
  draft: 'completions',
  operations: ['completions'],
  isPair: false,
  examples: [
    {
      title: 'Let it go on',
      values: {
        prompt:
          'The postern was the small gate at the back of the castle. While everyone watched the main gate, those who knew of it came and went unseen, and brought what the castle needed.',
        several: false,
        maxTokens: '200',
      },
    },
    {
      title: 'Several prompts at once',
      values: {
        prompt: ['Roses are red,', 'Once upon a time', 'The answer is'].join('\n\n'),
        several: true,
        maxTokens: '40',
      },
    },
  ],
  fields: [
    { ...prompt, kind: 'text', label: 'Prompt', sentAs: 'prompt', isShown: ({ several }) => several !== true },
    {
      ...prompt,
      kind: 'texts',
      label: 'Prompts',
      description: severalTexts,
      toBody: (texts) => ({ prompt: parseTexts(texts).items.map(toShownText) }),
      isShown: ({ several }) => several === true,
    },
    stream,
    {
      name: 'maxTokens',
      kind: 'number',
      label: 'max_tokens',
      description: 'Where it stops at the latest',
      placeholder: 'not sent',
      range: { min: 0 },
    },
  ],
  options: [
    temperature,
    topP,
    versions,
    { name: 'seed', kind: 'number', label: 'seed', description: 'The same again' },
    stop,
    { name: 'several', kind: 'check', label: 'Several prompts', toBody: () => ({}) },
    { name: 'echo', kind: 'check', label: 'echo: begin with the prompt', sentAs: 'echo' },
  ],
  runLabel: 'Complete',
  nothingYet: ['bolt', 'The text goes on here, word by word as the model writes it.'],
};

export default function CompletionsTab(props: TabProps) {
  const [written, setWritten] = useState<Written>(nothingWritten);
  const [asked, setAsked] = useState<Call>();
  const run = async (call: Call, { first }: Pair): Promise<void> => {
    setWritten(nothingWritten);
    setAsked(call);
    const answer = await first.run(call, (event) => setWritten((before) => addPiece(before, event)));
    if (answer !== undefined && !answer.isStream) setWritten(addPiece(nothingWritten, answer.json));
  };
  return (
    <OperationTab
      {...props}
      spec={spec}
      onRun={(call, pair) => void run(call, pair)}
      result={(result) => <CompletionsResult {...result} written={written} asked={asked} />}
    />
  );
}

interface CompletionsResultProps extends Result {
  readonly written: Written;
  readonly asked: Call | undefined;
}

function CompletionsResult({ written, asked, ...result }: CompletionsResultProps) {
  const { answer, isRunning } = result.pair.first;
  const prompts = promptsOf(asked);
  const perPrompt = Math.max(1, written.texts.length / Math.max(1, prompts.length));
  const isWritten = !isRunning && answer !== undefined && written.texts.length > 0;
  return (
    <CallResult
      {...result}
      isLive
      announced={isWritten ? `Written: ${written.texts.join(' ')}` : ''}
      facts={answer !== undefined && <Speed answer={answer} written={written} />}
    >
      {written.texts.map((text, index) => (
        <Choice
          // biome-ignore lint/suspicious/noArrayIndexKey: a choice is identified by its position
          key={index}
          prompt={asked?.body.echo === true ? '' : (prompts[Math.floor(index / perPrompt)] ?? '')}
          text={text}
          reason={written.reasons[index]}
          isRunning={isRunning}
          isWhole={answer?.ending === 'answered'}
        />
      ))}
    </CallResult>
  );
}

function promptsOf(call: Call | undefined): readonly string[] {
  const prompt = call?.body.prompt;
  if (Array.isArray(prompt)) return prompt.map(String);
  return typeof prompt === 'string' ? [prompt] : [];
}

interface ChoiceProps {
  readonly prompt: string;
  readonly text: string;
  readonly reason: string | undefined;
  readonly isRunning: boolean;
  readonly isWhole: boolean;
}

function Choice({ prompt, text, reason, isRunning, isWhole }: ChoiceProps) {
  const isWriting = isRunning && reason === undefined;
  return (
    <Paper withBorder p="md" component="article">
      <p className="written">
        <span className="written-prompt">{prompt}</span>
        <span className="written-text" data-testid="written">
          {text}
        </span>
        {isWriting && <span className="written-caret" aria-hidden="true" />}
      </p>
      <Group justify="space-between" mt="xs">
        <Remark>{describeEnd(reason, isWriting, isWhole)}</Remark>
        <CopyButton text={text} label="Copy what was written" />
      </Group>
    </Paper>
  );
}

function describeEnd(reason: string | undefined, isWriting: boolean, isWhole: boolean): string {
  if (isWriting) return 'Writing';
  if (reason !== undefined) return toReasonWords(reason);
  return isWhole ? 'ended' : 'not finished';
}

function Speed({ answer, written }: { readonly answer: Answer; readonly written: Written }) {
  const writingMs = answer.totalMs - answer.firstByteMs;
  const tokens = tokensOf(answer) ?? written.pieces;
  if (!answer.isStream || tokens < 2 || writingMs < 1) return null;
  const perSecond = formatCount(Math.round((tokens / writingMs) * 1_000));
  return (
    <Remark>
      {perSecond} {tokensOf(answer) === undefined ? 'pieces' : 'tokens'} a second once it began
    </Remark>
  );
}

function tokensOf({ json }: Answer): number | undefined {
  const events = Array.isArray(json) ? json : [json];
  for (const event of events.toReversed()) {
    const tokens = read(read(event, 'usage'), 'completion_tokens');
    if (typeof tokens === 'number') return tokens;
  }
  return undefined;
}
