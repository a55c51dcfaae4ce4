/** Lets the user choose, drop or record a sound, and plays it back. */

import { Group, Stack, Text } from '@mantine/core';
import { useCallback, useEffect, useRef, useState } from 'react';
import { Action } from '../../../parts/layout/button.tsx';
import { Remark } from '../../../parts/layout/text.tsx';
import { formatBytes, formatDuration } from '../../../parts/words/format.ts';
import type { FilesProps } from '../fields.tsx';
import { FilePick, SaveLink } from '../files.tsx';
import { useObjectUrl } from '../hooks.ts';

const accept = 'audio/*,video/mp4,video/webm,.mp3,.m4a,.mp4,.mpga,.ogg,.wav,.webm,.flac';

export function Recording({ files, onChange }: FilesProps) {
  const [file] = files;
  const { isRecording, seconds, fault, start, stop } = useRecorder((recorded) => onChange([recorded]));
  return (
    <Stack gap="xs">
      <FilePick
        label="Recording"
        description="Choose it, drop it here, or record it; 32 MiB at most from here"
        accept={accept}
        files={files}
        onChange={onChange}
        most={1}
      />
      <Group gap="sm">
        {isRecording ? (
          <Action icon="stop" label="Stop recording" variant="filled" size="xs" color="red" onClick={stop} />
        ) : (
          <Action icon="live" label="Record" size="xs" onClick={start} />
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

interface PlayerProps {
  readonly sound: Blob;
  readonly label: string;
  readonly name: string;
}

export function Player({ sound, label, name }: PlayerProps) {
  const url = useObjectUrl(sound);
  const [seconds, setSeconds] = useState<number>();
  const [isDumb, setIsDumb] = useState(false);
  if (url === undefined) return null;
  return (
    <div className="sound">
      {/* biome-ignore lint/a11y/useMediaCaption: what is said in it stands beside it */}
      <audio
        controls
        preload="metadata"
        src={url}
        aria-label={label}
        // The duration of a recording made in pieces is unknown.
        onLoadedMetadata={({ currentTarget: { duration } }) =>
          setSeconds(Number.isFinite(duration) ? duration : undefined)
        }
        onError={() => setIsDumb(true)}
      />
      <Group gap="xs" justify="space-between">
        <Remark>
          {[sound.type, formatBytes(sound.size), seconds === undefined ? '' : formatDuration(seconds * 1_000)]
            .filter((part) => part !== '')
            .join(', ')}
        </Remark>
        <SaveLink url={url} name={name} />
      </Group>
      {isDumb && (
        <Text size="sm" role="status">
          This browser cannot play it; save it, and open it with another program.
        </Text>
      )}
    </div>
  );
}

interface Recorder {
  readonly isRecording: boolean;
  readonly seconds: number;
  readonly fault: string | undefined;
  start(): void;
  stop(): void;
}

/** Recording formats; the first one that the browser supports is used. */
const types = ['audio/webm;codecs=opus', 'audio/mp4', 'audio/ogg;codecs=opus'];

/** Records from the microphone, and releases it when it stops or the page is left. */
function useRecorder(onRecorded: (file: File) => void): Recorder {
  const [isRecording, setIsRecording] = useState(false);
  const [seconds, setSeconds] = useState(0);
  const [fault, setFault] = useState<string>();
  const recorder = useRef<MediaRecorder>(undefined);
  const isGone = useRef(false);
  const listener = useRef(onRecorded);
  listener.current = onRecorded;

  useEffect(() => {
    isGone.current = false;
    return () => {
      isGone.current = true;
      recorder.current?.stop();
    };
  }, []);
  useEffect(() => {
    if (!isRecording) return;
    const timer = setInterval(() => setSeconds((before) => before + 1), 1_000);
    return () => clearInterval(timer);
  }, [isRecording]);

  const start = useCallback(async (): Promise<void> => {
    setFault(undefined);
    setSeconds(0);
    try {
      // Undefined on a page loaded over plain HTTP from another machine, whatever the types claim.
      const devices: MediaDevices | undefined = navigator.mediaDevices;
      if (devices === undefined) return setFault(insecure);
      const stream = await devices.getUserMedia({ audio: true });
      if (isGone.current) return release(stream);
      recorder.current = record(stream, (file) => {
        setIsRecording(false);
        recorder.current = undefined;
        if (!isGone.current) listener.current(file);
      });
      setIsRecording(true);
    } catch (error) {
      setFault(toWords(error));
    }
  }, []);

  return { isRecording, seconds, fault, start: () => void start(), stop: () => recorder.current?.stop() };
}

function record(stream: MediaStream, onEnd: (file: File) => void): MediaRecorder {
  const mimeType = types.find((type) => MediaRecorder.isTypeSupported(type));
  const recorder = new MediaRecorder(stream, mimeType === undefined ? {} : { mimeType });
  const pieces: Blob[] = [];
  recorder.ondataavailable = ({ data }) => pieces.push(data);
  recorder.onstop = () => {
    release(stream);
    const type = recorder.mimeType.split(';')[0] ?? 'audio/webm';
    onEnd(new File(pieces, `recording.${type.slice('audio/'.length)}`, { type }));
  };
  recorder.start();
  return recorder;
}

/** Closes the microphone: the browser shows its recording sign as long as a track is open. */
function release(stream: MediaStream): void {
  for (const track of stream.getTracks()) track.stop();
}

const insecure =
  'Browsers give the microphone to pages over https, or of this machine, alone. Open the console so, or choose a file.';

const words: Readonly<Record<string, string>> = {
  NotAllowedError:
    'The microphone was not given to this page. Allow it in what the browser says of this site, and record again; or choose a file.',
  NotFoundError: 'No microphone was found. Connect one and record again, or choose a file.',
  NotReadableError: 'The microphone is in use elsewhere. Close what uses it and record again, or choose a file.',
};

function toWords(error: unknown): string {
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  return words[name] ?? `The microphone does not work (${name || 'no reason given'}). Choose a file instead.`;
}
