/** Adds or changes a model, and handles changes that somebody else makes in the meantime. */

import { useQueryClient } from '@tanstack/react-query';
import type { ModelDetail } from '../../../../src/admin/contract.ts';
import type { Versioned } from '../../parts/api/client.ts';
import { notifyWritten, useElementForm } from '../../parts/forms/use-element-form.tsx';
import { refreshModels, saveModel } from '../../parts/models/pick-models.tsx';
import { readModel } from './model-data.ts';
import { toModelDocument, toModelValues } from './model-document.ts';
import { ModelForm } from './model-form.tsx';

/** Stands for a new model in the URL in place of an ID; no model has this ID. */
export const newModelId = '';

export const modelDraft = 'model 4';

interface EditModelProps {
  /** The model as it was when editing began; undefined for a new one. */
  readonly began?: Versioned<ModelDetail>;
  onDone(id: string): void;
  onCancel(): void;
}

export function EditModel({ began, onDone, onCancel }: EditModelProps) {
  const queries = useQueryClient();
  const { api, conflict } = useElementForm({
    began,
    first: toModelValues({ targets: [{ upstream: '' }] }),
    draft: modelDraft,
    toValues: toModelValues,
    toDocument: toModelDocument,
    read: readModel,
    save: ({ document, etag }) => saveModel(document, etag),
    onDone: (id, written) => {
      notifyWritten(id, written);
      void refreshModels(queries);
      onDone(id);
    },
  });
  const cancel = (): void => {
    api.discardDraft();
    onCancel();
  };
  return (
    <ModelForm api={api} isNew={began === undefined} onCancel={cancel}>
      {conflict}
    </ModelForm>
  );
}
