/** What completions wrote, as it is written. */

import { Group, Paper, Stack, Text, VisuallyHidden } from '@mantine/core';
import { CopyButton } from '../../../parts/snippets/copy.tsx';
import { formatCount } from '../../../parts/words/format.ts';
import { type Answer, type Call, read } from '../call.ts';
import { CallFacts } from '../call-facts.tsx';
import { CallFault } from '../call-fault.tsx';
import { StaleNote } from '../stale-note.tsx';
import { NothingYet } from '../tab-frame.tsx';
import type { CallHandle } from '../use-call.ts';
import { toReasonWords, type Written } from './written.ts';

interface CompletionsResultProps {
  readonly handle: CallHandle;
  readonly written: Written;
  /** What was sent for what is shown. */
  readonly asked: Call | undefined;
  readonly call: Call;
}

export function CompletionsResult({ handle, written, asked, call }: CompletionsResultProps) {
  const { answer, error, isRunning } = handle;
  const prompts = promptsOf(asked);
  const perPrompt = Math.max(1, written.texts.length / Math.max(1, prompts.length));
  return (
    <Stack gap="sm" aria-busy={isRunning}>
      {answer !== undefined && !isRunning && (
        <>
          <CallFacts answer={answer} />
          <Speed answer={answer} written={written} />
        </>
      )}
      {!isRunning && <CallFault answer={answer} error={error} />}
      {!isRunning && <StaleNote answer={answer} call={call} />}
      <VisuallyHidden role="status">
        {isRunning || answer === undefined || written.texts.length === 0 ? '' : `Written: ${written.texts.join(' ')}`}
      </VisuallyHidden>
      {written.texts.map((text, index) => (
        <Choice
          // biome-ignore lint/suspicious/noArrayIndexKey: a choice is told apart by its place
          key={index}
          prompt={asked?.body.echo === true ? '' : (prompts[Math.floor(index / perPrompt)] ?? '')}
          text={text}
          reason={written.reasons[index]}
          isRunning={isRunning}
          isWhole={answer?.ending === 'answered'}
        />
      ))}
      {written.texts.length === 0 && answer === undefined && error === undefined && !isRunning && (
        <NothingYet icon="bolt">The text goes on here, word by word as the model writes it.</NothingYet>
      )}
    </Stack>
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
        <Text size="xs" c="dimmed">
          {describeEnd(reason, isWriting, isWhole)}
        </Text>
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
    <Text size="xs" c="dimmed">
      {perSecond} {tokensOf(answer) === undefined ? 'pieces' : 'tokens'} a second once it began
    </Text>
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
