/** Shows what was heard: the text, how long the recording is, and where each part begins. */

import { Group, Stack, Text } from '@mantine/core';
import { useMemo } from 'react';
import { CopyButton } from '../../../parts/snippets/copy.tsx';
import { formatDuration } from '../../../parts/words/format.ts';
import type { Answer } from '../call.ts';
import { toClock, toHeard } from './heard.ts';

export function HeardView({ answer }: { readonly answer: Answer }) {
  const { text, language, seconds, parts } = useMemo(() => toHeard(answer), [answer]);
  const facts = [
    seconds === undefined ? '' : `${formatDuration(seconds * 1_000)} long`,
    language === undefined ? '' : `language: ${language}`,
  ].filter((fact) => fact !== '');
  return (
    <Stack gap="xs">
      <Group justify="space-between" wrap="nowrap">
        <Text size="xs" c="dimmed">
          {facts.join(', ')}
        </Text>
        <CopyButton text={text} label="Copy the text" />
      </Group>
      <p className="heard" role="status" data-testid="heard">
        {text === '' ? 'Nothing was heard.' : text}
      </p>
      {parts.length > 0 && (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reachable by keyboard
        <ol className="heard-parts" aria-label="Parts" tabIndex={0}>
          {parts.map((part, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a part is told apart by its place
            <li key={index}>
              <Text size="xs" c="dimmed" className="numeric">
                {part.startSeconds === undefined ? '' : toClock(part.startSeconds)}
              </Text>
              <Text size="sm">{part.text}</Text>
            </li>
          ))}
        </ol>
      )}
    </Stack>
  );
}
