/** The form to change a model, with conflict handling if someone else changed it meanwhile. */

import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { ModelDetail, Written } from '../../../../src/admin/contract.ts';
import { ApiError, type Versioned } from '../../parts/api/client.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import { toText } from '../../parts/forms/documents.ts';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { DataTable } from '../../parts/layout/table.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { refreshModels, saveModel } from '../../parts/models/pick-models.tsx';
import { readModel } from './model-data.ts';
import { type Difference, differencesOf, draftOf, toModelDocument, toModelValues } from './model-document.ts';
import { ModelForm } from './model-form.tsx';

interface EditModelProps {
  /** The model as it was when editing began. */
  readonly began: Versioned<ModelDetail>;
  onDone(): void;
  onCancel(): void;
}

export function EditModel({ began, onDone, onCancel }: EditModelProps) {
  const queries = useQueryClient();
  const { id } = began.data;
  const [theirs, setTheirs] = useState<Versioned<ModelDetail>>();
  const [seen, setSeen] = useState(() => tagOf(began));
  const api = useApiForm({
    initialValues: toModelValues(began.data.document),
    draftKey: draftOf(`${id} ${began.etag ?? ''}`),
    submit: async (values) => {
      try {
        return await saveModel(toModelDocument({ ...values, id }), seen);
      } catch (error) {
        if (isBeaten(error)) setTheirs(await readModel(id));
        throw error;
      }
    },
    onDone: (written) => {
      void refreshModels(queries);
      notify(id, written);
      onDone();
    },
  });
  const loadTheirs = (): void => {
    if (theirs === undefined) return;
    api.show(toModelValues(theirs.data.document));
    api.form.clearErrors();
    setSeen(tagOf(theirs));
    setTheirs(undefined);
  };
  const keepMine = (): void => {
    if (theirs !== undefined) setSeen(tagOf(theirs));
  };
  return (
    <ModelForm
      api={api}
      isNew={false}
      submitLabel="Save"
      onCancel={() => {
        api.discardDraft();
        onCancel();
      }}
    >
      {theirs !== undefined && (
        <Beaten
          differences={differencesOf(toModelDocument({ ...api.form.getValues(), id }), theirs.data.document)}
          isKept={seen === tagOf(theirs)}
          onLoadTheirs={loadTheirs}
          onKeepMine={keepMine}
        />
      )}
    </ModelForm>
  );
}

/** A discovered model has no version yet; saving creates its first one. */
const tagOf = ({ data, etag }: Versioned<ModelDetail>): string | undefined =>
  data.version === null ? undefined : etag;

const isBeaten = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'changed_meanwhile' || error.code === 'already_there');

/** Also shows warnings about values that are valid but perhaps not intended. */
function notify(id: string, { outcome, warnings }: Written): void {
  const words = { created: 'is added', changed: 'is saved', unchanged: 'is as it was' }[outcome];
  notifyDone([`${id} ${words}.`, ...warnings.map((warning) => `Look at this: ${warning}.`)].join(' '));
}

interface BeatenProps {
  readonly differences: readonly Difference[];
  readonly isKept: boolean;
  onLoadTheirs(): void;
  onKeepMine(): void;
}

const Beaten = ({ differences, isKept, onLoadTheirs, onKeepMine }: BeatenProps) => (
  <Alert variant="default" icon={<Icon name="users" />} title="It was changed in the meantime">
    <Stack gap="sm">
      <Text size="sm">
        {isKept
          ? 'What you typed is still here. Saving now replaces what they wrote.'
          : 'Nothing is lost: take over what they wrote, or keep what you typed and compare.'}
      </Text>
      {differences.length > 0 && <Differences differences={differences} />}
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={onLoadTheirs}>
          Load theirs
        </Button>
        {!isKept && (
          <Button size="xs" variant="default" onClick={onKeepMine}>
            Keep mine
          </Button>
        )}
      </Group>
    </Stack>
  </Alert>
);

function Differences({ differences }: { readonly differences: readonly Difference[] }) {
  const cell = { className: 'breaks' };
  return (
    <DataTable
      aria-label="What differs"
      layout="fixed"
      isNamed
      columns={['Field', { title: 'Theirs', ...cell }, { title: 'Mine', ...cell }]}
      rows={differences.map(({ field, mine, theirs }) => ({ id: field, cells: [field, theirs || '–', mine || '–'] }))}
    />
  );
}

/** Stands for a new model in the URL in place of an ID; no model has this ID. */
export const newModelId = '';

export function NewModel({ onDone, onCancel }: { onDone(id: string): void; onCancel(): void }) {
  const queries = useQueryClient();
  const api = useApiForm({
    initialValues: toModelValues({ targets: [{ upstream: '' }] }),
    draftKey: draftOf('new'),
    submit: (values) => saveModel(toModelDocument(values), undefined),
    onDone: (written, values) => {
      void refreshModels(queries);
      const id = toText(values.id).trim();
      notify(id, written);
      onDone(id);
    },
  });
  return (
    <ModelForm
      api={api}
      isNew
      submitLabel="Add the model"
      onCancel={() => {
        api.discardDraft();
        onCancel();
      }}
    />
  );
}
