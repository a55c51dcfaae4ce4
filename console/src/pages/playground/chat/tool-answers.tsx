/** Takes what the tools answer, typed in by hand, so that the talk goes on. */

import { Button, Group, Stack, Textarea } from '@mantine/core';
import { useState } from 'react';
import { Needs } from '../../../parts/session/role.tsx';
import { CallForm } from '../run-bar.tsx';
import type { ToolAnswer, ToolCall } from './talk.ts';

interface ToolAnswersProps {
  readonly calls: readonly ToolCall[];
  onTell(answers: readonly ToolAnswer[]): void;
}

export function ToolAnswers({ calls, onTell }: ToolAnswersProps) {
  const [outputs, setOutputs] = useState<Readonly<Record<number, string>>>({});
  const tell = (): void => onTell(calls.map(({ place, id, name }) => ({ id, name, output: outputs[place] ?? '' })));
  return (
    <CallForm onRun={tell} canRun>
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
