/** One project at the side: what its keys may use together, and how far they have come. */

import { Anchor, Group, Stack, Table, Text } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Project } from '../../../../src/admin/contract.ts';
import { ask, type Versioned } from '../../parts/api/client.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { SideDrawer } from '../../parts/dialogs/drawer.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { formatCount } from '../../parts/words/format.ts';
import { Nothing, When } from '../../parts/words/numbers.tsx';
import { useProject, useRefresh } from './data.ts';
import { limitsInWords } from './key-badges.tsx';
import { Term } from './key-drawer.tsx';
import { ProjectForm } from './project-form.tsx';
import { toProjectCaps } from './project-values.ts';
import { ProjectPlace } from './projects-tab.tsx';
import { BudgetFacts, UsageFacts } from './spend-facts.tsx';

export function ProjectDrawer({ id, onClose }: { readonly id: string | undefined; readonly onClose: () => void }) {
  return (
    <SideDrawer opened={id !== undefined} onClose={onClose} title={id ?? ''} {...(id !== undefined && { subject: id })}>
      {id !== undefined && <ProjectFacts key={id} id={id} onGone={onClose} />}
    </SideDrawer>
  );
}

function ProjectFacts({ id, onGone }: { readonly id: string; readonly onGone: () => void }) {
  const { data: seen, error, refetch } = useProject(id);
  if (error !== null && seen === undefined) return <Failed error={error} onRetry={() => void refetch()} />;
  if (seen === undefined) return <Loading rows={6} />;
  const project = seen.data;
  const spender = { kind: 'project', id } as const;
  return (
    <Stack gap="lg">
      <ProjectPlace project={project} />
      {project.managedBy === 'store' && <Actions seen={seen} onGone={onGone} />}
      <Terms project={project} />
      {project.inForce && (
        <>
          <BudgetFacts spender={spender} budgets={project.budgets} />
          <UsageFacts spender={spender} />
        </>
      )}
    </Stack>
  );
}

function Terms({ project }: { readonly project: Project }) {
  const { name } = project.document;
  const limits = limitsInWords(toProjectCaps(project.document).limits);
  return (
    <Table variant="vertical" layout="fixed" withTableBorder>
      <Table.Tbody>
        {typeof name === 'string' && <Term title="Name">{name}</Term>}
        <Term title="Keys">
          <Anchor component={Link} inherit href={`/keys?project=${encodeURIComponent(project.id)}`}>
            {formatCount(project.keys)}
          </Anchor>
        </Term>
        <Term title="Limits, together">{limits.length === 0 ? <Nothing>no limits</Nothing> : limits.join(', ')}</Term>
        {project.updatedAt !== null && (
          <Term title="Changed">
            <When at={project.updatedAt} />
          </Term>
        )}
      </Table.Tbody>
    </Table>
  );
}

function Actions({ seen, onGone }: { readonly seen: Versioned<Project>; readonly onGone: () => void }) {
  const confirm = useConfirm();
  const refresh = useRefresh();
  const [edits, setEdits] = useState(false);
  const { id } = seen.data;

  async function remove(): Promise<void> {
    const yes = await confirm({
      title: `Remove the project ${id}?`,
      body: <Text size="sm">Its limits and budgets end. What its keys used stays in the ledger under its name.</Text>,
      confirm: 'Remove',
      danger: true,
    });
    if (!yes) return;
    try {
      const headers: Record<string, string> = seen.etag === undefined ? {} : { 'if-match': seen.etag };
      await ask('DELETE /api/projects/:id', { params: { id }, headers });
      notifyDone(`The project ${id} is removed.`);
      onGone();
      await refresh(id);
    } catch (error) {
      notifyFailed(error);
      await refresh();
    }
  }

  return (
    <Needs role="admin">
      <Group gap="xs">
        <Action icon="edit" label="Change" size="xs" onClick={() => setEdits(true)} />
        <Action icon="trash" label="Remove" size="xs" onClick={() => void remove()} />
      </Group>
      {edits && <ProjectForm seen={seen} onClose={() => setEdits(false)} />}
    </Needs>
  );
}
