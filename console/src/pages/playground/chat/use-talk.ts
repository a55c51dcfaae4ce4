/** React state of a conversation: its turns, the streaming answer, and actions to continue, edit and restart. */

import { useCallback, useState } from 'react';
import type { Answer, Call } from '../call.ts';
import { type CallHandle, useCall } from '../use-call.ts';
import { type Asked, isEmpty, nothingSaid, type Said, type Settings, type ToolAnswer, type Turn } from './talk.ts';
import { type WireName, wires } from './wires/index.ts';

export interface ChatTarget {
  readonly model: string;
  readonly wire: WireName;
}

/** The call that goes on from these turns. */
export const toCall = ({ model, wire }: ChatTarget, turns: readonly Turn[], settings: Settings): Call => ({
  route: wire,
  model,
  body: { model, ...wires[wire].toBody(turns, settings) },
});

/** How an answer came about. */
export interface How {
  readonly chatTarget: ChatTarget;
  readonly answer: Answer;
  /** Until the first of it could be read; undefined where it came as a whole. */
  readonly firstWordMs: number | undefined;
}

export interface Shown {
  readonly turn: Turn;
  /** Of what a model said. */
  readonly how: How | undefined;
}

/** What a call needs beside the talk itself. */
export interface AskOptions {
  readonly chatTarget: ChatTarget;
  readonly settings: Settings;
}

export interface Talk {
  readonly shown: readonly Shown[];
  /** Undefined while nothing is being said. */
  readonly saying: Said | undefined;
  readonly handle: CallHandle;
  /** Its last words are calls of tools that nobody has answered. */
  readonly awaitsTools: boolean;
  ask(question: Asked, options: AskOptions): void;
  reply(answers: readonly ToolAnswer[], options: AskOptions): void;
  /** The last answer once more. */
  again(options: AskOptions): void;
  /** Back to before the question of that number; it and all since are gone. */
  backTo(question: number): void;
  /** Takes over where another talk is. */
  become(shown: readonly Shown[]): void;
}

export const turnsOf = (shown: readonly Shown[]): readonly Turn[] => shown.map(({ turn }) => turn);

export function useTalk(): Talk {
  const [shown, setShown] = useState<readonly Shown[]>([]);
  const [saying, setSaying] = useState<Said>();
  const handle = useCall();
  const { run, clear } = handle;

  const goOn = useCallback(
    async (before: readonly Shown[], { chatTarget, settings }: AskOptions): Promise<void> => {
      const wire = wires[chatTarget.wire];
      const startedMs = performance.now();
      let said = nothingSaid;
      let firstWordMs: number | undefined;
      setShown(before);
      setSaying(said);
      const answer = await run(toCall(chatTarget, turnsOf(before), settings), (event) => {
        said = wire.add(said, event);
        if (!isEmpty(said)) firstWordMs ??= performance.now() - startedMs;
        setSaying(said);
      });
      setSaying(undefined);
      if (answer === undefined || answer.ending === 'refused') return;
      if (!answer.isStream) said = wire.readWhole(answer.json);
      // Calls that were not written to their end are none.
      if (answer.ending !== 'answered') said = { ...said, calls: [], blocks: [] };
      if (isEmpty(said) && answer.ending !== 'answered' && said.fault === undefined) return;
      setShown([...before, { turn: { kind: 'said', said }, how: { chatTarget, answer, firstWordMs } }]);
    },
    [run],
  );

  const become = useCallback(
    (next: readonly Shown[]) => {
      clear();
      setSaying(undefined);
      setShown(next);
    },
    [clear],
  );

  const last = shown.at(-1)?.turn;
  return {
    shown,
    saying,
    handle,
    awaitsTools: last?.kind === 'said' && last.said.calls.length > 0,
    ask: (question, options) => void goOn([...shown, { turn: question, how: undefined }], options),
    reply: (answers, options) => void goOn([...shown, { turn: { kind: 'tools', answers }, how: undefined }], options),
    again: (options) => void goOn(last?.kind === 'said' ? shown.slice(0, -1) : shown, options),
    backTo(question) {
      const indexes = [...shown.keys()].filter((chatTarget) => shown[chatTarget]?.turn.kind === 'asked');
      become(shown.slice(0, indexes[question] ?? shown.length));
    },
    become,
  };
}
