/** Shows a model's answer: text, collapsed reasoning, and tool calls. */

import { Alert, Button, Group, Paper, Stack, Text, Textarea } from '@mantine/core';
import { useState } from 'react';
import { Muted, Remark } from '../../../parts/layout/text.tsx';
import { Icon } from '../../../parts/marks/icon.tsx';
import { Needs } from '../../../parts/session/role.tsx';
import { CopyButton } from '../../../parts/snippets/copy.tsx';
import { CallForm } from '../tab-frame.tsx';
import type { Said, ToolAnswer, ToolCall } from './talk.ts';

interface SaidViewProps {
  readonly said: Said;
  readonly isSaying: boolean;
}

export function SaidView({ said: { text, thinking, calls, fault, reason }, isSaying }: SaidViewProps) {
  const isNothing = !isSaying && text === '' && calls.length === 0 && fault === undefined;
  return (
    <>
      {thinking !== '' && (
        <details className="talk-thinking">
          <summary>Thinking</summary>
          <p className="talk-text">{thinking}</p>
        </details>
      )}
      {(text !== '' || isSaying) && (
        <p className="talk-text" data-testid="said">
          {text}
          {isSaying && <span className="talk-caret" aria-hidden="true" />}
        </p>
      )}
      {calls.map((call) => (
        <CallView key={call.place} call={call} />
      ))}
      {isNothing && <Muted>Nothing was said.</Muted>}
      {fault !== undefined && (
        <Alert variant="light" color="red" title="The answer ended with an error" icon={<Icon name="warning" />}>
          <span className="play-wrap">{fault}</span>
        </Alert>
      )}
      {!isSaying && (
        <Group justify="space-between" gap="xs">
          <Remark>{reason === undefined ? '' : toReasonWords(reason)}</Remark>
          {text !== '' && <CopyButton text={text} label="Copy the answer" />}
        </Group>
      )}
    </>
  );
}

const CallView = ({ call: { name, input } }: { readonly call: ToolCall }) => (
  <Paper withBorder p="xs" component="section" aria-label={`Call of ${name}`}>
    <Group gap={6}>
      <Icon name="code" size={14} />
      <Text size="sm" fw={600} className="play-wrap">
        {name}
      </Text>
    </Group>
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard */}
    <pre className="snippet-code talk-input" tabIndex={0}>
      {indent(input)}
    </pre>
  </Paper>
);

/** The tool input as indented JSON; unchanged while it is incomplete, or if the model wrote invalid JSON. */
function indent(input: string): string {
  try {
    return JSON.stringify(JSON.parse(input), null, 2);
  } catch {
    return input;
  }
}

const reasonWords: Readonly<Record<string, string>> = {
  stop: 'ended by itself',
  end_turn: 'ended by itself',
  completed: 'ended by itself',
  stop_sequence: 'ended at the stop text',
  length: 'cut at the most tokens it may write',
  max_tokens: 'cut at the most tokens it may write',
  max_output_tokens: 'cut at the most tokens it may write',
  tool_calls: 'waits for the tools',
  tool_use: 'waits for the tools',
  content_filter: 'held back by a content filter',
  refusal: 'declined',
};

const toReasonWords = (reason: string): string => reasonWords[reason] ?? `ended: ${reason}`;

interface ToolAnswersProps {
  readonly calls: readonly ToolCall[];
  onAnswer(answers: readonly ToolAnswer[]): void;
}

/** Asks the user to type the results of tool calls, so that the conversation can continue. */
export function ToolAnswers({ calls, onAnswer }: ToolAnswersProps) {
  const [outputs, setOutputs] = useState<Readonly<Record<number, string>>>({});
  const submit = (): void => onAnswer(calls.map(({ place, id, name }) => ({ id, name, output: outputs[place] ?? '' })));
  return (
    <CallForm onRun={submit} canRun>
      <Stack gap="xs">
        {calls.map(({ place, name }) => (
          <Textarea
            key={place}
            label={`What ${name} answers`}
            placeholder='{"degrees": 21}'
            value={outputs[place] ?? ''}
            onChange={({ currentTarget: { value } }) => setOutputs((before) => ({ ...before, [place]: value }))}
            autosize
            minRows={1}
            maxRows={8}
          />
        ))}
        <Group>
          <Needs role="editor">
            <Button type="submit" size="xs" variant="default">
              {calls.length === 1 ? 'Send the answer' : 'Send the answers'}
            </Button>
          </Needs>
        </Group>
      </Stack>
    </CallForm>
  );
}
