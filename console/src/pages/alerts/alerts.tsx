/** The Alerts page: open and past alerts, channels, silences, and the rules with their thresholds. */

import { Center, Group, Menu, Paper, SimpleGrid, Stack, Switch, Text, Title } from '@mantine/core';
import { useInfiniteQuery, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Alert, AlertChannel, AlertRule } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { notifyFailed } from '../../parts/dialogs/undo.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { useAddress } from '../../parts/layout/filters.tsx';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { Muted, Remark, Tag } from '../../parts/layout/text.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { listItem } from '../../parts/shell/shortcuts.tsx';
import { alertRuleWords } from '../../parts/words/labels.ts';
import { exploreHref, pageOf } from '../../parts/words/links.ts';
import { When } from '../../parts/words/numbers.tsx';

const everyMs = 10_000;
const perPage = 50;

export default function Alerts() {
  return (
    <>
      <PageHead
        title="Alerts"
        about="What went wrong and why, and where notifications go. The rules work without set-up; the configuration file changes them."
      />
      <Stack gap="lg">
        <History />
        <SimpleGrid cols={{ base: 1, lg: 2 }} spacing="sm">
          <Rules />
        </SimpleGrid>
      </Stack>
    </>
  );
}

function History() {
  const [query, change] = useAddress();
  const isOpenOnly = query.get('state') === 'open';
  const list = useInfiniteQuery({
    queryKey: ['alerts', isOpenOnly],
    queryFn: ({ pageParam: before, signal }) =>
      ask('GET /api/alerts', { query: { state: isOpenOnly ? 'open' : 'all', limit: perPage, before }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: everyMs,
  });
  const alerts = list.data?.pages.flatMap(({ items }) => items) ?? [];
  return (
    <section aria-label="Alerts, open and past">
      <Group justify="flex-end" mb="xs">
        <Switch
          label="Open alerts only"
          checked={isOpenOnly}
          onChange={({ currentTarget }) => change({ state: currentTarget.checked ? 'open' : undefined })}
        />
      </Group>
      {list.isPending && <Loading rows={4} rowHeight={56} />}
      {list.isError && <Failed error={list.error} onRetry={() => void list.refetch()} />}
      {list.isSuccess && alerts.length === 0 && (
        <Empty icon="check" title={isOpenOnly ? 'No alert is open' : 'No alert yet'}>
          When a rule below is met, its alert is here, with its cause.
        </Empty>
      )}
      <ul className="plain-list">
        {alerts.map((alert) => (
          <AlertRow key={alert.id} alert={alert} />
        ))}
      </ul>
      {list.hasNextPage && (
        <Center mt="sm">
          <Action
            icon="down"
            label="Older"
            loading={list.isFetchingNextPage}
            onClick={() => void list.fetchNextPage()}
          />
        </Center>
      )}
    </section>
  );
}

function AlertRow({ alert }: { readonly alert: Alert }) {
  const { rule, severity, subject, cause, openedAt, closedAt, silencedUntil, explore } = alert;
  const isOpen = closedAt === null;
  return (
    <Paper component="li" withBorder p="sm" mb="xs">
      <Group justify="space-between" align="flex-start" gap="sm" wrap="nowrap">
        <Stack gap={4} className="grows">
          <Group gap="xs">
            <StatusBadge
              state={isOpen ? (severity === 'bad' ? 'failing' : 'degraded') : 'off'}
              label={isOpen ? 'Open' : 'Closed'}
            />
            <Tag>{alertRuleWords[rule]}</Tag>
            {silencedUntil !== null && (
              <Tag>
                Silenced until <When at={silencedUntil} />
              </Tag>
            )}
          </Group>
          <Text size="sm" fw={550} className="any-wrap">
            <Link {...listItem} href={explore === null ? pageOf(subject) : exploreHref(explore)} className="fact-link">
              {cause}
            </Link>
          </Text>
          <Remark>
            Since <When at={openedAt} />
            {closedAt !== null && (
              <>
                ; closed <When at={closedAt} />
              </>
            )}
          </Remark>
        </Stack>
        {isOpen && <Silence alert={alert} />}
      </Group>
    </Paper>
  );
}

const silences = [
  { minutes: 60, label: 'For an hour' },
  { minutes: 8 * 60, label: 'For 8 hours' },
  { minutes: 24 * 60, label: 'For a day' },
  { minutes: 7 * 24 * 60, label: 'For a week' },
] as const;

/** Silences an alert: no notifications about it for a while; the alert stays on this page. */
function Silence({ alert: { id, silencedUntil } }: { readonly alert: Alert }) {
  const queries = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: async (minutes: number | undefined): Promise<void> => {
      if (minutes === undefined) await ask('DELETE /api/alerts/:id/silence', { params: { id } });
      else await ask('PUT /api/alerts/:id/silence', { params: { id }, body: { minutes } });
    },
    onError: notifyFailed,
    onSettled: () => Promise.all([['alerts'], ['now']].map((queryKey) => queries.invalidateQueries({ queryKey }))),
  });
  if (silencedUntil !== null) {
    return (
      <Needs role="editor">
        <Action icon="bolt" label="End the silence" size="xs" loading={isPending} onClick={() => mutate(undefined)} />
      </Needs>
    );
  }
  return (
    <Needs role="editor">
      <Menu position="bottom-end" withinPortal>
        <Menu.Target>
          <Action icon="pause" label="Silence" size="xs" loading={isPending} />
        </Menu.Target>
        <Menu.Dropdown>
          {silences.map(({ minutes, label }) => (
            <Menu.Item key={minutes} onClick={() => mutate(minutes)}>
              {label}
            </Menu.Item>
          ))}
        </Menu.Dropdown>
      </Menu>
    </Needs>
  );
}

function Rules() {
  const { data, error, refetch } = useQuery({
    queryKey: ['alerts', 'rules'],
    queryFn: ({ signal }) => ask('GET /api/alerts/rules', { signal }),
  });
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={4} />;
  return (
    <>
      <Channels channels={data.channels} />
      <Paper withBorder p="sm" component="section" aria-label="Rules">
        <Title order={2} size="h5" mb="xs">
          Rules
        </Title>
        <ul className="plain-list">
          {data.rules.map((rule) => (
            <Rule key={rule.rule} rule={rule} />
          ))}
        </ul>
      </Paper>
    </>
  );
}

const Rule = ({ rule: { rule, isOn, words } }: { readonly rule: AlertRule }) => (
  <Group component="li" justify="space-between" wrap="nowrap" gap="sm" py={6} align="flex-start">
    <div>
      <Text size="sm" fw={550}>
        {alertRuleWords[rule]}
      </Text>
      <Remark className="any-wrap">{words}</Remark>
    </div>
    <StatusBadge state={isOn ? 'active' : 'off'} label={isOn ? 'On' : 'Off'} />
  </Group>
);

function Channels({ channels }: { readonly channels: readonly AlertChannel[] }) {
  const { mutate, data, variables, isPending } = useMutation({
    mutationFn: (channel: string | undefined) =>
      ask('POST /api/alerts/test', { body: channel === undefined ? {} : { channel } }),
    onError: notifyFailed,
  });
  return (
    <Paper withBorder p="sm" component="section" aria-label="Channels">
      <Group justify="space-between" mb="xs">
        <Title order={2} size="h5">
          Channels
        </Title>
        {channels.length > 1 && (
          <Needs role="admin">
            <Action
              icon="bolt"
              label="Test all"
              size="xs"
              loading={isPending && variables === undefined}
              onClick={() => mutate(undefined)}
            />
          </Needs>
        )}
      </Group>
      {channels.length === 0 && (
        <Muted>
          There is no channel: alerts are on this page and in the log alone. Add a webhook under{' '}
          <Link href="/settings/alerts" className="fact-link">
            Settings, Webhooks
          </Link>
          , or SMTP under <code>alerts</code> in the configuration file.
        </Muted>
      )}
      <ul className="plain-list">
        {channels.map((channel) => {
          const result = data?.results.find((one) => one.channel.id === channel.id);
          return (
            <Group key={channel.id} component="li" justify="space-between" wrap="nowrap" gap="sm" py={6}>
              <div>
                <Text size="sm" fw={550}>
                  {channel.id}
                </Text>
                <Remark className="any-wrap">
                  {channelWords[channel.kind]}, {channel.host}
                </Remark>
                <div role="status">
                  {result !== undefined && (
                    <Remark className={result.ok ? 'tone-good' : 'tone-bad'}>
                      {result.ok ? 'Told' : 'Not told'}: {result.detail}
                    </Remark>
                  )}
                </div>
              </div>
              <Needs role="admin">
                <Action
                  icon="bolt"
                  label="Test"
                  size="xs"
                  aria-label={`Test ${channel.id}`}
                  loading={isPending && variables === channel.id}
                  onClick={() => mutate(channel.id)}
                />
              </Needs>
            </Group>
          );
        })}
      </ul>
    </Paper>
  );
}

const channelWords: Readonly<Record<AlertChannel['kind'], string>> = {
  webhook: 'Webhook',
  slack: 'Slack-shaped webhook',
  smtp: 'E-mail',
};
