/** In which state a key is. */

import { Group } from '@mantine/core';
import type { Key } from '../../../../src/admin/contract.ts';
import { ManagedBy } from '../../parts/marks/managed-by.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { formatRelative, formatTime } from '../../parts/words/format.ts';
import { useNow } from '../../parts/words/now.ts';
import { isPlaygroundKey } from './key-words.ts';

/** Who uses it needs time to get another one. */
const soonMs = 14 * 86_400_000;

export function KeyBadges({ item }: { readonly item: Key }) {
  return (
    <Group gap={6}>
      <State item={item} />
      {item.oldSecretUntil !== null && <FormerSecret until={item.oldSecretUntil} />}
      <ManagedBy by={item.managedBy} place={item.place} />
      {isPlaygroundKey(item) && (
        <StatusBadge
          state="off"
          label="Playground"
          why="The console made this key for its own Playground. Where it is revoked, it makes another one."
        />
      )}
    </Group>
  );
}

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
