/** Chat input: Enter sends, Shift+Enter starts a new line; images are chosen, dropped or pasted. */

import { ActionIcon, Button, FileButton, Group, Stack, Text, Textarea } from '@mantine/core';
import { type KeyboardEvent, useState } from 'react';
import { Icon } from '../../../parts/marks/icon.tsx';
import { useDrop } from '../hooks.ts';
import { CallForm, RunBar } from '../tab-frame.tsx';
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
    // While an input method composes a word, Enter chooses it.
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

/** Image types that every service accepts. */
const pictureTypes: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
const mostBytes = 10 * 1024 * 1024;

/** The images among the chosen files, and an error text for each other file. */
interface Picked {
  readonly pictures: readonly Picture[];
  readonly refused: readonly string[];
}

async function readPictures(files: readonly File[]): Promise<Picked> {
  const pictures: Picture[] = [];
  const refused: string[] = [];
  for (const file of files) {
    const why = whyNot(file);
    if (why === undefined) pictures.push({ name: file.name, url: await toDataUrl(file) });
    else refused.push(`${file.name}: ${why}`);
  }
  return { pictures, refused };
}

function whyNot({ type, size }: File): string | undefined {
  if (!pictureTypes.includes(type)) return 'PNG, JPEG, WebP and GIF are taken.';
  return size > mostBytes ? 'it has more than 10 MiB.' : undefined;
}

const toDataUrl = (file: File): Promise<string> =>
  new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read.'));
    reader.readAsDataURL(file);
  });

interface FacesProps {
  readonly pictures: readonly Picture[];
  /** Removes an image; undefined where images cannot be removed. */
  readonly onRemove?: (picture: Picture) => void;
}

export function Faces({ pictures, onRemove }: FacesProps) {
  if (pictures.length === 0) return null;
  return (
    <Group gap="xs">
      {pictures.map((picture) => (
        <div key={picture.url.slice(-64) + picture.name} className="talk-face">
          <img src={picture.url} alt={picture.name} />
          {onRemove !== undefined && (
            <ActionIcon
              size="sm"
              variant="default"
              className="talk-face-off"
              aria-label={`Leave out ${picture.name}`}
              onClick={() => onRemove(picture)}
            >
              <Icon name="close" size={12} />
            </ActionIcon>
          )}
        </div>
      ))}
    </Group>
  );
}
