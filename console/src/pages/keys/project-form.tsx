/** The dialog in which a project is made, and in which one is changed. */

import { TextInput } from '@mantine/core';
import { useRef } from 'react';
import type { Project, ProjectWritten } from '../../../../src/admin/contract.ts';
import { ask, askVersioned, type Versioned } from '../../parts/api/client.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import { CapsFields } from '../../parts/forms/caps-fields.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { useRefresh } from './data.ts';
import { Conflict, FormBody, FormDialog } from './key-form.tsx';
import { newBudget } from './key-values.ts';
import { newProjectValues, type ProjectValues, toProjectDocument, toProjectValues } from './project-values.ts';

interface ProjectFormProps {
  /** Undefined for a new one. */
  readonly seen: Versioned<Project> | undefined;
  readonly onClose: () => void;
  readonly onDone?: (id: string) => void;
}

export function ProjectForm({ seen, onClose, onDone }: ProjectFormProps) {
  const refresh = useRefresh();
  const etag = useRef(seen?.etag);
  const api = useApiForm<ProjectValues, ProjectWritten>({
    initialValues: seen === undefined ? newProjectValues : toProjectValues(seen.data),
    ...(seen === undefined && { draftKey: 'projects.create' }),
    submit(values) {
      const headers: Record<string, string> =
        etag.current === undefined ? { 'if-none-match': '*' } : { 'if-match': etag.current };
      return ask('PUT /api/projects/:id', {
        params: { id: values.id.trim() },
        body: toProjectDocument(values),
        headers,
      });
    },
    onDone(project) {
      notifyDone(`The project ${project.id} is saved; gateways go by it within two seconds.`);
      void refresh();
      onClose();
      onDone?.(project.id);
    },
  });

  const readNow = (): Promise<Versioned<Project>> =>
    askVersioned('GET /api/projects/:id', { params: { id: api.form.getValues().id } });

  async function takeTheirs(): Promise<void> {
    const now = await readNow();
    etag.current = now.etag;
    api.form.setValues(toProjectValues(now.data));
    void refresh();
  }

  async function saveMine(): Promise<void> {
    etag.current = (await readNow()).etag;
    api.onSubmit();
  }

  return (
    <FormDialog title={seen === undefined ? 'Create a project' : `Change ${seen.data.id}`} onClose={onClose}>
      <FormBody
        api={api}
        submit={seen === undefined ? 'Create the project' : 'Save'}
        onClose={onClose}
        notice={<Conflict error={api.error} onTakeTheirs={takeTheirs} onSaveMine={saveMine} />}
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
        <CapsFields form={api.form} hasAlerts newBudget={newBudget} />
      </FormBody>
    </FormDialog>
  );
}
