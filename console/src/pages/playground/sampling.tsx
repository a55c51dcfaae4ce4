/** How freely a model writes, and where it ends: the same on every route that writes. */

import { TextInput } from '@mantine/core';
import { NumberOption } from './more-options.tsx';

interface SamplingProps {
  readonly temperature: string;
  readonly topP: string;
  put(change: { temperature: string } | { topP: string }): void;
}

export function Sampling({ temperature, topP, put }: SamplingProps) {
  return (
    <>
      <NumberOption
        label="temperature"
        description="Higher: more varied"
        value={temperature}
        onChange={(next) => put({ temperature: next })}
        min={0}
        max={2}
        step={0.1}
      />
      <NumberOption
        label="top_p"
        description="Likelier words only"
        value={topP}
        onChange={(next) => put({ topP: next })}
        min={0}
        max={1}
        step={0.05}
      />
    </>
  );
}

interface StopTextProps {
  readonly stop: string;
  put(change: { stop: string }): void;
}

export function StopText({ stop, put }: StopTextProps) {
  return (
    <TextInput
      label="stop"
      description={String.raw`Ends before this text; \n is a line's end`}
      placeholder="not sent"
      value={stop}
      onChange={(event) => put({ stop: event.currentTarget.value })}
      autoComplete="off"
    />
  );
}

/** A line's end cannot be typed into the field. */
export const toStopText = (stop: string): string => stop.replaceAll(String.raw`\n`, '\n');
