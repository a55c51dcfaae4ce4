/** Where one is signed in, and a way to end it there. */

import { Badge, Button, Group, Stack, Text } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import type { OwnSession } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { When } from '../../parts/words/numbers.tsx';
import { Section } from './section.tsx';

const queryKey = ['me', 'sessions'];

const methods: Readonly<Record<OwnSession['method'], string>> = {
  password: 'by password',
  passkey: 'with a passkey',
  oidc: 'through the identity provider',
  link: 'with a link',
};

export function OwnSessions() {
  const queries = useQueryClient();
  const { data, error, refetch } = useQuery({
    queryKey,
    queryFn: ({ signal }) => ask('GET /api/me/sessions', { signal }),
  });
  const { mutate, isPending, variables } = useMutation({
    mutationFn: (id: string) => ask('DELETE /api/me/sessions/:id', { params: { id } }),
    onSuccess: () => notifyDone('That session is over.'),
    onError: notifyFailed,
    onSettled: () => queries.invalidateQueries({ queryKey }),
  });
  return (
    <Section
      title="Where you are signed in"
      about="A session ends after twelve hours without use, and after a week in any case."
    >
      {error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Loading rows={2} rowHeight={48} />}
      <Stack gap="xs">
        {data?.items.map((session) => (
          <Group key={session.id} justify="space-between" wrap="nowrap" gap="sm">
            <Stack gap={0} miw={0}>
              <Group gap="xs">
                <Text size="sm" fw={600}>
                  {toDevice(session.userAgent)}
                </Text>
                {session.current && (
                  <Badge variant="default" className="plain-badge">
                    This one
                  </Badge>
                )}
              </Group>
              <Text size="xs" c="dimmed">
                {session.address}, {methods[session.method]}, last used <When at={session.lastSeenAt} />
              </Text>
            </Stack>
            {!session.current && (
              <Button
                size="xs"
                variant="default"
                loading={isPending && variables === session.id}
                onClick={() => mutate(session.id)}
              >
                Sign out there
              </Button>
            )}
          </Group>
        ))}
      </Stack>
    </Section>
  );
}

const systems = ['Windows', 'Android', 'iPhone', 'iPad', 'Mac OS X', 'Linux'] as const;
/** Each claims to be those behind it as well. */
const browsers = ['Edg', 'OPR', 'Firefox', 'Chrome', 'Safari'] as const;
const browserNames: Readonly<Partial<Record<string, string>>> = { Edg: 'Edge', OPR: 'Opera' };

function toDevice(userAgent: string): string {
  const system = systems.find((one) => userAgent.includes(one));
  const browser = browsers.find((one) => userAgent.includes(`${one}/`));
  if (browser === undefined) return userAgent === '' ? 'Unknown device' : userAgent.slice(0, 60);
  const name = browserNames[browser] ?? browser;
  return system === undefined ? name : `${name} on ${system === 'Mac OS X' ? 'macOS' : system}`;
}
