/** Says where something is declared, and so where it can be changed. */

import { Badge, Tooltip } from '@mantine/core';
import { Icon } from './icon.tsx';

interface ManagedByProps {
  readonly by: 'file' | 'store' | 'embedded' | 'built-in';
  readonly place?: { readonly file: string; readonly line: number } | null | undefined;
}

/** Nothing for what is kept in the store: that is changed here. */
export function ManagedBy({ by, place }: ManagedByProps) {
  if (by === 'store') return null;
  if (by !== 'file') return <Standing by={by} />;
  const where =
    place === null || place === undefined ? 'the configuration file' : `${nameOf(place.file)}:${place.line}`;
  return (
    <Tooltip
      label={`Declared in ${place?.file ?? where}${place ? `, line ${place.line}` : ''}: change it there.`}
      withinPortal
      multiline
      maw={360}
    >
      <Badge variant="default" leftSection={<Icon name="file" size={12} />} className="plain-badge">
        {where}
      </Badge>
    </Tooltip>
  );
}

const standing = {
  embedded: ['Comes with Postern', 'It is part of what Postern starts with where there is no postern.yaml.'],
  'built-in': ['Comes with its upstream', 'It is there as long as its upstream is, and declared nowhere.'],
} as const;

function Standing({ by }: { readonly by: keyof typeof standing }) {
  const [words, why] = standing[by];
  return (
    <Tooltip label={why} withinPortal multiline maw={360}>
      <Badge variant="default" className="plain-badge">
        {words}
      </Badge>
    </Tooltip>
  );
}

const nameOf = (file: string): string => file.split(/[\\/]/).at(-1) ?? file;
