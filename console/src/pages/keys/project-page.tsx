/** Shows one project in a drawer: the limits that its keys share, and their use. */

import { Anchor, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import type { Project } from '../../../../src/admin/contract.ts';
import { ask, askVersioned, isNotFound, toCondition, type Versioned } from '../../parts/api/client.ts';
import { useConfirm } from '../../parts/dialogs/confirm.tsx';
import { notifyDone, notifyFailed } from '../../parts/dialogs/undo.tsx';
import { SubjectPage } from '../../parts/explorer/subject-page.tsx';
import { CapsFields } from '../../parts/forms/caps-fields.tsx';
import type { Document } from '../../parts/forms/documents.ts';
import { FormDialog } from '../../parts/forms/form-dialog.tsx';
import { useElementForm } from '../../parts/forms/use-element-form.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { FactTable } from '../../parts/layout/table.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { formatCount } from '../../parts/words/format.ts';
import { Nothing, When } from '../../parts/words/numbers.tsx';
import { useProject, useRefresh } from './data.ts';
import { limitsInWords } from './key-badges.tsx';
import { toProjectDocument, toProjectValues } from './key-values.ts';
import { ProjectOrigin } from './projects-tab.tsx';
import { BudgetFacts, UsageFacts } from './spend-facts.tsx';

interface ProjectPageProps {
  readonly id: string;
  readonly onGone: () => void;
}

export function ProjectPage({ id, onGone }: ProjectPageProps) {
  const { data, error } = useProject(id);
  const restore = async (document: Document): Promise<unknown> => {
    const { id: _, ...body } = document;
    const isGone = isNotFound(error);
    const { etag } = isGone ? {} : await askVersioned('GET /api/projects/:id', { params: { id } });
    return ask('PUT /api/projects/:id', { params: { id }, body, headers: toCondition(etag) });
  };
  return (
    <SubjectPage
      kind="project"
      id={id}
      {...(typeof data?.data.document.name === 'string' && { name: data.data.document.name })}
      loaded={{ data, error }}
      list={{ href: '/keys/projects', title: 'Projects' }}
      onRestore={isNotFound(error) || data?.data.managedBy === 'store' ? restore : undefined}
    >
      <ProjectFacts id={id} onGone={onGone} />
    </SubjectPage>
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
      <ProjectOrigin project={project} />
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
  const limits = limitsInWords(project.document.limits);
  return (
    <FactTable
      variant="vertical"
      withTableBorder
      nameWidth={130}
      facts={[
        ['ID', project.id],
        [
          'Keys',
          <Anchor key="keys" component={Link} inherit href={`/keys?project=${encodeURIComponent(project.id)}`}>
            {formatCount(project.keys)}
          </Anchor>,
        ],
        ['Limits, together', limits.length === 0 ? <Nothing key="limits">no limits</Nothing> : limits.join(', ')],
        ['Changed', project.updatedAt && <When key="changed" at={project.updatedAt} />],
      ]}
    />
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

interface ProjectFormProps {
  /** The project as it was when editing began; undefined for a new project. */
  readonly seen: Versioned<Project> | undefined;
  readonly onClose: () => void;
  readonly onDone?: (id: string) => void;
}

export function ProjectForm({ seen, onClose, onDone }: ProjectFormProps) {
  const refresh = useRefresh();
  const { api, conflict } = useElementForm({
    began: seen,
    first: toProjectValues({}),
    draft: 'project',
    toValues: toProjectValues,
    toDocument: toProjectDocument,
    read: (id) => askVersioned('GET /api/projects/:id', { params: { id } }),
    save: ({ id, document, etag }) =>
      ask('PUT /api/projects/:id', { params: { id }, body: document, headers: toCondition(etag) }),
    onDone: (id) => {
      notifyDone(`The project ${id} is saved; gateways use the change within two seconds.`);
      void refresh();
      onClose();
      onDone?.(id);
    },
  });
  return (
    <FormDialog
      api={api}
      title={seen === undefined ? 'Create a project' : `Change ${seen.data.id}`}
      submitLabel={seen === undefined ? 'Create the project' : 'Save'}
      size="lg"
      notice={conflict}
      onClose={onClose}
    >
      <TextInput
        label="ID"
        description="Stands in lists, logs and reports, and stays as it is: letters, digits, dots, dashes, underscores."
        required
        readOnly={seen !== undefined}
        {...(seen === undefined && { 'data-autofocus': true })}
        {...api.form.getInputProps('id')}
      />
      <TextInput label="Name" description="What people call it." {...api.form.getInputProps('name')} />
      <TextInput
        label="Files are kept at"
        description="The upstream to which its keys send files and batches. Empty: they have none."
        autoComplete="off"
        spellCheck={false}
        {...api.form.getInputProps('files')}
      />
      <CapsFields form={api.form} hasAlerts />
    </FormDialog>
  );
}
