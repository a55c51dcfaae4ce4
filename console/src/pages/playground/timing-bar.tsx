/** Where the time went, as a bar with its parts named below it. */

import { Group, Text } from '@mantine/core';
import { formatDuration } from '../../parts/words/format.ts';
import type { Answer } from './call.ts';
import { toSpans } from './timing.ts';

export function TimingBar({ answer }: { readonly answer: Answer }) {
  const spans = toSpans(answer);
  const total = spans.reduce((sum, { ms }) => sum + ms, 0);
  if (total === 0) return null;
  return (
    <div>
      <div className="play-timing" aria-hidden="true">
        {spans.map(({ name, ms }) => (
          <span key={name} className={`play-timing-${name}`} style={{ flexGrow: ms }} />
        ))}
      </div>
      <Group gap="md" mt={4}>
        {spans.map(({ name, title, ms }) => (
          <Text key={name} size="xs" c="dimmed" className="play-legend">
            <span className={`play-dot play-timing-${name}`} aria-hidden="true" />
            {title} {formatDuration(ms)}
          </Text>
        ))}
        {answer.isStream && (
          <Text size="xs" c="dimmed">
            First byte {formatDuration(answer.firstByteMs)}
          </Text>
        )}
      </Group>
    </div>
  );
}
