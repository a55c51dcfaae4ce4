/** Pictures, small, in a row. */

import { ActionIcon, Group } from '@mantine/core';
import { Icon } from '../../../parts/marks/icon.tsx';
import type { Picture } from './talk.ts';

interface FacesProps {
  readonly pictures: readonly Picture[];
  /** Undefined where they stay. */
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
