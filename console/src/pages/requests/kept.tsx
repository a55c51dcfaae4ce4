/** What was asked and answered, where the key has it kept: shown to admins when they ask for it, and never beforehand. */

import { Button, Stack, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import type { LedgerDetail } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { Snippet } from '../../parts/snippets/copy.tsx';
import { When } from '../../parts/words/numbers.tsx';

export function Kept({ row: { id, hasCapture } }: { readonly row: LedgerDetail }) {
  if (!hasCapture) {
    return (
      <Text size="sm" c="dimmed">
        Nothing is kept of the bodies. They are only where a key has capture switched on, and only for its time.
      </Text>
    );
  }
  return (
    <Needs role="admin">
      <Bodies key={id} id={id} />
    </Needs>
  );
}

function Bodies({ id }: { readonly id: string }) {
  const [isAsked, setAsked] = useState(false);
  const { data, error, refetch } = useQuery({
    queryKey: ['ledger', 'capture', id],
    queryFn: ({ signal }) => ask('GET /api/ledger/:id/capture', { params: { id }, signal }),
    enabled: isAsked,
    // Each look is written down: one click is one look, and nothing stays in memory.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
  if (!isAsked) {
    return (
      <Stack gap={6} align="flex-start">
        <Button variant="default" leftSection={<Icon name="eye" size={16} />} onClick={() => setAsked(true)}>
          Show the bodies
        </Button>
        <Text size="xs" c="dimmed">
          It is noted in the audit log that you looked.
        </Text>
      </Stack>
    );
  }
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={2} rowHeight={120} />;
  return (
    <Stack gap="xs">
      <Snippet code={toReadable(data.request)} language="Asked" label="Copy what was asked" />
      <Snippet code={toReadable(data.response)} language="Answered" label="Copy what was answered" />
      <Text size="xs" c="dimmed" component="div">
        Kept until <When at={data.expiresAt} />. Secrets, e-mail addresses and long numbers are taken out.
      </Text>
    </Stack>
  );
}

/** JSON with its lines, all else as it is. */
function toReadable(text: string): string {
  if (text === '') return '(empty)';
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
