/** Plays sound that the page holds, and saves it. */

import { Group, Text } from '@mantine/core';
import { useState } from 'react';
import { formatBytes, formatDuration } from '../../../parts/words/format.ts';
import { SaveLink } from '../save-link.tsx';
import { useObjectUrl } from '../use-object-url.ts';

interface PlayerProps {
  readonly sound: Blob;
  readonly label: string;
  /** Under which it is saved. */
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
        // A recording that was made in pieces does not know how long it is.
        onLoadedMetadata={({ currentTarget: { duration } }) =>
          setSeconds(Number.isFinite(duration) ? duration : undefined)
        }
        onError={() => setIsDumb(true)}
      />
      <Group gap="xs" justify="space-between">
        <Text size="xs" c="dimmed">
          {[sound.type, formatBytes(sound.size), seconds === undefined ? '' : formatDuration(seconds * 1_000)]
            .filter((part) => part !== '')
            .join(', ')}
        </Text>
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
