/** Shows a conversation turn by turn, newest in view, with the cost of each answer. */

import { Button, Group, Stack, VisuallyHidden } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';
import { Action } from '../../../parts/layout/button.tsx';
import { Remark } from '../../../parts/layout/text.tsx';
import { Needs } from '../../../parts/session/role.tsx';
import { formatDuration } from '../../../parts/words/format.ts';
import { CallFacts } from '../call-facts.tsx';
import { CallFault } from '../call-fault.tsx';
import { toPath } from '../call-text.ts';
import { Faces } from './composer.tsx';
import { SaidView, ToolAnswers } from './said-view.tsx';
import type { ToolAnswer, Turn } from './talk.ts';
import type { ChatTarget, How, Shown, Talk } from './use-talk.ts';

interface ThreadProps {
  readonly talk: Talk;
  readonly chatTarget: ChatTarget;
  readonly canAsk: boolean;
  onAnswer(answers: readonly ToolAnswer[]): void;
  onAgain(): void;
  /** Takes the question with this number back into the input field. */
  onEdit(question: number): void;
}

export function Thread({ talk, chatTarget, canAsk, onAnswer, onAgain, onEdit }: ThreadProps) {
  const { shown, saying, handle } = talk;
  const { answer, error, isRunning } = handle;
  const last = shown.at(-1);
  const questions = [...shown.keys()].filter((index) => shown[index]?.turn.kind === 'asked');
  const openCalls = last?.turn.kind === 'said' && !isRunning ? last.turn.said.calls : [];
  return (
    <section className="talk" aria-label={`Talk with ${chatTarget.model}`} aria-busy={isRunning}>
      <Remark className="play-wrap">
        <strong>{chatTarget.model}</strong> {toPath(chatTarget.wire, chatTarget.model)}
      </Remark>
      <Scrolling>
        <ol className="talk-turns">
          {shown.map((one, index) => (
            <li key={toTurnKey(one, index)} className="talk-turn" data-kind={one.turn.kind}>
              <TurnView
                shown={one}
                isLast={index === shown.length - 1}
                onEdit={isRunning ? undefined : () => onEdit(questions.indexOf(index))}
              />
            </li>
          ))}
          {saying !== undefined && (
            <li className="talk-turn" data-kind="said">
              <SaidView said={saying} isSaying />
            </li>
          )}
        </ol>
        {!isRunning && <CallFault answer={answer} error={error} />}
        {!isRunning && answer !== undefined && last?.turn.kind !== 'said' && <CallFacts answer={answer} />}
      </Scrolling>
      {openCalls.length > 0 && <ToolAnswers key={shown.length} calls={openCalls} onAnswer={onAnswer} />}
      {last !== undefined && !isRunning && openCalls.length === 0 && (
        <Group>
          <Needs role="editor">
            <Action
              icon="refresh"
              label={last.turn.kind === 'said' ? 'Answer again' : 'Try again'}
              size="compact-xs"
              disabled={!canAsk}
              onClick={onAgain}
            />
          </Needs>
        </Group>
      )}
      <VisuallyHidden role="status">{describe(talk, chatTarget)}</VisuallyHidden>
    </section>
  );
}

/** A key for React. Turns are only ever added or removed at the end. */
const toTurnKey = ({ how }: Shown, index: number): string => `${index} ${how?.answer.requestId ?? ''}`;

/** The text for screen readers: read once at the end, and not word by word. */
function describe({ handle: { isRunning }, shown }: Talk, { model }: ChatTarget): string {
  if (isRunning) return `${model} is answering`;
  const turn = shown.at(-1)?.turn;
  if (turn?.kind !== 'said') return '';
  const calls = turn.said.calls.map(({ name }) => `It calls ${name}.`);
  return [`${model} says: ${turn.said.text}`, ...calls].join(' ');
}

/** Scrolls along with the answer that is being written, unless the reader has scrolled away. */
function Scrolling({ children }: { readonly children: ReactNode }) {
  const box = useRef<HTMLElement>(null);
  const content = useRef<HTMLDivElement>(null);
  const follows = useRef(true);
  useEffect(() => {
    if (content.current === null) return;
    const watcher = new ResizeObserver(() => {
      if (follows.current && box.current !== null) box.current.scrollTop = box.current.scrollHeight;
    });
    watcher.observe(content.current);
    return () => watcher.disconnect();
  }, []);
  return (
    <section
      className="talk-box"
      ref={box}
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
      tabIndex={0}
      aria-label="Turns"
      onScroll={({ currentTarget: { scrollTop, scrollHeight, clientHeight } }) => {
        follows.current = scrollHeight - scrollTop - clientHeight < nearEnough;
      }}
    >
      <div ref={content}>{children}</div>
    </section>
  );
}

/** Distance from the end, in pixels, at which the reader counts as being at the end. */
const nearEnough = 60;

interface TurnViewProps {
  readonly shown: Shown;
  readonly isLast: boolean;
  readonly onEdit: (() => void) | undefined;
}

const TurnView = ({ shown: { turn, how }, isLast, onEdit }: TurnViewProps) => (
  <>
    <VisuallyHidden>{speakerOf(turn)}</VisuallyHidden>
    <TurnText turn={turn} />
    {turn.kind === 'asked' && onEdit !== undefined && (
      <Button size="compact-xs" variant="subtle" color="gray" onClick={onEdit} className="talk-edit">
        Ask differently
      </Button>
    )}
    {how !== undefined && (isLast ? <WholeHow how={how} /> : <BriefHow how={how} />)}
  </>
);

const speakers = { asked: 'You', said: 'The model', tools: 'The tools' } as const;
const speakerOf = ({ kind }: Turn): string => speakers[kind];

function TurnText({ turn }: { readonly turn: Turn }) {
  switch (turn.kind) {
    case 'asked':
      return (
        <>
          <Faces pictures={turn.pictures} />
          {turn.text !== '' && <p className="talk-text">{turn.text}</p>}
        </>
      );
    case 'said':
      return <SaidView said={turn.said} isSaying={false} />;
    case 'tools':
      return turn.answers.map(({ id, name, output }) => (
        <div key={id}>
          <Remark>{name} answered</Remark>
          <p className="talk-text talk-told">{output === '' ? '(nothing)' : output}</p>
        </div>
      ));
  }
}

const WholeHow = ({ how: { answer, firstWordMs } }: { readonly how: How }) => (
  <Stack gap={4} className="talk-how">
    <CallFacts answer={answer} />
    {firstWordMs !== undefined && <Remark>First word after {formatDuration(firstWordMs)}</Remark>}
  </Stack>
);

const BriefHow = ({ how: { answer, chatTarget } }: { readonly how: How }) => (
  <Remark className="play-wrap">
    {chatTarget.model}, {formatDuration(answer.totalMs)}
  </Remark>
);
