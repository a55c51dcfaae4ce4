/** Where the next question is written: Enter sends it, Shift+Enter begins a line; pictures are picked, dropped or pasted. */

import { Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { Icon } from '../../../parts/marks/icon.tsx';
import { useDrop } from '../hooks.ts';
import { CallForm, RunBar } from '../tab-frame.tsx';
import { Faces, pictureTypes, readPictures } from './pictures.tsx';
import type { Picture } from './talk.ts';

interface ComposerProps {
  readonly text: string;
  onText(text: string): void;
  readonly pictures: readonly Picture[];
  onPictures(pictures: readonly Picture[]): void;
  onSend(): void;
  onStop(): void;
  readonly isRunning: boolean;
  readonly missing: string | undefined;
}

export function Composer(props: ComposerProps) {
  const { text, onText, pictures, onPictures, onSend, onStop, isRunning, missing } = props;
  const [refused, setRefused] = useState<readonly string[]>([]);
  const canSend = missing === undefined && !isRunning;
  const send = (): void => {
    setRefused([]);
    onSend();
  };

  const take = async (files: readonly File[]): Promise<void> => {
    if (files.length === 0) return;
    const picked = await readPictures(files);
    setRefused(picked.refused);
    onPictures([...pictures, ...picked.pictures]);
  };
  const drop = useDrop((files) => void take(files));
  const onKeyDown = (event: KeyboardEvent): void => {
    const isPlain = !event.shiftKey && !event.ctrlKey && !event.metaKey && !event.altKey;
    // While a word is being composed, Enter chooses it.
    if (event.key !== 'Enter' || !isPlain || event.nativeEvent.isComposing) return;
    event.preventDefault();
    if (canSend) send();
  };
  return (
    <section aria-label="Next question" className="talk-composer" {...drop}>
      <CallForm onRun={send} canRun={canSend}>
        <Stack gap="xs">
          <Faces pictures={pictures} onRemove={(gone) => onPictures(pictures.filter((one) => one !== gone))} />
          <Textarea
            label="Question"
            value={text}
            onChange={(event) => onText(event.currentTarget.value)}
            onKeyDown={onKeyDown}
            onPaste={(event) => void take([...event.clipboardData.files])}
            autosize
            minRows={2}
            maxRows={10}
          />
          <Group justify="space-between" gap="xs">
            <RunBar label="Send" isRunning={isRunning} onStop={onStop} missing={missing} />
            <FileButton multiple accept={pictureTypes.join(',')} onChange={(files) => void take(files)}>
              {(button) => (
                <Button {...button} variant="default" leftSection={<Icon name="upload" size={16} />}>
                  Add pictures
                </Button>
              )}
            </FileButton>
          </Group>
          <div role="status">
            {refused.map((why) => (
              <Text key={why} size="xs" className="tone-wait play-wrap">
                {why}
              </Text>
            ))}
          </div>
        </Stack>
      </CallForm>
    </section>
  );
}
