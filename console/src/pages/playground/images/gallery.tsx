/** The pictures of an answer, each to be looked at and saved. */

import { Anchor, Group, SimpleGrid, Text } from '@mantine/core';
import { useMemo } from 'react';
import { formatBytes } from '../../../parts/words/format.ts';
import type { Answer } from '../call.ts';
import { SaveLink } from '../save-link.tsx';
import { useObjectUrl } from '../use-object-url.ts';
import { endingOf, type Made, toMade } from './made.ts';

export function Gallery({ answer }: { readonly answer: Answer }) {
  const made = useMemo(() => toMade(answer), [answer]);
  if (made.length === 0) return <Text size="sm">The answer holds no pictures.</Text>;
  const name = answer.call.model.replace(/[^\w.-]+/g, '-');
  return (
    <SimpleGrid cols={{ base: 1, xs: made.length > 1 ? 2 : 1 }} spacing="sm">
      {made.map((one, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a picture is told apart by its place
        <Shown key={index} made={one} number={index + 1} name={`${name}-${index + 1}`} />
      ))}
    </SimpleGrid>
  );
}

interface ShownProps {
  readonly made: Made;
  readonly number: number;
  /** Of the file, without its ending. */
  readonly name: string;
}

function Shown({ made: { picture, url, revised }, number, name }: ShownProps) {
  const address = useObjectUrl(picture);
  return (
    <figure className="image-shown">
      {address !== undefined && <img src={address} alt={revised ?? `Number ${number} of what was made`} />}
      <figcaption>
        {picture !== undefined && address !== undefined && (
          <Group justify="space-between" gap="xs">
            <Text size="xs" c="dimmed">
              {picture.type}, {formatBytes(picture.size)}
            </Text>
            <SaveLink url={address} name={`${name}.${endingOf(picture)}`} />
          </Group>
        )}
        {picture === undefined && url !== undefined && (
          <Text size="sm" className="play-wrap">
            It lies elsewhere; the console loads nothing from there.{' '}
            <Anchor href={url} target="_blank" rel="noopener noreferrer" inherit underline="always">
              Open picture {number} in a new tab
            </Anchor>
          </Text>
        )}
        {picture === undefined && url === undefined && <Text size="sm">Picture {number} cannot be shown.</Text>}
        {revised !== undefined && (
          <Text size="xs" c="dimmed" className="play-wrap">
            Made from: {revised}
          </Text>
        )}
      </figcaption>
    </figure>
  );
}
