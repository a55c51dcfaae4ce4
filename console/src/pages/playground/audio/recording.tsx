/** Where a recording comes from: a file that is picked or dropped, or the microphone. It can be heard before it is sent. */

import { Button, Group, Stack, Text } from '@mantine/core';
import { Icon } from '../../../parts/marks/icon.tsx';
import { FilePick } from '../file-pick.tsx';
import { Player } from './player.tsx';
import { useRecorder } from './use-recorder.ts';

interface RecordingProps {
  readonly file: File | undefined;
  onChange(file: File | undefined): void;
}

const accept = 'audio/*,video/mp4,video/webm,.mp3,.m4a,.mp4,.mpga,.ogg,.wav,.webm,.flac';

export function Recording({ file, onChange }: RecordingProps) {
  const { isRecording, seconds, fault, start, stop } = useRecorder(onChange);
  return (
    <Stack gap="xs">
      <FilePick
        label="Recording"
        description="Choose it, drop it here, or record it; 32 MiB at most from here"
        accept={accept}
        files={file === undefined ? [] : [file]}
        onChange={([picked]) => onChange(picked)}
        most={1}
      />
      <Group gap="sm">
        {isRecording ? (
          <Button size="xs" color="red" leftSection={<Icon name="stop" size={14} />} onClick={stop}>
            Stop recording
          </Button>
        ) : (
          <Button size="xs" variant="default" leftSection={<Icon name="live" size={14} />} onClick={start}>
            Record
          </Button>
        )}
        {isRecording && (
          <Text size="sm" className="numeric">
            {seconds} s
          </Text>
        )}
      </Group>
      <div role="status">
        {fault !== undefined && (
          <Text size="sm" className="tone-wait">
            {fault}
          </Text>
        )}
      </div>
      {file !== undefined && !isRecording && <Player sound={file} label="The recording" name={file.name} />}
    </Stack>
  );
}
