/** React hook that holds a conversation: its turns, the streaming answer, and actions to continue, edit and restart. */

import { useCallback, useState } from 'react';
import type { Answer, Call } from '../call.ts';
import { type CallHandle, useCall } from '../use-call.ts';
import { type Asked, isEmpty, nothingSaid, type Said, type Settings, type ToolAnswer, type Turn } from './talk.ts';
import { type WireName, wires } from './wires/index.ts';

export interface ChatTarget {
  readonly model: string;
  readonly wire: WireName;
}

export const toCall = ({ model, wire }: ChatTarget, turns: readonly Turn[], settings: Settings): Call => ({
  route: wire,
  model,
  body: { model, ...wires[wire].toBody(turns, settings) },
});

export interface How {
  readonly chatTarget: ChatTarget;
  readonly answer: Answer;
  /** Time until its first text; undefined for an answer that was not streamed. */
  readonly firstWordMs: number | undefined;
}

export interface Shown {
  readonly turn: Turn;
  /** How the answer was produced; undefined for turns of the user. */
  readonly how: How | undefined;
}

/** What a call needs besides the conversation. */
export interface AskOptions {
  readonly chatTarget: ChatTarget;
  readonly settings: Settings;
}

export interface Talk {
  readonly shown: readonly Shown[];
  /** The answer that is being received; undefined if there is none. */
  readonly saying: Said | undefined;
  readonly handle: CallHandle;
  /** Whether the last answer ended with tool calls that nobody has answered. */
  readonly awaitsTools: boolean;
  ask(question: Asked, options: AskOptions): void;
  reply(answers: readonly ToolAnswer[], options: AskOptions): void;
  again(options: AskOptions): void;
  /** Goes back to before the question with this number; it and all later turns are removed. */
  backTo(question: number): void;
  /** Continues from the turns of another conversation. */
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
      // Tool calls of an answer that broke off may be incomplete, and are dropped.
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
