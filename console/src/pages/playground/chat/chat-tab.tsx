/** Playground tab for chat with one model, or two side by side, over any of their chat APIs. */

import './chat.css';
import { Group, SimpleGrid, Stack } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Action } from '../../../parts/layout/button.tsx';
import type { Values } from '../../../parts/snippets/share.ts';
import { CallSource } from '../call-source.tsx';
import { textOf } from '../fields.tsx';
import { addRun, useKept } from '../hooks.ts';
import { findModel, usePlaygroundModels } from '../model-choice.tsx';
import type { TabProps } from '../operation-tab.tsx';
import { FormTools, NothingYet, TabFrame } from '../tab-frame.tsx';
import { ChatFields, sampleForm, toSettings } from './chat-fields.tsx';
import { Composer } from './composer.tsx';
import type { Asked, Picture, Settings, Turn } from './talk.ts';
import { Thread } from './thread.tsx';
import { type AskOptions, type ChatTarget, type Talk, toCall, turnsOf, useTalk } from './use-talk.ts';
import { chooseWire, type WireName, wireNames } from './wires/index.ts';

export default function ChatTab({ wantedModel, wantedRoute, wantedValues }: TabProps) {
  const [form, put] = useKept<Values>('chat', sampleForm, {
    ...wantedValues,
    ...(wantedRoute !== undefined && { wire: wantedRoute }),
  });
  const [pictures, setPictures] = useState<readonly Picture[]>([]);
  const offered = useOffered();
  const [first, second] = [useTalk(), useTalk()];
  const [model, other, text] = [textOf(form, 'model'), textOf(form, 'other'), textOf(form, 'text')];
  const isPair = other !== '';
  const chatTargets = {
    first: chatTargetOf(model, textOf(form, 'wire'), offered),
    second: chatTargetOf(other, textOf(form, 'otherWire'), offered),
  };
  const read = toSettings(form);
  const settings = typeof read === 'string' ? unread : read;
  const optionsFor = (chatTarget: ChatTarget): AskOptions => ({ chatTarget, settings });
  const question: Asked = { kind: 'asked', text: text.trim(), pictures };
  const isRunning = first.handle.isRunning || second.handle.isRunning;
  const hasBegun = first.shown.length > 0;
  const waits = first.awaitsTools || (isPair && second.awaitsTools);
  const missing = typeof read === 'string' ? read : whatIsMissing(model, question, waits);
  // biome-ignore lint/correctness/useExhaustiveDependencies: what the question, the settings and the place are made of
  const source = useMemo(
    () => toCall(chatTargets.first, withQuestion(turnsOf(first.shown), question), settings),
    [form, pictures, first.shown, chatTargets.first.wire],
  );

  const send = (): void => {
    addRun('chat', form);
    first.ask(question, optionsFor(chatTargets.first));
    if (isPair) second.ask(question, optionsFor(chatTargets.second));
    put({ text: '' });
    setPictures([]);
  };
  const edit = (talk: Talk, index: number): void => {
    const asked = turnsOf(talk.shown).filter((turn) => turn.kind === 'asked')[index];
    if (asked === undefined) return;
    first.backTo(index);
    second.backTo(index);
    put({ text: asked.text });
    setPictures(asked.pictures);
  };
  const stop = (): void => {
    first.handle.stop();
    second.handle.stop();
  };
  const beginAnew = (): void => {
    first.become([]);
    second.become([]);
  };
  const threadOf = (talk: Talk, chatTarget: ChatTarget) => (
    <Thread
      talk={talk}
      chatTarget={chatTarget}
      canAsk={typeof read !== 'string'}
      onAnswer={(answers) => talk.reply(answers, optionsFor(chatTarget))}
      onAgain={() => talk.again(optionsFor(chatTarget))}
      onEdit={(index) => edit(talk, index)}
    />
  );
  return (
    <TabFrame
      answer={undefined}
      isWide={isPair}
      form={
        <ChatFields
          form={form}
          put={(change) => {
            put(change);
            // The second model gets the conversation so far.
            if (change.other !== undefined && change.other !== '' && !isPair) second.become(first.shown);
          }}
          wantedModel={wantedModel}
          open={openWires(model, offered)}
          otherOpen={openWires(other, offered)}
          wire={chatTargets.first.wire}
          otherWire={chatTargets.second.wire}
        />
      }
      result={
        <Stack gap="sm">
          {!hasBegun && <NothingYet icon="bolt">The conversation appears here, word by word.</NothingYet>}
          {hasBegun && (
            <SimpleGrid cols={{ base: 1, sm: isPair ? 2 : 1 }} spacing="sm">
              {threadOf(first, chatTargets.first)}
              {isPair && threadOf(second, chatTargets.second)}
            </SimpleGrid>
          )}
          <Composer
            text={text}
            onText={(next) => put({ text: next })}
            pictures={pictures}
            onPictures={setPictures}
            onSend={send}
            onStop={stop}
            isRunning={isRunning}
            missing={missing}
          />
          <Group justify="space-between">
            {hasBegun ? <Action icon="plus" label="Begin anew" size="xs" onClick={beginAnew} /> : <span />}
            <FormTools draft="chat" route="chat" values={form} onPick={put} />
          </Group>
        </Stack>
      }
      source={<CallSource operation={chatTargets.first.wire} call={source} answer={first.handle.answer} />}
    />
  );
}

/** Settings that are shown while a field cannot be read; nothing is sent then. */
const unread: Settings = {
  system: '',
  stream: false,
  tools: [],
  toolChoice: '',
  maxTokens: undefined,
  temperature: undefined,
  topP: undefined,
  stop: '',
  further: {},
};

const isAsked = ({ text, pictures }: Asked): boolean => text !== '' || pictures.length > 0;

const withQuestion = (turns: readonly Turn[], question: Asked): readonly Turn[] =>
  isAsked(question) ? [...turns, question] : turns;

function whatIsMissing(model: string, question: Asked, waits: boolean): string | undefined {
  if (model === '') return 'Choose a model first.';
  if (waits) return 'Answer for the tools first.';
  return isAsked(question) ? undefined : 'Write a question first.';
}

type Offered = (model: string) => readonly WireName[] | undefined;

/** The wire formats of a model; undefined: the model is unknown, and any format may be tried. */
function useOffered(): Offered {
  const { data } = usePlaygroundModels(wireNames);
  return (model) => {
    const found = findModel(data?.items ?? [], model);
    return found === undefined ? undefined : wireNames.filter((name) => found.operations.includes(name));
  };
}

const openWires = (model: string, offered: Offered): readonly WireName[] => offered(model) ?? wireNames;

const chatTargetOf = (model: string, wanted: string, offered: Offered): ChatTarget => ({
  model,
  wire: chooseWire(offered(model), wanted),
});
