/** The page Requests: the ledger, what was used, and who changed what. */

import './requests.css';
import { Tabs } from '@mantine/core';
import { lazy, Suspense } from 'react';
import { useSearchParams } from 'wouter';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Loading } from '../../parts/layout/state.tsx';
import { useMay } from '../../parts/session/role.tsx';
import { ListTab } from './list-tab.tsx';

const UsageTab = lazy(() => import('./usage-tab.tsx'));
const Audit = lazy(() => import('./audit.tsx'));

const views = ['list', 'usage', 'changes'] as const;
type View = (typeof views)[number];

const about: Readonly<Record<View, string>> = {
  list: 'Every request with a valid key has one row here, whatever became of it.',
  usage: 'Who used what, and what it cost, added up by the hour.',
  changes: 'Who changed what, with before and after. Secrets are never in it.',
};

export default function Requests() {
  const [query, setQuery] = useSearchParams();
  const mayAudit = useMay('admin');
  const asked = query.get('view');
  const view = views.find((name) => name === asked && (name !== 'changes' || mayAudit)) ?? 'list';
  const choose = (name: string | null): void => {
    // What one view is narrowed to means something else in the next.
    setQuery(name === null || name === 'list' ? {} : { view: name });
  };
  return (
    <>
      <PageHead title="Requests" about={about[view]} />
      <Tabs value={view} onChange={choose} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="list">Requests</Tabs.Tab>
          <Tabs.Tab value="usage">Usage</Tabs.Tab>
          {mayAudit && <Tabs.Tab value="changes">Changes</Tabs.Tab>}
        </Tabs.List>
        <Tabs.Panel value="list">
          <ListTab />
        </Tabs.Panel>
        <Tabs.Panel value="usage">
          <Suspense fallback={<Loading rows={8} />}>
            <UsageTab />
          </Suspense>
        </Tabs.Panel>
        {mayAudit && (
          <Tabs.Panel value="changes">
            <Suspense fallback={<Loading rows={8} />}>
              <Audit />
            </Suspense>
          </Tabs.Panel>
        )}
      </Tabs>
    </>
  );
}
