/** Shows the Settings page: account, members, API tokens, alerts, retention and version. */

import './settings.css';
import { Alert, List, Tabs, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import type { About as Facts } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { PageHead, TabRow } from '../../parts/layout/page-head.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { type Fact, FactTable } from '../../parts/layout/table.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Bytes, Count, When } from '../../parts/words/numbers.tsx';
import { Account } from './account.tsx';
import { Alerts, Keeping } from './alerts.tsx';
import { Members } from './members.tsx';
import { Section } from './section.tsx';
import { Tokens } from './tokens.tsx';

const tabs = [
  { name: 'account', title: 'Your account', panel: Account },
  { name: 'members', title: 'Members', panel: Members },
  { name: 'tokens', title: 'API tokens', panel: Tokens },
  { name: 'alerts', title: 'Webhooks', panel: Alerts },
  { name: 'keeping', title: 'Retention', panel: Keeping },
  { name: 'about', title: 'About', panel: About },
] as const;

export default function Settings() {
  const [location, navigate] = useLocation();
  const named = location.split('/')[2];
  const tab = tabs.find(({ name }) => name === named)?.name ?? 'account';
  return (
    <>
      <PageHead
        title="Settings"
        about="Your account, members, API tokens, webhooks, retention, and facts about this gateway."
      />
      <Tabs value={tab} onChange={(next) => navigate(`/settings/${next}`)} keepMounted={false}>
        <TabRow tabs={tabs.map(({ name, title }) => ({ value: name, title }))} selected={tab} />
        {tabs.map(({ name, panel: Panel }) => (
          <Tabs.Panel key={name} value={name}>
            <Panel />
          </Tabs.Panel>
        ))}
      </Tabs>
    </>
  );
}

const stores: Readonly<Record<Facts['store']['kind'], string>> = {
  memory: 'In memory: it ends with the process',
  sqlite: 'SQLite',
  postgres: 'PostgreSQL',
};

function About() {
  const { data, error, refetch } = useQuery({
    queryKey: ['about'],
    queryFn: ({ signal }) => ask('GET /api/about', { signal }),
  });
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Loading rows={8} />;
  const { configuration, store, counts } = data;
  const rows: readonly Fact[] = [
    ['Version', data.version],
    ['Runtime', data.runtime],
    ['Started', <When key="started" at={data.startedAt} />],
    ['Worker processes', <Count key="workers" value={data.workers} />],
    ['Memory', <Bytes key="memory" value={data.memoryBytes} />],
    [
      'Clients are served at',
      <span key="url" className="breaks">
        {data.clientUrl}
      </span>,
    ],
    [
      'Configuration',
      <span key="file" className="breaks">
        {configuration.file ?? 'none: built-in defaults'}
      </span>,
    ],
    ['Loaded', <When key="read" at={configuration.readAt} />],
    ['Store', stores[store.kind]],
    ['Size of the store', <Bytes key="size" value={store.bytes} />],
    ['Upstreams, models', `${counts.upstreams}, ${counts.models}`],
    ['Keys, projects', `${counts.keys}, ${counts.projects}`],
  ];
  return (
    <>
      <Section title="About this gateway">
        <FactTable nameWidth="40%" facts={rows} />
      </Section>
      {configuration.warnings.length > 0 && (
        <Section title="Warnings of the configuration">
          <Alert variant="light" color="yellow" icon={<Icon name="warning" />}>
            <List size="sm" spacing={4}>
              {configuration.warnings.map((warning) => (
                <List.Item key={warning} className="breaks">
                  {warning}
                </List.Item>
              ))}
            </List>
          </Alert>
        </Section>
      )}
      <Section title="Documentation" about="These files come with this version.">
        <List size="sm">
          {data.docs.map(({ title, path }) => (
            <List.Item key={path}>
              {title}:{' '}
              <Text span inherit ff="monospace" className="breaks">
                {path}
              </Text>
            </List.Item>
          ))}
          <List.Item>
            The admin API as an OpenAPI document: <a href="/api/openapi.json">/api/openapi.json</a>
          </List.Item>
        </List>
      </Section>
    </>
  );
}
