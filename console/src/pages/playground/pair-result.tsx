/** One answer, or two side by side: how each call went, and below it what the tab makes of it. */

import { SimpleGrid, Stack, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Answer, Call } from './call.ts';
import { CallFacts } from './call-facts.tsx';
import { CallFault } from './call-fault.tsx';
import { StaleNote } from './stale-note.tsx';
import type { CallHandle } from './use-call.ts';
import type { Pair } from './use-pair.ts';

interface PairResultProps {
  readonly pair: Pair;
  readonly call: Call;
  /** Stands there until something was sent. */
  readonly nothingYet: ReactNode;
  render(answer: Answer): ReactNode;
}

export function PairResult({ pair: { first, second }, call, nothingYet, render }: PairResultProps) {
  const handles = [first, second].filter(isUsed);
  return (
    <Stack gap="sm">
      {handles.length === 0 && nothingYet}
      {first.answer !== undefined && !first.isRunning && <StaleNote answer={first.answer} call={call} />}
      <SimpleGrid cols={{ base: 1, sm: Math.max(1, handles.length) }} spacing="md">
        {handles.map((handle) => (
          <One key={handle === first ? 'first' : 'second'} handle={handle} render={render} />
        ))}
      </SimpleGrid>
    </Stack>
  );
}

const isUsed = ({ answer, error, isRunning }: CallHandle): boolean =>
  answer !== undefined || error !== undefined || isRunning;

function One({
  handle: { answer, error, isRunning },
  render,
}: Pick<PairResultProps, 'render'> & { readonly handle: CallHandle }) {
  const isAnswered = answer?.ending === 'answered';
  return (
    <Stack gap="sm" component="article" aria-busy={isRunning} className="play-one">
      {answer !== undefined && (
        <Text size="sm" fw={600} className="play-wrap">
          {answer.call.model}
        </Text>
      )}
      {isRunning && (
        <Text size="sm" c="dimmed">
          Waiting for the answer; some take minutes.
        </Text>
      )}
      {answer !== undefined && !isRunning && <CallFacts answer={answer} />}
      {!isRunning && <CallFault answer={answer} error={error} />}
      {isAnswered && render(answer)}
    </Stack>
  );
}
