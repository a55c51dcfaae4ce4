/** What came back for the texts, of one model or of two side by side. */

import { SimpleGrid, Stack, VisuallyHidden } from '@mantine/core';
import { useMemo, useState } from 'react';
import type { Call } from '../call.ts';
import { CallFacts } from '../call-facts.tsx';
import { CallFault } from '../call-fault.tsx';
import { Caution } from '../caution.tsx';
import { StaleNote } from '../stale-note.tsx';
import { NothingYet } from '../tab-frame.tsx';
import type { CallHandle } from '../use-call.ts';
import { type Embedded, toEmbedded, toMismatch } from './embedded.ts';
import type { Pair } from './heat-map.tsx';
import { TextLegend, VectorPicture } from './vector-picture.tsx';

interface EmbeddingsResultProps {
  readonly first: CallHandle;
  readonly second: CallHandle;
  readonly call: Call;
}

export function EmbeddingsResult({ first, second, call }: EmbeddingsResultProps) {
  const [active, setActive] = useState<Pair>();
  const one = useMemo(() => toEmbedded(first.answer), [first.answer]);
  const other = useMemo(() => toEmbedded(second.answer), [second.answer]);
  const isDrawn = typeof one === 'object';
  return (
    <Stack gap="sm" aria-busy={first.isRunning || second.isRunning}>
      {first.answer !== undefined && <CallFacts answer={first.answer} />}
      <CallFault answer={first.answer} error={first.error} />
      <CallFault answer={second.answer} error={second.error} />
      <StaleNote answer={first.answer} call={call} />
      <VisuallyHidden role="status">{isDrawn ? `Compared ${one.texts.length} texts.` : ''}</VisuallyHidden>
      {typeof one === 'string' && <Unreadable why={one} />}
      {typeof other === 'string' && <Unreadable why={other} />}
      {isDrawn && typeof other === 'object' && <Mismatch one={one} other={other} />}
      {isDrawn && (
        <>
          <SimpleGrid cols={typeof other === 'object' ? { base: 1, lg: 2 } : 1} spacing="md">
            <VectorPicture embedded={one} active={active} onActive={setActive} isNarrow={typeof other === 'object'} />
            {typeof other === 'object' && (
              <VectorPicture embedded={other} reference={one} active={active} onActive={setActive} isNarrow />
            )}
          </SimpleGrid>
          <TextLegend texts={one.texts} active={active} />
        </>
      )}
      {first.answer === undefined && first.error === undefined && (
        <NothingYet icon="playground">
          Each text becomes a list of numbers. Here you see how alike the model finds them: a heat map, and the texts as
          points on a plane.
        </NothingYet>
      )}
    </Stack>
  );
}

function Unreadable({ why }: { readonly why: string }) {
  return <Caution title="The answer cannot be drawn">{why} The tab Answer below shows what came.</Caution>;
}

function Mismatch({ one, other }: { readonly one: Embedded; readonly other: Embedded }) {
  const why = toMismatch(one, other);
  if (why === undefined) return null;
  return (
    <Caution title="Compare the patterns, not the numbers">
      {why} A vector of one model says nothing beside a vector of the other: never keep both in one index.
    </Caution>
  );
}
