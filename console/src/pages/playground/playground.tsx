/** The page on which every route of the gateway can be tried, and its answer looked at. */

import './playground.css';
import { Group, Skeleton, Tabs, Text } from '@mantine/core';
import { Suspense, useState } from 'react';
import { useSearchParams } from 'wouter';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { TabRow } from '../../parts/layout/tab-row.tsx';
import { toPattern } from './curl.ts';
import { KeyChoice, OwnKey } from './own-key.tsx';
import { tabs } from './tabs.ts';

export default function Playground() {
  const [search, setSearch] = useSearchParams();
  const [ownKey, setOwnKey] = useState('');
  const asked = search.get('route');
  const entry = tabs.find(({ route, also = [] }) => [route, ...also].some((one) => one === asked)) ?? tabs[0];
  if (entry === undefined) return null;
  const { component: Tab, route, also = [] } = entry;
  const open = (next: string | null): void => setSearch({ route: next ?? route }, { replace: true });

  return (
    <OwnKey value={ownKey === '' ? undefined : ownKey}>
      <PageHead title="Playground" about="Send something through the gateway, and look at what comes back.">
        <KeyChoice value={ownKey} onChange={setOwnKey} />
      </PageHead>
      <Tabs value={route} onChange={open} keepMounted={false}>
        <TabRow tabs={tabs.map((tab) => ({ value: tab.route, title: tab.title }))} selected={route} />
        <Tabs.Panel value={route}>
          <Group justify="space-between" gap="xs" mb="md">
            <Text c="dimmed">{entry.about}</Text>
            <Text component="code" size="xs" c="dimmed" className="play-path">
              {[route, ...also].map(toPattern).join(', ')}
            </Text>
          </Group>
          <Suspense fallback={<Skeleton height={420} radius="md" />}>
            <Tab
              key={route}
              wantedModel={search.get('model') ?? undefined}
              wantedRoute={asked === route ? undefined : also.find((one) => one === asked)}
            />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </OwnKey>
  );
}
