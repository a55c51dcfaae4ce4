/** Shows one model's embeddings of the texts: their similarities, and a map. */

import { Group, Paper, SimpleGrid, Skeleton, Text, Title } from '@mantine/core';
import { useEffect, useMemo, useState } from 'react';
import { Remark, Tag } from '../../../parts/layout/text.tsx';
import { formatCount, formatPercent } from '../../../parts/words/format.ts';
import { compareAll, type Embedded } from './embedded.ts';
import { HeatMap, type Pair } from './heat-map.tsx';
import { alignTo, type Projection, project, toDots } from './projection.ts';

/** Number of texts that are drawn; all texts are embedded. */
const mostDrawn = 60;

interface VectorPictureProps {
  readonly embedded: Embedded;
  /** The picture of another model, to which this one is rotated. */
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
        <Tag>{formatCount(width)} numbers a text</Tag>
        {space !== undefined && <Tag>space {space}</Tag>}
        {encoding === 'base64' && <Tag>sent as base64</Tag>}
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
        <Remark mt="xs">
          The first {mostDrawn} of {formatCount(whole.texts.length)} texts are drawn.
        </Remark>
      )}
    </Paper>
  );
}

function firstOf(embedded: Embedded): Embedded {
  if (embedded.texts.length <= mostDrawn) return embedded;
  return { ...embedded, texts: embedded.texts.slice(0, mostDrawn), vectors: embedded.vectors.slice(0, mostDrawn) };
}

export const TextLegend = ({
  texts,
  active,
}: {
  readonly texts: readonly string[];
  readonly active: Pair | undefined;
}) => (
  <ol className="heat-legend" aria-label="The texts by their numbers">
    {texts.slice(0, mostDrawn).map((text, index) => (
      // biome-ignore lint/suspicious/noArrayIndexKey: a text is identified by its position
      <li key={index} data-active={active?.includes(index) || undefined}>
        {text}
      </li>
    ))}
  </ol>
);

const drawing = { width: 420, height: 280, margin: 34, radius: 13 } as const;
const { width, height, margin, radius } = drawing;

interface PlaneProps {
  readonly projection: Projection;
  readonly texts: readonly string[];
  readonly active: Pair | undefined;
  onActive(pair: Pair | undefined): void;
  readonly label: string;
}

/** Draws the texts as points in a plane: close points are similar texts. */
function Plane({ projection: { points, shares }, texts, active, onActive, label }: PlaneProps) {
  const dots = toDots(points, drawing);
  const [from, to] = [dots[active?.[0] ?? -1], dots[active?.[1] ?? -1]];
  return (
    <figure className="plane">
      <svg viewBox={`0 0 ${width} ${height}`} role="img" aria-label={label} onMouseLeave={() => onActive(undefined)}>
        <line x1={margin / 2} x2={width - margin / 2} y1={height / 2} y2={height / 2} className="plane-axis" />
        <line x1={width / 2} x2={width / 2} y1={margin / 2} y2={height - margin / 2} className="plane-axis" />
        {from !== undefined && to !== undefined && (
          <line x1={from.x} y1={from.y} x2={to.x} y2={to.y} className="plane-link" />
        )}
        {dots.map(({ x, y }, index) => (
          // biome-ignore lint/a11y/noStaticElementInteractions: pointing marks the text; the table says the same by keyboard
          <g
            // biome-ignore lint/suspicious/noArrayIndexKey: a text is identified by its position
            key={index}
            className="plane-point"
            data-active={active?.includes(index) || undefined}
            transform={`translate(${x} ${y})`}
            onMouseEnter={() => onActive([index, index])}
          >
            <title>{texts[index]}</title>
            <circle r={radius} />
            <text dy="0.35em" textAnchor="middle">
              {index + 1}
            </text>
          </g>
        ))}
      </svg>
      <Text component="figcaption" size="xs" c="dimmed">
        Two directions of many: they show {formatPercent(Math.min(1, shares[0] + shares[1]))} of the differences.
      </Text>
    </figure>
  );
}

const sliceMs = 8;

function createPause(): () => Promise<void> {
  let startedMs = performance.now();
  return async () => {
    if (performance.now() - startedMs < sliceMs) return;
    await new Promise((resolve) => setTimeout(resolve, 0));
    startedMs = performance.now();
  };
}

interface Similarities {
  readonly of: Embedded;
  readonly rows: readonly (readonly number[])[];
}

/** The similarities of all texts, computed in slices, so that the page stays responsive. Undefined until they are known. */
function useSimilarities(embedded: Embedded): Similarities | undefined {
  const [found, setFound] = useState<Similarities>();
  useEffect(() => {
    const leaving = new AbortController();
    compareAll(embedded.vectors, createPause(), leaving.signal).then(
      (rows) => setFound({ of: embedded, rows }),
      () => undefined, // wanted no more
    );
    return () => leaving.abort();
  }, [embedded]);
  return found?.of === embedded ? found : undefined;
}
