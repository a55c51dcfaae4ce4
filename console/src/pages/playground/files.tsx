/** File inputs and download links of the playground. */

import { ActionIcon, Button, FileButton, Group, Stack, Text } from '@mantine/core';
import { useId } from 'react';
import { Remark } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { formatBytes } from '../../parts/words/format.ts';
import { useDrop } from './hooks.ts';

interface FilePickProps {
  readonly label: string;
  readonly description: string;
  /** Accepted types as browsers write them: `image/png,image/jpeg`. */
  readonly accept: string;
  readonly files: readonly File[];
  onChange(files: readonly File[]): void;
  readonly most: number;
}

export function FilePick({ label, description, accept, files, onChange, most }: FilePickProps) {
  const id = useId();
  const take = (more: readonly File[]): void => {
    if (more.length > 0) onChange(most === 1 ? more.slice(0, 1) : [...files, ...more].slice(0, most));
  };
  const drop = useDrop(take);
  return (
    <fieldset className="play-drop" aria-describedby={id} {...drop}>
      <legend>{label}</legend>
      <Stack gap={6}>
        <Remark id={id}>{description}</Remark>
        {files.map((file) => (
          <Group key={`${file.name} ${file.size} ${file.lastModified}`} gap="xs" wrap="nowrap">
            <Text size="sm" className="play-wrap">
              {file.name}, {formatBytes(file.size)}
            </Text>
            <ActionIcon
              size="sm"
              variant="subtle"
              color="gray"
              aria-label={`Leave out ${file.name}`}
              onClick={() => onChange(files.filter((one) => one !== file))}
            >
              <Icon name="close" size={12} />
            </ActionIcon>
          </Group>
        ))}
        <Group>
          <FileButton multiple accept={accept} inputProps={{ 'aria-label': label }} onChange={(picked) => take(picked)}>
            {(button) => (
              <Button {...button} size="xs" variant="default" leftSection={<Icon name="upload" size={14} />}>
                {files.length === 0 ? 'Choose a file' : 'Choose another'}
              </Button>
            )}
          </FileButton>
        </Group>
      </Stack>
    </fieldset>
  );
}

interface SaveLinkProps {
  /** An object URL of data on this page. */
  readonly url: string;
  readonly name: string;
}

export const SaveLink = ({ url, name }: SaveLinkProps) => (
  <Button
    component="a"
    href={url}
    download={name}
    size="compact-xs"
    variant="default"
    leftSection={<Icon name="download" size={12} />}
  >
    Save
  </Button>
);
