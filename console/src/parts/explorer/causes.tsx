/** Breaks down the selected requests: values of the split, frequent errors, and failed attempts. */

import { Anchor, Paper, SimpleGrid, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Series as Answer } from '../../../../src/admin/contract.ts';
import { LegendMark } from '../charts/drawing.tsx';
import { DataTable, fitting, useListShape } from '../layout/table.tsx';
import { Muted, Remark } from '../layout/text.tsx';
import { formatCount, formatDuration, formatMoney, formatPercent } from '../words/format.ts';
import { dimensionWords, outcomeWords } from '../words/labels.ts';
import type { Field, Filters } from './filters.ts';
import { changeWords, isOfAll, type NamedLine, shareAt } from './series-rows.ts';
import type { Dimension } from './sight.ts';

type Narrow = (values: Readonly<Partial<Record<Field, string>>>) => void;

interface SplitTableProps {
  readonly answer: Answer;
  readonly lines: readonly NamedLine[];
  readonly by: readonly Dimension[];
  onNarrow: Narrow;
}

/** A table with a row for each value of the split, in the value's colour of the charts. */
export function SplitTable({ answer: { comparison, total }, lines, by, onNarrow }: SplitTableProps) {
  const right = (title: string, w: number) => ({ title, w, ta: 'right' as const });
  const isShort = useListShape() === 'two lines';
  const unlessShort = (title: string, w: number) => (isShort ? [] : [right(title, w)]);
  return (
    <DataTable
      {...fitting}
      verticalSpacing={4}
      highlightOnHover
      isNamed
      stacks
      columns={[
        by.map((each) => dimensionWords[each]).join(', '),
        right('Requests', 92),
        ...unlessShort('Change', 104),
        right('Failed', 108),
        ...unlessShort('Refused', 76),
        right('Failed attempts', 112),
        ...unlessShort('p50', 76),
        right('p95', isShort ? 150 : 76),
        ...unlessShort('p99', 76),
        right('Cost', 84),
      ]}
      rows={lines.map(({ series, line: { by: values, isOthers, figures } }, at) => {
        const { requests, failed, refused, attempts, failedAttempts, duration, cost } = figures;
        const whole = isOfAll(by) ? total.figures : figures;
        const before = comparison?.isCovered === true ? comparison.lines[at]?.figures.requests : undefined;
        const change = comparison === null ? '–' : changeWords(requests, before);
        const ofFailed = sharedOf(failed, whole.succeeded + whole.failed);
        const [p50, p95, p99] = [timeOf(duration?.p50), timeOf(duration?.p95), timeOf(duration?.p99)];
        const only = Object.fromEntries(by.flatMap((each) => (values[each] ? [[each, values[each]]] : [])));
        return {
          id: series.name,
          cells: [
            <span key="name" className="split-name">
              <LegendMark color={series.color} />
              {isOthers || Object.keys(only).length === 0 ? (
                series.label
              ) : (
                <Anchor component="button" type="button" ta="left" inherit onClick={() => onNarrow(only)}>
                  {series.label}
                </Anchor>
              )}
            </span>,
            ...(isShort
              ? [<TwoLines key="requests" first={formatCount(requests)} second={change} />]
              : [formatCount(requests), change]),
            ...(isShort
              ? [<TwoLines key="failed" first={ofFailed} second={`${formatCount(refused)} refused`} />]
              : [ofFailed, formatCount(refused)]),
            sharedOf(failedAttempts, attempts),
            ...(isShort ? [<TwoLines key="p95" first={p95} second={`p50 ${p50}, p99 ${p99}`} />] : [p50, p95, p99]),
            formatMoney(cost),
          ],
        };
      })}
    />
  );
}

const TwoLines = ({ first, second }: { readonly first: string; readonly second: string }) => (
  <>
    <div>{first}</div>
    <Remark>{second}</Remark>
  </>
);

const timeOf = (ms: number | undefined): string => (ms === undefined ? '–' : formatDuration(ms));

function sharedOf(part: number, whole: number): string {
  const share = shareAt(part, whole);
  return share === null ? '–' : part === 0 ? '0' : `${formatCount(part)} (${formatPercent(share)})`;
}

interface CausesProps {
  readonly answer: Answer;
  readonly values: Filters['values'];
  onNarrow: Narrow;
}

/** The most frequent failures of requests and attempts; each is a link that narrows the selection. */
export function Causes({ answer: { codes, attemptErrors }, values, onNarrow }: CausesProps) {
  // Series know how a request ended, and not how requests with a failed attempt did.
  const knowsAttempts = values.outcome === undefined && values.code === undefined && values.cache === undefined;
  if (codes.length === 0 && attemptErrors.length === 0) return null;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="sm">
      <Cause title="How requests ended" about="Other than well, the most frequent first" isEmpty={codes.length === 0}>
        {codes.map(({ code, outcome, requests }) => (
          <Line
            key={`${code} ${outcome}`}
            name={code}
            note={outcomeWords[outcome]}
            count={requests}
            onChoose={() => onNarrow({ code, outcome: outcome === 'aborted' ? 'cancelled' : outcome })}
          />
        ))}
      </Cause>
      {knowsAttempts && (
        <Cause
          title="Failed attempts"
          about="Calls to upstreams; a retry may have succeeded"
          isEmpty={attemptErrors.length === 0}
        >
          {attemptErrors.map(({ upstream, kind, code, attempts }) => (
            <Line
              key={`${upstream} ${kind} ${code}`}
              name={upstream}
              note={kind === code ? kind : `${kind}, ${code}`}
              count={attempts}
              onChoose={() => onNarrow({ upstream })}
            />
          ))}
        </Cause>
      )}
    </SimpleGrid>
  );
}

interface CauseProps {
  readonly title: string;
  readonly about: string;
  readonly isEmpty: boolean;
  readonly children: ReactNode;
}

const Cause = ({ title, about, isEmpty, children }: CauseProps) => (
  <Paper withBorder p="sm" component="section" aria-label={title}>
    <Title order={2} size="h5">
      {title}
    </Title>
    <Remark mb={4}>{about}</Remark>
    {isEmpty ? <Muted>None</Muted> : <ul className="cause-list">{children}</ul>}
  </Paper>
);

interface LineProps {
  readonly name: string;
  readonly note: string;
  readonly count: number;
  onChoose(): void;
}

const Line = ({ name, note, count, onChoose }: LineProps) => (
  <li className="cause-line">
    {name === '' ? (
      // Blocks of older versions lack it where they are by key or project.
      <Text size="sm" span>
        Unknown upstream
      </Text>
    ) : (
      <Anchor component="button" type="button" size="sm" ta="left" className="any-wrap" onClick={onChoose}>
        {name}
      </Anchor>
    )}
    <Remark component="span">{note}</Remark>
    <Muted component="span" className="numeric cause-count">
      {formatCount(count)}
    </Muted>
  </li>
);
