/** Pictures that go along with a question: read here, shown small, sent in the body, kept nowhere. */

import { ActionIcon, Group } from '@mantine/core';
import { Icon } from '../../../parts/marks/icon.tsx';
import type { Picture } from './talk.ts';

/** What every service takes. */
export const pictureTypes: readonly string[] = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];
const mostBytes = 10 * 1024 * 1024;

/** The pictures, and a sentence on each file that is none. */
interface Picked {
  readonly pictures: readonly Picture[];
  readonly refused: readonly string[];
}

export async function readPictures(files: readonly File[]): Promise<Picked> {
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

function toDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(String(reader.result));
    reader.onerror = () => reject(reader.error ?? new Error('The file cannot be read.'));
    reader.readAsDataURL(file);
  });
}

interface FacesProps {
  readonly pictures: readonly Picture[];
  /** Undefined where they stay. */
  readonly onRemove?: (picture: Picture) => void;
}

/** In a row. */
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
