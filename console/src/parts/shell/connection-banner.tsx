/** Says that the gateway cannot be reached, asks again by itself, and goes away when it can. */

import { Group, Loader, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { ask } from '../api/client.ts';
import { unreachable, useFlag } from '../api/flag.ts';

const askEveryMs = 3_000;

export function ConnectionBanner() {
  const isAway = useFlag(unreachable);
  const queries = useQueryClient();
  useEffect(() => {
    if (!isAway) return;
    const timer = setInterval(() => {
      // Still away: the banner stays.
      ask('GET /api/session').then(
        () => queries.invalidateQueries(),
        () => undefined,
      );
    }, askEveryMs);
    return () => clearInterval(timer);
  }, [isAway, queries]);
  return (
    <div role="status" className="connection-banner">
      {isAway && (
        <Group gap="sm" justify="center" className="connection-words" wrap="nowrap">
          <Loader size="xs" color="currentColor" />
          <Text size="sm" fw={500}>
            The gateway cannot be reached; trying again. Nothing that you typed is lost.
          </Text>
        </Group>
      )}
    </div>
  );
}
