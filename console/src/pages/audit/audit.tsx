/** Shows the Audit log page: changes with actor, before and after, and filters for them. */

import { Autocomplete, Group, Stack, TextInput } from '@mantine/core';
import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import type { AuditEntry, Page } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { AuditRow } from '../../parts/history/audit-row.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { useAddress } from '../../parts/layout/filters.tsx';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { Muted } from '../../parts/layout/text.tsx';

const entriesPerPage = 50;
/** Limit of pages that the list shows; to see more, filter or use the API. */
const mostPages = 6;

const names = ['actor', 'action', 'subject'] as const;
type Name = (typeof names)[number];

const hints: Readonly<Record<Name, { readonly label: string; readonly placeholder: string }>> = {
  actor: { label: 'Who', placeholder: 'ada@example.com' },
  action: { label: 'Action begins with', placeholder: 'key.' },
  subject: { label: 'Subject', placeholder: 'ID, or e-mail address' },
};

/** Suggestions for the filter by action; any other action can be typed. */
const actions = ['key.', 'upstream.', 'model.', 'project.', 'setting.', 'member.', 'token.', 'session.', 'capture.'];

export default function Audit() {
  const [query, change] = useAddress();
  const filter = Object.fromEntries(names.map((name) => [name, query.get(name)?.trim() ?? '']));
  const log = useInfiniteQuery({
    queryKey: ['audit', filter],
    queryFn: ({ pageParam, signal }) => readPage(filter, pageParam, signal),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    placeholderData: keepPreviousData,
  });
  const entries = log.data?.pages.flatMap(({ items }) => items) ?? [];
  const isFull = (log.data?.pages.length ?? 0) >= mostPages;
  return (
    <Stack gap="md">
      <PageHead title="Audit log" about="Who changed what, with before and after. Secrets are never in it." />
      <Group gap="xs" align="flex-end">
        {names.map((name) => (
          <FilterText
            key={name}
            name={name}
            value={filter[name] ?? ''}
            onTake={(value) => change({ [name]: value || undefined })}
          />
        ))}
      </Group>
      {log.isPending && <Loading rows={8} rowHeight={52} />}
      {log.isError && <Failed error={log.error} onRetry={() => void log.refetch()} />}
      {log.isSuccess && entries.length === 0 && (
        <Empty icon="file" title="No change fits">
          Take a filter away. Every change that is made here, on the command line or at the first start is in this log.
        </Empty>
      )}
      {entries.length > 0 && (
        <ul className="plain-list">
          {entries.map((entry) => (
            <AuditRow key={entry.id} entry={entry} />
          ))}
        </ul>
      )}
      {log.hasNextPage && !isFull && (
        <Group justify="center">
          <Action icon="down" label="Older" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()} />
        </Group>
      )}
      {log.hasNextPage && isFull && (
        <Muted ta="center">There are older changes: narrow what is shown to find them, or ask the API.</Muted>
      )}
    </Stack>
  );
}

const readPage = (
  filter: Readonly<Record<string, string>>,
  before: string,
  signal: AbortSignal,
): Promise<Page<AuditEntry>> => {
  // The audit log names a member as `console: ADDRESS`.
  const actor = filter.actor?.replace(/^(?=[^\s:]+@)/, 'console: ');
  return ask('GET /api/audit', { query: { ...filter, actor, limit: entriesPerPage, before }, signal });
};

interface FilterTextProps {
  readonly name: Name;
  readonly value: string;
  onTake(value: string): void;
}

function FilterText({ name, value, onTake }: FilterTextProps) {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const take = (next: string): void => {
    if (next.trim() !== value) onTake(next.trim());
  };
  const shared = {
    ...hints[name],
    value: text,
    maxLength: 256,
    autoComplete: 'off',
    w: 230,
    onBlur: () => take(text),
  };
  if (name === 'action') {
    return (
      <Autocomplete
        {...shared}
        data={actions}
        onChange={setText}
        onOptionSubmit={take}
        onKeyDown={(event) => event.key === 'Enter' && take(text)}
      />
    );
  }
  return (
    <TextInput
      {...shared}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={(event) => event.key === 'Enter' && take(text)}
    />
  );
}
