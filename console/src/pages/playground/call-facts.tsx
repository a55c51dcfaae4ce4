/** Shows the facts of a call: status, times, tokens, cost, and a link to its ledger row. */

import { Anchor, Group, Stack, Text } from '@mantine/core';
import { Link } from 'wouter';
import type { PlaygroundTry } from '../../../../src/admin/contract.ts';
import { useTry } from '../../parts/explorer/ledger-data.ts';
import { Muted, Remark, Tag } from '../../parts/layout/text.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { formatCount, formatDuration } from '../../parts/words/format.ts';
import { Money } from '../../parts/words/numbers.tsx';
import { type Answer, read, toSpans } from './call.ts';

export function CallFacts({ answer }: { readonly answer: Answer }) {
  const row = useTry(answer.requestId);
  const { headers } = answer;
  return (
    <Stack gap="xs">
      <Group gap="xs">
        <EndingBadge answer={answer} />
        <Text size="sm" className="numeric">
          {formatDuration(answer.totalMs)}
        </Text>
        <Usage answer={answer} row={row} />
        {row !== null && <CostNote row={row} />}
        <Notes headers={headers} />
      </Group>
      <TimingBar answer={answer} />
      {answer.requestId !== undefined && (
        <Remark className="play-wrap">
          Request{' '}
          {row === null ? (
            <code>{answer.requestId}</code>
          ) : (
            <Anchor component={Link} href={`/explorer?id=${encodeURIComponent(row.id)}`} inherit underline="always">
              {answer.requestId}
            </Anchor>
          )}
        </Remark>
      )}
    </Stack>
  );
}

function EndingBadge({ answer: { ending, status } }: { readonly answer: Answer }) {
  switch (ending) {
    case 'answered':
      return <StatusBadge state="ok" label={String(status)} />;
    case 'refused':
      return <StatusBadge state="error" label={String(status)} />;
    case 'cut':
      return <StatusBadge state="warning" label="Cut off" />;
    case 'stopped':
      return <StatusBadge state="off" label="Stopped" />;
  }
}

function Usage({ answer, row }: { readonly answer: Answer; readonly row: PlaygroundTry['item'] }) {
  const tokens = tokensOf(answer.json) ?? totalOf(row);
  if (tokens === undefined) {
    if (row === null || row.searchUnits === null || row.searchUnits === 0) return null;
    return (
      <Text size="sm">{`${formatCount(row.searchUnits)} search ${row.searchUnits === 1 ? 'unit' : 'units'}`}</Text>
    );
  }
  const estimated = row?.isEstimated === true ? ' (estimated)' : '';
  const parts =
    row === null || row.inputTokens === null || row.outputTokens === null || row.outputTokens === 0
      ? ''
      : `: ${formatCount(row.inputTokens)} in, ${formatCount(row.outputTokens)} out`;
  return <Text size="sm">{`${formatCount(tokens)} ${tokens === 1 ? 'token' : 'tokens'}${parts}${estimated}`}</Text>;
}

function tokensOf(json: unknown): number | undefined {
  const source = Array.isArray(json)
    ? json.findLast((event) => typeof read(usageOf(event), 'total_tokens') === 'number')
    : json;
  const total = read(usageOf(source), 'total_tokens');
  return typeof total === 'number' ? total : undefined;
}

/** The usage in an answer. Events of the responses API contain the answer, and the answer contains the usage. */
const usageOf = (value: unknown): unknown => read(value, 'usage') ?? read(read(value, 'response'), 'usage');

function totalOf(row: PlaygroundTry['item']): number | undefined {
  if (row === null || (row.inputTokens === null && row.outputTokens === null)) return undefined;
  const tokens = (row.inputTokens ?? 0) + (row.outputTokens ?? 0);
  return tokens === 0 ? undefined : tokens;
}

function CostNote({ row: { cost } }: { readonly row: NonNullable<PlaygroundTry['item']> }) {
  if (cost === null) {
    return <Muted>no price known</Muted>;
  }
  return (
    <Text size="sm">
      <Money dollars={cost} />
    </Text>
  );
}

const notes: readonly (readonly [header: string, toText: (value: string) => string | undefined])[] = [
  ['x-postern-upstream', (value) => `by ${value}`],
  ['x-postern-attempts', (value) => (Number(value) > 1 ? `${value} attempts` : undefined)],
  ['x-postern-cache', (value) => `cache: ${value}`],
  ['x-postern-translated', (value) => `translated for ${value}`],
  ['x-postern-ignored', (value) => `ignored: ${value}`],
];

function Notes({ headers }: { readonly headers: Readonly<Record<string, string>> }) {
  const texts = notes.flatMap(([header, toText]) => {
    const value = headers[header];
    const text = value === undefined ? undefined : toText(value);
    return text === undefined ? [] : [text];
  });
  return texts.map((text) => <Tag key={text}>{text}</Tag>);
}

function TimingBar({ answer }: { readonly answer: Answer }) {
  const spans = toSpans(answer);
  const total = spans.reduce((sum, { ms }) => sum + ms, 0);
  if (total === 0) return null;
  return (
    <div>
      <div className="play-timing" aria-hidden="true">
        {spans.map(({ name, ms }) => (
          <span key={name} className={`play-timing-${name}`} style={{ flexGrow: ms }} />
        ))}
      </div>
      <Group gap="md" mt={4}>
        {spans.map(({ name, title, ms }) => (
          <Remark key={name} className="play-legend">
            <span className={`play-dot play-timing-${name}`} aria-hidden="true" />
            {title} {formatDuration(ms)}
          </Remark>
        ))}
        {answer.isStream && <Remark>First byte {formatDuration(answer.firstByteMs)}</Remark>}
      </Group>
    </div>
  );
}
