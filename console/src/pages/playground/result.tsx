/** Shows the results of calls: the facts of each, and the tab's own view. */

import { SimpleGrid, Stack, Text, VisuallyHidden } from '@mantine/core';
import type { ReactNode } from 'react';
import { Muted } from '../../parts/layout/text.tsx';
import type { Answer, Call } from './call.ts';
import { CallFacts } from './call-facts.tsx';
import { CallFault } from './call-fault.tsx';
import type { CallHandle, Pair } from './use-call.ts';

interface PairResultProps {
  readonly pair: Pair;
  readonly call: Call;
  /** Shown until a call was sent. */
  readonly nothingYet: ReactNode;
  render(answer: Answer): ReactNode;
}

/** Shows each answer, one or two side by side. */
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

const hasFault = ({ answer, error }: CallHandle): boolean =>
  error !== undefined || answer?.ending === 'refused' || answer?.ending === 'cut';

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
      {isRunning && <Muted>Waiting for the answer; some take minutes.</Muted>}
      {answer !== undefined && !isRunning && <CallFacts answer={answer} />}
      {!isRunning && <CallFault answer={answer} error={error} />}
      {isAnswered && render(answer)}
    </Stack>
  );
}

interface CallResultProps {
  readonly pair: Pair;
  readonly call: Call;
  readonly nothingYet: ReactNode;
  /** The text for screen readers. */
  readonly announced: string;
  /** Whether the answer is still streaming; the last answer is then not shown above it. */
  readonly isLive?: boolean;
  readonly facts?: ReactNode;
  readonly children: ReactNode;
}

export function CallResult({ pair, call, nothingYet, announced, isLive, facts, children }: CallResultProps) {
  const { first, second, isRunning } = pair;
  const isOver = !(isLive === true && isRunning);
  return (
    <Stack gap="sm" aria-busy={isRunning}>
      {isOver && first.answer !== undefined && <CallFacts answer={first.answer} />}
      {isOver && facts}
      {isOver && <CallFault answer={first.answer} error={first.error} />}
      {hasFault(second) && <CallFault answer={second.answer} error={second.error} />}
      {isOver && <StaleNote answer={first.answer} call={call} />}
      <VisuallyHidden role="status">{announced}</VisuallyHidden>
      {children}
      {first.answer === undefined && first.error === undefined && isOver && nothingYet}
    </Stack>
  );
}

/** Shows that the form was changed since the answer was received. */
function StaleNote({ answer, call }: { readonly answer: Answer | undefined; readonly call: Call }) {
  if (answer === undefined || isSame(answer.call, call)) return null;
  return (
    <Text size="xs" className="tone-wait">
      You changed something since; this is the answer to what was sent before.
    </Text>
  );
}

const isSame = (one: Call, other: Call): boolean =>
  one.model === other.model && JSON.stringify(one.body) === JSON.stringify(other.body);
