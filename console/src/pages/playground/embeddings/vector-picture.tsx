/** One model's view of the texts: how alike they are, and where they stand. */

import { Badge, Group, Paper, SimpleGrid, Skeleton, Text, Title } from '@mantine/core';
import { useMemo } from 'react';
import { formatCount } from '../../../parts/words/format.ts';
import type { Embedded } from './embedded.ts';
import { HeatMap, type Pair } from './heat-map.tsx';
import { alignTo, project } from './pca.ts';
import { Plane } from './plane.tsx';
import { useSimilarities } from './use-similarities.ts';

/** A page is for looking: more are embedded, and the first are drawn. */
const mostDrawn = 60;

interface VectorPictureProps {
  readonly embedded: Embedded;
  /** Turned so that it can be compared with this one's picture. */
  readonly reference?: Embedded | undefined;
  readonly active: Pair | undefined;
  onActive(pair: Pair | undefined): void;
  readonly isNarrow: boolean;
}

export function VectorPicture({ embedded: whole, reference, active, onActive, isNarrow }: VectorPictureProps) {
  const embedded = useMemo(() => firstOf(whole), [whole]);
  const similarities = useSimilarities(embedded);
  const projection = useMemo(() => {
    const own = project(embedded.vectors);
    return reference === undefined
      ? own
      : { ...own, points: alignTo(own.points, project(firstOf(reference).vectors).points) };
  }, [embedded, reference]);
  const { model, texts, width, space, encoding } = embedded;
  return (
    <Paper withBorder p="md">
      <Group gap="xs" mb="sm">
        <Title order={2} size="h5" className="play-wrap">
          {model}
        </Title>
        <Badge variant="default" className="plain-badge">
          {formatCount(width)} numbers a text
        </Badge>
        {space !== undefined && (
          <Badge variant="default" className="plain-badge">
            space {space}
          </Badge>
        )}
        {encoding === 'base64' && (
          <Badge variant="default" className="plain-badge">
            sent as base64
          </Badge>
        )}
      </Group>
      <SimpleGrid cols={isNarrow ? 1 : { base: 1, xl: 2 }} spacing="lg">
        {similarities === undefined ? (
          <Skeleton height={300} radius="md" />
        ) : (
          <HeatMap
            rows={similarities.rows}
            texts={texts}
            active={active}
            onActive={onActive}
            label={`How alike the texts are to ${model}, 1 for the same direction`}
          />
        )}
        <Plane
          projection={projection}
          texts={texts}
          active={active}
          onActive={onActive}
          label={`The ${texts.length} texts on a plane, as ${model} sees them. The table beside it holds the numbers.`}
        />
      </SimpleGrid>
      {whole.texts.length > mostDrawn && (
        <Text size="xs" c="dimmed" mt="xs">
          The first {mostDrawn} of {formatCount(whole.texts.length)} texts are drawn.
        </Text>
      )}
    </Paper>
  );
}

function firstOf(embedded: Embedded): Embedded {
  if (embedded.texts.length <= mostDrawn) return embedded;
  return { ...embedded, texts: embedded.texts.slice(0, mostDrawn), vectors: embedded.vectors.slice(0, mostDrawn) };
}

export function TextLegend({
  texts,
  active,
}: {
  readonly texts: readonly string[];
  readonly active: Pair | undefined;
}) {
  return (
    <ol className="heat-legend" aria-label="The texts by their numbers">
      {texts.slice(0, mostDrawn).map((text, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a text is told apart by its place
        <li key={index} data-active={active?.includes(index) || undefined}>
          {text}
        </li>
      ))}
    </ol>
  );
}
