/** Shows the badge of a key's state, and writes its limits as text. */

import { Group } from '@mantine/core';
import { type Key, limitNames } from '../../../../src/admin/contract.ts';
import { toMapping } from '../../parts/forms/documents.ts';
import { ManagedBy, StatusBadge } from '../../parts/marks/status.tsx';
import { formatCount, formatRelative, formatTime } from '../../parts/words/format.ts';
import { useNow } from '../../parts/words/numbers.tsx';

/** A key that expires within this time is marked, as its users need time to get a new one. */
const soonMs = 14 * 86_400_000;

export const KeyBadges = ({ item, isShort = false }: { readonly item: Key; readonly isShort?: boolean }) => (
  <Group gap={6} wrap={isShort ? 'nowrap' : 'wrap'}>
    <State item={item} />
    {item.oldSecretUntil !== null && <FormerSecret until={item.oldSecretUntil} />}
    <ManagedBy by={item.managedBy} place={item.place} isShort={isShort} />
    {isPlaygroundKey(item) && (
      <StatusBadge
        state="off"
        label="Playground"
        why="The console made this key for its own Playground. Where it is revoked, it makes another one."
      />
    )}
  </Group>
);

function State({ item: { state, revokedAt, document } }: { readonly item: Key }) {
  const nowMs = useNow();
  const { expires } = document;
  if (state === 'revoked') {
    return <StatusBadge state="revoked" why={revokedAt === null ? null : `Since ${formatTime(revokedAt)}`} />;
  }
  if (expires === undefined) return <StatusBadge state={state} />;
  if (state === 'expired') return <StatusBadge state="expired" why={`Since ${formatTime(expires)}`} />;
  if (Date.parse(expires) - nowMs > soonMs) return <StatusBadge state="active" why={`Until ${formatTime(expires)}`} />;
  return (
    <StatusBadge
      state="warning"
      label={`Expires ${formatRelative(expires, nowMs)}`}
      why={`Until ${formatTime(expires)}`}
    />
  );
}

function FormerSecret({ until }: { readonly until: string }) {
  const nowMs = useNow();
  return (
    <StatusBadge
      state="pending"
      label={`Former secret ends ${formatRelative(until, nowMs)}`}
      why={`The secret before the last rotation works until ${formatTime(until)}.`}
    />
  );
}

/** A project's limits may be of any form, as someone wrote them. */
export const limitsInWords = (limits: unknown): string[] =>
  limitNames.flatMap((name) => {
    const most = toMapping(limits)[name];
    if (typeof most !== 'number') return [];
    if (name === 'concurrency') return [`${formatCount(most)} at a time`];
    const [measure = '', window = ''] = name.split('_per_');
    return [`${formatCount(most)} ${most === 1 ? measure.slice(0, -1) : measure} a ${window}`];
  });

export function modelsInWords(models: readonly string[]): string {
  if (models.includes('*')) return 'Every model';
  const [first, second, ...others] = models;
  const named = [first, second].filter((id) => id !== undefined).join(', ');
  return others.length === 0 ? named : `${named} and ${others.length} more`;
}

export const nameOf = ({ id, document }: Pick<Key, 'id' | 'document'>): string => document.name ?? id;

const isPlaygroundKey = ({ document }: Pick<Key, 'document'>): boolean =>
  document.metadata['postern.console'] === 'playground';
