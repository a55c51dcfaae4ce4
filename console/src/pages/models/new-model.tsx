/** A model written by hand, with everything that it may have. */

import { useQueryClient } from '@tanstack/react-query';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { say } from './edit-model.tsx';
import { refreshModels, saveModel } from './model-data.ts';
import { draftOf, emptyTarget, toDocument, toValues } from './model-document.ts';
import { ModelForm } from './model-form.tsx';

/** In the address bar, in place of an ID; no model has it. */
export const newModelId = '';

interface NewModelProps {
  onDone(id: string): void;
  onCancel(): void;
}

export function NewModel({ onDone, onCancel }: NewModelProps) {
  const queries = useQueryClient();
  const api = useApiForm({
    initialValues: { ...toValues({}), targets: [emptyTarget()] },
    draftKey: draftOf('new'),
    submit: (values) => saveModel(toDocument(values), undefined),
    onDone: (written, values) => {
      void refreshModels(queries);
      say(values.id.trim(), written);
      onDone(values.id.trim());
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
