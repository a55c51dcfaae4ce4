/** Playground tab for moderation: shows what a model finds in texts and images. */

import './moderations.css';
import { Button, Group, Paper, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { Icon } from '../../../parts/marks/icon.tsx';
import { StatusBadge } from '../../../parts/marks/status.tsx';
import { type Call, read } from '../call.ts';
import { severalTexts, textOf } from '../fields.tsx';
import { type OperationSpec, OperationTab, type Result, type TabProps } from '../operation-tab.tsx';
import { CallResult } from '../result.tsx';
import { parseTexts, toShownText } from '../texts.ts';
import { type Category, toTitle, toVerdicts, type Verdict } from './verdicts.ts';

const spec: OperationSpec = {
  draft: 'moderations',
  operations: ['moderations'],
  isPair: false,
  examples: [
    {
      title: 'Harmless and harmful',
      values: {
        texts: [
          'I will hurt you if you come back.',
          'The knife cuts bread very well.',
          'You are a worthless idiot.',
        ].join('\n'),
      },
    },
    {
      title: 'A question that sounds worse than it is',
      values: { texts: ['How do I kill a process that does not answer?', 'This film is to die for.'].join('\n') },
    },
  ],
  fields: [
    {
      name: 'texts',
      kind: 'texts',
      label: 'Texts (#)',
      description: severalTexts,
      rows: [5, 14],
      toBody: (texts, form) => ({ input: toInput(parseTexts(texts).items, textOf(form, 'image')) }),
    },
  ],
  options: [
    {
      name: 'image',
      kind: 'line',
      label: 'Address of a picture',
      description: 'For models that look at pictures; all texts and the picture are then judged together.',
      placeholder: 'https://…',
      trimmed: true,
      toBody: () => ({}),
    },
  ],
  runLabel: 'Judge',
  nothingYet: ['shield', 'For each text you see how strongly every category speaks, and which ones are flagged.'],
  missing: ({ texts, image }) =>
    parseTexts(String(texts)).items.length === 0 && image === '' ? 'Write a text first.' : undefined,
};

function toInput(items: readonly unknown[], image: string): readonly unknown[] {
  if (image === '') return items;
  const texts = items.map((item) => ({ type: 'text', text: toShownText(item) }));
  return [...texts, { type: 'image_url', image_url: { url: image } }];
}

export default function ModerationsTab(props: TabProps) {
  return <OperationTab {...props} spec={spec} result={(result) => <ModerationsResult {...result} />} />;
}

function ModerationsResult(result: Result) {
  const { answer } = result.pair.first;
  const verdicts = toVerdicts(answer);
  const flagged = verdicts.filter(({ isFlagged }) => isFlagged).length;
  const texts = answer === undefined ? [] : toSubjects(answer.call, verdicts.length);
  return (
    <CallResult {...result} announced={verdicts.length === 0 ? '' : `${flagged} of ${verdicts.length} flagged.`}>
      {verdicts.map((verdict, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: an input is identified by its position
        <VerdictCard key={index} verdict={verdict} text={texts[index] ?? `Input ${index + 1}`} />
      ))}
    </CallResult>
  );
}

/** The texts that were judged. Texts in parts are judged together and get one verdict. */
function toSubjects({ body: { input } }: Call, verdicts: number): readonly string[] {
  if (!Array.isArray(input)) return [toShownText(input)];
  if (verdicts === input.length) return input.map(toShownText);
  return [input.map((part) => (read(part, 'type') === 'image_url' ? '(picture)' : toShownText(part))).join('\n')];
}

const fewest = 5;
const digits = new Intl.NumberFormat(undefined, { minimumFractionDigits: 2, maximumFractionDigits: 2 });

interface VerdictCardProps {
  readonly verdict: Verdict;
  readonly text: string;
}

function VerdictCard({ verdict: { isFlagged, categories }, text }: VerdictCardProps) {
  const [all, setAll] = useState(false);
  const few = Math.max(fewest, categories.filter((category) => category.isFlagged).length);
  const shown = all ? categories : categories.slice(0, few);
  const left = categories.length - few;
  return (
    <Paper withBorder p="md" component="article">
      <Stack gap="sm">
        <Group justify="space-between" wrap="nowrap" align="flex-start" gap="sm">
          <Text className="verdict-text">{text}</Text>
          <span className="verdict-state">
            {isFlagged ? (
              <StatusBadge state="warning" label="Flagged" />
            ) : (
              <StatusBadge state="ok" label="Not flagged" />
            )}
          </span>
        </Group>
        <ul className="verdict-bars">
          {shown.map((category) => (
            <CategoryBar key={category.name} category={category} />
          ))}
        </ul>
        {left > 0 && (
          <Button variant="subtle" size="compact-xs" onClick={() => setAll(!all)} className="verdict-more">
            {all ? 'Show the strongest only' : `Show ${left} more categories`}
          </Button>
        )}
      </Stack>
    </Paper>
  );
}

const CategoryBar = ({ category: { name, score, isFlagged } }: { readonly category: Category }) => (
  <li className="verdict-bar" data-flagged={isFlagged || undefined}>
    <span className="verdict-name">
      {toTitle(name)}
      {isFlagged && (
        <span className="verdict-flag">
          <Icon name="warning" size={13} />
          flagged
        </span>
      )}
    </span>
    <span className="verdict-track" aria-hidden="true">
      <span style={{ transform: `scaleX(${Math.max(0, Math.min(1, score))})` }} />
    </span>
    <span className="verdict-score">{digits.format(score)}</span>
  </li>
);
