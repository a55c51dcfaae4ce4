/** Shows the dialogs to create a key, to change one, and to rotate its secret. */

import { Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { KeyDetail, KeyWithSecret } from '../../../../src/admin/contract.ts';
import { ask, askVersioned, toCondition, type Versioned } from '../../parts/api/client.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import type { Document } from '../../parts/forms/documents.ts';
import { FormDialog } from '../../parts/forms/form-dialog.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { useElementForm } from '../../parts/forms/use-element-form.tsx';
import { createRequestKeys, useRefresh } from './data.ts';
import { nameOf } from './key-badges.tsx';
import { KeyFields } from './key-fields.tsx';
import { toChange, toField, toKeyDocument, toKeyValues } from './key-values.ts';

interface CreateKeyProps {
  readonly onClose: () => void;
  readonly onMade: (made: KeyWithSecret) => void;
}

export function CreateKey({ onClose, onMade }: CreateKeyProps) {
  const refresh = useRefresh();
  const [requestKeys] = useState(createRequestKeys);
  const api = useApiForm<Document, KeyWithSecret>({
    initialValues: toKeyValues({}),
    draftKey: 'keys.create',
    toField,
    submit(values) {
      const body = toKeyDocument(values);
      // The same request sent again, as after a lost answer, creates no second key.
      const headers = { 'idempotency-key': requestKeys.of(JSON.stringify(body)) };
      return ask('POST /api/keys', { body, headers });
    },
    onDone(made) {
      onMade(made);
      void refresh();
    },
  });
  return (
    <FormDialog api={api} title="Create a key" submitLabel="Create the key" size="lg" onClose={onClose}>
      <KeyFields form={api.form} />
    </FormDialog>
  );
}

export function EditKey({ seen, onClose }: { readonly seen: Versioned<KeyDetail>; readonly onClose: () => void }) {
  const refresh = useRefresh();
  const { api, conflict } = useElementForm({
    began: seen,
    first: {},
    draft: 'key',
    toField,
    kept: 'Saving now writes what you changed; all else is theirs.',
    toValues: toKeyValues,
    toDocument: toKeyDocument,
    read: (id) => askVersioned('GET /api/keys/:id', { params: { id } }),
    toChange,
    save: ({ id, document, etag }) =>
      ask('PATCH /api/keys/:id', { params: { id }, body: document, headers: toCondition(etag) }),
    onDone: (_, key) => {
      notifyDone(`${nameOf(key)} is saved; gateways use the change within two seconds.`);
      void refresh();
      onClose();
    },
  });
  return (
    <FormDialog
      api={api}
      title={`Change ${nameOf(seen.data)}`}
      submitLabel="Save"
      size="lg"
      notice={conflict}
      onClose={onClose}
    >
      <KeyFields form={api.form} />
    </FormDialog>
  );
}

interface RotateKeyProps {
  readonly item: KeyDetail;
  readonly onClose: () => void;
  readonly onRotated: (made: KeyWithSecret) => void;
}

interface RotateValues {
  readonly overlap: string;
}

/** Gives a key a new secret, and shows how long the old one stays valid. */
export function RotateKey({ item, onClose, onRotated }: RotateKeyProps) {
  const refresh = useRefresh();
  const [requestKeys] = useState(createRequestKeys);
  const api = useApiForm<RotateValues, KeyWithSecret>({
    initialValues: { overlap: '24h' },
    submit(body) {
      const headers = { 'idempotency-key': requestKeys.of(JSON.stringify(body)) };
      return ask('POST /api/keys/:id/rotate', { params: { id: item.id }, body, headers });
    },
    onDone(made) {
      onClose();
      onRotated(made);
      void refresh();
    },
  });
  return (
    <FormDialog
      api={api}
      title={`Give ${nameOf(item)} another secret`}
      submitLabel="Make the new secret"
      size="lg"
      onClose={onClose}
    >
      <Text size="sm">
        Everything else about the key stays. Put the new secret where the old one is used while both of them work.
      </Text>
      <Radio.Group label="The former secret works" {...api.form.getInputProps('overlap')}>
        <Stack gap="xs" mt={6}>
          <Radio value="0s" label="No more" description="For a secret that somebody has seen: it ends at once." />
          <Radio value="1h" label="For another hour" />
          <Radio value="24h" label="For another day" />
          <Radio value="7d" label="For another week" />
        </Stack>
      </Radio.Group>
      {item.oldSecretUntil !== null && (
        <Text size="sm">
          The secret before the present one still works; it ends now, as a key has one former secret.
        </Text>
      )}
    </FormDialog>
  );
}
