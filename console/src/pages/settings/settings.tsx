/** The page "Settings": oneself, who else may come in, programs, whom to tell, what is kept, and what this is. */

import './settings.css';
import { Tabs } from '@mantine/core';
import { useLocation } from 'wouter';
import { PageHead, TabRow } from '../../parts/layout/page-head.tsx';
import { About } from './about.tsx';
import { Account } from './account.tsx';
import { Alerts } from './alerts.tsx';
import { Keeping } from './keeping.tsx';
import { Members } from './members.tsx';
import { Tokens } from './tokens.tsx';

const tabs = [
  { name: 'account', title: 'Your account', panel: Account },
  { name: 'members', title: 'Members', panel: Members },
  { name: 'tokens', title: 'API tokens', panel: Tokens },
  { name: 'alerts', title: 'Webhooks', panel: Alerts },
  { name: 'keeping', title: 'What is kept', panel: Keeping },
  { name: 'about', title: 'About', panel: About },
] as const;

export default function Settings() {
  const [location, navigate] = useLocation();
  const named = location.split('/')[2];
  const tab = tabs.find(({ name }) => name === named)?.name ?? 'account';
  return (
    <>
      <PageHead title="Settings" about="You, the others, and how this gateway keeps its books." />
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
