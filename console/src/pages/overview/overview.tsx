/** Shows the Overview page: open alerts with cause, upstream states, rates, spending and budgets. */

import './overview.css';
import { Button, Grid, Group, Paper, SimpleGrid, Stack, Text, ThemeIcon, Title } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Alert, Now, ShownUpstream } from '../../../../src/admin/contract.ts';
import { Tile } from '../../parts/charts/tile.tsx';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Muted, Remark, Tag } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { StatusBadge } from '../../parts/marks/status.tsx';
import { useMay } from '../../parts/session/role.tsx';
import { listItem } from '../../parts/shell/shortcuts.tsx';
import { formatCompact, formatDuration, formatMoney, formatPercent, formatRate } from '../../parts/words/format.ts';
import { percentileWords, resultWords } from '../../parts/words/labels.ts';
import { exploreHref, pageOf } from '../../parts/words/links.ts';
import { When } from '../../parts/words/numbers.tsx';
import { Agreements } from './agreements.tsx';
import { Notices } from './notices.tsx';
import { isNew, useFirstSteps, useNow } from './overview-data.ts';

export default function Overview() {
  const { data: now, error, refetch } = useNow();
  return (
    <>
      <PageHead title="Overview" about={now === undefined ? ' ' : summaryOf(now)} />
      <SetUpHint />
      {now === undefined && error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {now === undefined && error === null && <Loading rows={6} rowHeight={90} />}
      {now !== undefined && (
        <Stack gap="sm">
          <Alerts alerts={now.alerts} />
          <Figures now={now} />
          <Grid gap="sm">
            <Grid.Col span={{ base: 12, lg: 8 }}>
              <Upstreams now={now} />
            </Grid.Col>
            <Grid.Col span={{ base: 12, lg: 4 }}>
              <Stack gap="sm">
                <Budgets budgets={now.budgets} />
                <Notices />
                <Agreements />
              </Stack>
            </Grid.Col>
          </Grid>
        </Stack>
      )}
    </>
  );
}

const hiddenName = 'postern.first-steps.hidden';

function SetUpHint() {
  const { data: steps } = useFirstSteps();
  const [isHidden, setHidden] = useState(() => localStorage.getItem(hiddenName) !== null);
  const mayGo = useMay('admin');
  if (!mayGo || isHidden || !isNew(steps)) return null;
  const hide = (): void => {
    localStorage.setItem(hiddenName, '1');
    setHidden(true);
  };
  return (
    <Paper withBorder p="md" mb="md" component="section" aria-labelledby="set-up">
      <Group justify="space-between">
        <div>
          <Title order={2} size="h5" id="set-up">
            No client has called yet
          </Title>
          <Muted>An upstream, its models, a key and a first call: one page, a few minutes.</Muted>
        </div>
        <Group gap="xs">
          <Button component={Link} href="/setup">
            Set up
          </Button>
          <Button variant="subtle" onClick={hide}>
            Hide this
          </Button>
        </Group>
      </Group>
    </Paper>
  );
}

function summaryOf({ upstreams, alerts }: Now): string {
  const open =
    alerts.length === 1
      ? 'One alert is open'
      : alerts.length === 0
        ? 'No alert is open'
        : `${alerts.length} alerts are open`;
  const bad = upstreams.filter(({ state }) => state !== 'healthy' && state !== 'untested').length;
  if (bad === 0) return `${open}; no upstream is in trouble.`;
  return `${open}; ${bad === 1 ? 'one upstream is' : `${bad} upstreams are`} in trouble.`;
}

function Alerts({ alerts }: { readonly alerts: readonly Alert[] }) {
  if (alerts.length === 0) return null;
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="open-alerts">
      <Group justify="space-between" mb={4}>
        <Title order={2} size="h5" id="open-alerts">
          Open alerts
        </Title>
        <Link href="/alerts" className="fact-link">
          <Text size="sm" span>
            Rules and history
          </Text>
        </Link>
      </Group>
      <ul className="notice-list">
        {alerts.map((alert) => (
          <li key={alert.id}>
            <AlertLine alert={alert} />
          </li>
        ))}
      </ul>
    </Paper>
  );
}

function AlertLine({ alert }: { readonly alert: Alert }) {
  const { severity, cause, openedAt, silencedUntil, explore, subject } = alert;
  const isBad = severity === 'bad';
  return (
    <Group wrap="nowrap" align="flex-start" gap="sm" py={6}>
      <ThemeIcon
        variant="light"
        color={isBad ? 'red' : 'orange'}
        size={26}
        role="img"
        aria-label={isBad ? 'Bad' : 'Warning'}
      >
        <Icon name="warning" size={15} />
      </ThemeIcon>
      <div className="grows">
        <Text size="sm" fw={550} className="any-wrap">
          <Link {...listItem} href={explore === null ? pageOf(subject) : exploreHref(explore)} className="plain-link">
            {cause}
          </Link>
        </Text>
        <Remark>
          Open since <When at={openedAt} />
          {silencedUntil !== null && (
            <>
              {' '}
              <Tag size="xs">Silenced</Tag>
            </>
          )}
        </Remark>
      </div>
    </Group>
  );
}

function Figures({ now }: { readonly now: Now }) {
  const { requestsPerSecond, windowMs, p95Ms, failedShare, figures, today } = now;
  const span = formatDuration(windowMs);
  return (
    <SimpleGrid cols={{ base: 2, lg: 4 }} spacing="sm">
      <Tile
        label="Requests a second"
        value={formatRate(requestsPerSecond)}
        note={`Of the last ${span}; ${formatCompact(figures.refused)} ${resultWords.refused.toLowerCase()}`}
      />
      <Tile
        label={percentileWords.p95}
        value={p95Ms === null ? '–' : formatDuration(p95Ms)}
        note={
          figures.duration === null
            ? 'Nothing ended lately'
            : `${percentileWords.p50} ${formatDuration(figures.duration.p50)}`
        }
      />
      <Tile
        label={resultWords.failed}
        value={failedShare === null ? '–' : formatPercent(failedShare)}
        note={`${formatCompact(figures.failed)} ${figures.failed === 1 ? 'request' : 'requests'}; ${formatCompact(figures.failedAttempts)} of ${formatCompact(figures.attempts)} attempts`}
      />
      <Tile
        label="Spent today"
        value={formatMoney(today.cost)}
        note={
          today.budget === null || today.budgetSpent === null
            ? `${formatCompact(today.requests)} requests, UTC day`
            : `Daily budgets: ${formatMoney(today.budgetSpent)} of ${formatMoney(today.budget)}`
        }
      />
    </SimpleGrid>
  );
}

function Upstreams({ now: { upstreams, upstreamCount } }: { readonly now: Now }) {
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="upstreams">
      <Title order={2} size="h5" id="upstreams" mb="xs">
        Upstreams
      </Title>
      {upstreams.length === 0 && (
        <Muted py="lg" ta="center">
          There is no upstream yet.{' '}
          <Link href="/upstreams?new=upstream" className="fact-link">
            Add one
          </Link>
          , and its models can be served.
        </Muted>
      )}
      <ul className="upstream-list">
        {upstreams.map((upstream) => (
          <li key={upstream.id}>
            <UpstreamLine upstream={upstream} />
          </li>
        ))}
      </ul>
      {upstreamCount > upstreams.length && (
        <Remark mt="xs">
          The first {upstreams.length} of {upstreamCount};{' '}
          <Link href="/upstreams" className="fact-link">
            all upstreams
          </Link>
        </Remark>
      )}
    </Paper>
  );
}

function UpstreamLine({ upstream: { id, state, cause, evidence } }: { readonly upstream: ShownUpstream }) {
  const { requestsPerSecond, successShare, p95Ms, weekP95Ms } = evidence;
  const facts = [
    `${formatRate(requestsPerSecond)} calls a second`,
    ...(successShare === null ? [] : [`${formatPercent(successShare)} succeed`]),
    ...(p95Ms === null
      ? []
      : [`p95 ${formatDuration(p95Ms)}${weekP95Ms === null ? '' : `, week ${formatDuration(weekP95Ms)}`}`]),
  ];
  return (
    <div className="upstream-line">
      <span>
        <StatusBadge state={state} />
      </span>
      <div className="grows">
        <Link {...listItem} href={`/upstreams/${encodeURIComponent(id)}`} className="plain-link">
          <Text size="sm" fw={600} span className="any-wrap">
            {id}
          </Text>
        </Link>
        {cause !== null && <Remark className="any-wrap">{cause}</Remark>}
      </div>
      <Remark className="upstream-facts">{facts.map((fact) => fact.replaceAll(' ', '\u00a0')).join(' · ')}</Remark>
      <Link href={exploreHref({ upstream: id, range: '1h' })} className="fact-link">
        <Text size="sm" span>
          Explore
        </Text>
      </Link>
    </div>
  );
}

function Budgets({ budgets }: Pick<Now, 'budgets'>) {
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="budgets">
      <Title order={2} size="h5" id="budgets" mb="xs">
        Near a budget
      </Title>
      {budgets.length === 0 && <Muted>No budget is spent to 80 %.</Muted>}
      <ul className="upstream-list">
        {budgets.map(({ kind, id, name, period, spent, amount, share, endsAt }) => (
          <li key={`${kind} ${id} ${period}`} className="budget-line">
            <Group justify="space-between" wrap="nowrap" gap="xs">
              <Link {...listItem} href={pageOf({ kind, id })} className="plain-link">
                <Text size="sm" fw={600} span className="any-wrap">
                  {name}
                </Text>
              </Link>
              <Text size="sm" className={`numeric ${share >= 1 ? 'tone-bad' : 'tone-wait'}`}>
                {formatPercent(share)}
              </Text>
            </Group>
            <Remark>
              {formatMoney(spent)} of {formatMoney(amount)} a {period}
              {endsAt !== null && (
                <>
                  ; resets <When at={endsAt} />
                </>
              )}
            </Remark>
          </li>
        ))}
      </ul>
    </Paper>
  );
}
