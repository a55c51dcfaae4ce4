/** Playground tab for embeddings: shows similarities and a map of texts, for one or two models, also on the legacy path. */

import './embeddings.css';
import { SimpleGrid } from '@mantine/core';
import { useMemo, useState } from 'react';
import { Notice } from '../../../parts/layout/state.tsx';
import { severalTexts } from '../fields.tsx';
import { type OperationSpec, OperationTab, type Result, type TabProps } from '../operation-tab.tsx';
import { CallResult } from '../result.tsx';
import { type Embedded, toEmbedded, toMismatch } from './embedded.ts';
import type { Pair } from './heat-map.tsx';
import { TextLegend, VectorPicture } from './vector-picture.tsx';

/** Example texts: pairs and groups that show what a model recognises, and what it does not. */
const examples = [
  {
    title: 'Three topics',
    values: {
      texts: [
        'The cat sleeps on the warm sofa.',
        'A cat is sleeping on a sofa.',
        'Cats like to sleep on warm sofas.',
        'The invoice is due at the end of the month.',
        'Invoices have to be paid by the end of each month.',
        'Please pay this invoice within thirty days.',
        'Rain is expected in the north tomorrow.',
        'Tomorrow it will rain in the north.',
      ].join('\n'),
    },
  },
  {
    title: 'Compare two sentences',
    values: { texts: ['The doctor treated the patient.', 'A physician cared for the sick woman.'].join('\n') },
  },
  {
    title: 'Words or meaning?',
    values: {
      texts: [
        'The bank raised its interest rates.',
        'Lenders are charging more for loans.',
        'We sat on the bank of the river.',
        'The shore was quiet in the evening.',
      ].join('\n'),
    },
  },
];

const spec: OperationSpec = {
  draft: 'embeddings',
  operations: ['embeddings'],
  isPair: true,
  examples,
  fields: [
    {
      name: 'texts',
      kind: 'texts',
      label: 'Texts (#)',
      description: severalTexts,
      rows: [6, 16],
      sentAs: 'input',
      needed: 'Write some texts first.',
    },
  ],
  options: [
    {
      name: 'dimensions',
      kind: 'number',
      label: 'dimensions',
      description: 'Shorter vectors, where the model can',
      range: { min: 1 },
    },
    {
      name: 'encoding',
      kind: 'choice',
      label: 'encoding_format',
      description: 'How the numbers travel',
      choices: [
        { value: 'float', label: 'float: numbers' },
        { value: 'base64', label: 'base64: fewer bytes' },
      ],
    },
  ],
  runLabel: 'Embed and compare',
  nothingYet: [
    'playground',
    'Each text becomes a list of numbers. Here you see how alike the model finds them: a heat map, and the texts as points on a plane.',
  ],
};

const legacySpec: OperationSpec = { ...spec, draft: 'engines-embeddings', route: 'engines-embeddings' };

const toResult = (result: Result) => <EmbeddingsResult {...result} />;

export const EmbeddingsTab = (props: TabProps) => <OperationTab {...props} spec={spec} result={toResult} />;
export const LegacyEmbeddingsTab = (props: TabProps) => <OperationTab {...props} spec={legacySpec} result={toResult} />;

function EmbeddingsResult(result: Result) {
  const { first, second } = result.pair;
  const [active, setActive] = useState<Pair>();
  const one = useMemo(() => toEmbedded(first.answer), [first.answer]);
  const other = useMemo(() => toEmbedded(second.answer), [second.answer]);
  const isDrawn = typeof one === 'object';
  return (
    <CallResult {...result} announced={isDrawn ? `Compared ${one.texts.length} texts.` : ''}>
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
    </CallResult>
  );
}

const Unreadable = ({ why }: { readonly why: string }) => (
  <Notice className="play-caution" title="The answer cannot be drawn">
    {why} The tab Answer below shows what came.
  </Notice>
);

function Mismatch({ one, other }: { readonly one: Embedded; readonly other: Embedded }) {
  const why = toMismatch(one, other);
  if (why === undefined) return null;
  return (
    <Notice className="play-caution" title="Compare the patterns, not the numbers">
      {why} A vector of one model says nothing beside a vector of the other: never keep both in one index.
    </Notice>
  );
}
