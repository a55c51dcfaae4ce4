/** Shows the page "Keys and projects": which clients may call the gateway, with which permissions, and their spending. */

import { useAddress } from '../../parts/layout/filters.tsx';
import './keys.css';
import { Tabs } from '@mantine/core';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { KeyWithSecret } from '../../../../src/admin/contract.ts';
import { Action } from '../../parts/layout/button.tsx';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Needs, useMay } from '../../parts/session/role.tsx';
import { segmentsOf } from '../../parts/words/links.ts';
import { CreateKey } from './key-form.tsx';
import { KeyPage } from './key-page.tsx';
import { KeysTab } from './keys-tab.tsx';
import { ProjectForm, ProjectPage } from './project-page.tsx';
import { ProjectsTab } from './projects-tab.tsx';
import { SecretDialog } from './secret-dialog.tsx';

interface Made {
  readonly key: KeyWithSecret;
  readonly isRotated: boolean;
}

export default function Keys() {
  const { tab, keyId, projectId, go } = useTabState();
  const [search, change] = useAddress();
  // In memory only: neither the cache nor the URL contains a secret.
  const [made, setMade] = useState<Made>();
  const isAdmin = useMay('admin');
  const creating = isAdmin ? search.get('new') : null;
  const setCreating = (what: 'key' | 'project' | undefined): void => change({ new: what }, true);
  const stop = (): void => setCreating(undefined);

  const secret = made !== undefined && (
    <SecretDialog made={made.key} isRotated={made.isRotated} onClose={() => setMade(undefined)} />
  );
  if (keyId !== undefined) {
    return (
      <>
        <KeyPage key={keyId} id={keyId} onRotated={(key) => setMade({ key, isRotated: true })} />
        {secret}
      </>
    );
  }
  if (projectId !== undefined) {
    return <ProjectPage key={projectId} id={projectId} onGone={() => go('/keys/projects')} />;
  }
  return (
    <>
      <PageHead title="Keys and projects" about="Who may call the gateway, what they may use, and what they spent.">
        <Needs role="admin">
          <Action
            icon="plus"
            label={tab === 'projects' ? 'Create a project' : 'Create a key'}
            variant="filled"
            onClick={() => setCreating(tab === 'projects' ? 'project' : 'key')}
          />
        </Needs>
      </PageHead>
      <Tabs value={tab} onChange={(next) => go(next === 'projects' ? '/keys/projects' : '/keys')} keepMounted={false}>
        <Tabs.List mb="md">
          <Tabs.Tab value="keys">Keys</Tabs.Tab>
          <Tabs.Tab value="projects">Projects</Tabs.Tab>
        </Tabs.List>
        <Tabs.Panel value="keys">
          <KeysTab />
        </Tabs.Panel>
        <Tabs.Panel value="projects">
          <ProjectsTab />
        </Tabs.Panel>
      </Tabs>
      {creating === 'key' && (
        <CreateKey
          onClose={stop}
          onMade={(key) => {
            stop();
            setMade({ key, isRotated: false });
          }}
        />
      )}
      {creating === 'project' && (
        <ProjectForm seen={undefined} onClose={stop} onDone={(id) => go(`/keys/projects/${encodeURIComponent(id)}`)} />
      )}
      {secret}
    </>
  );
}

interface TabState {
  readonly tab: 'keys' | 'projects';
  readonly keyId: string | undefined;
  readonly projectId: string | undefined;
  readonly go: (path: string) => void;
}

/** Reads and sets the page's URL: `/keys`, `/keys/<key>`, `/keys/projects`, `/keys/projects/<project>`. */
function useTabState(): TabState {
  const [location, navigate] = useLocation();
  const [first, second] = segmentsOf(location);
  const isProjects = first === 'projects';
  return {
    tab: isProjects ? 'projects' : 'keys',
    keyId: isProjects || first === '' ? undefined : first,
    projectId: isProjects && second !== '' ? second : undefined,
    go: navigate,
  };
}
