/** The dialogs to create and to change a key. */

import { Alert, Button, Group, Modal, Radio, Stack, Text } from '@mantine/core';
import { useMediaQuery } from '@mantine/hooks';
import { type ReactNode, useState } from 'react';
import type { KeyDetail, KeyWithSecret } from '../../../../src/admin/contract.ts';
import { ask, askVersioned, toCondition, type Versioned } from '../../parts/api/client.ts';
import { useFocusReturn } from '../../parts/dialogs/escape.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import type { Document } from '../../parts/forms/documents.ts';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import { type ApiForm, useApiForm } from '../../parts/forms/use-api-form.ts';
import { useElementForm } from '../../parts/forms/use-element-form.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { createRequestKeys, useRefresh } from './data.ts';
import { nameOf } from './key-badges.tsx';
import { KeyFields } from './key-fields.tsx';
import { toChange, toField, toKeyDocument, toKeyValues } from './key-values.ts';

interface FrameProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ReactNode;
}

/** A dialog that a click outside does not close, so that typed text is not lost. */
export function FormDialog({ title, onClose, children }: FrameProps) {
  useFocusReturn();
  const isNarrow = useMediaQuery('(max-width: 40em)') ?? false;
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      size="lg"
      closeOnClickOutside={false}
      fullScreen={isNarrow}
      classNames={{ content: 'form-dialog' }}
    >
      {children}
    </Modal>
  );
}

interface FormBodyProps<Values extends object> {
  readonly api: ApiForm<Values>;
  readonly submit: string;
  readonly onClose: () => void;
  /** What the user has to decide before the form can be sent again; always in view. */
  readonly notice?: ReactNode;
  readonly children: ReactNode;
}

export function FormBody<Values extends object>({ api, submit, onClose, notice, children }: FormBodyProps<Values>) {
  return (
    <form onSubmit={api.onSubmit} noValidate>
      <Stack>
        {api.fromDraft && (
          <Alert variant="light" color="gray" icon={<Icon name="undo" />}>
            <Group justify="space-between" gap="xs">
              <Text size="sm">What you typed before is here again.</Text>
              <Button size="compact-xs" variant="default" onClick={api.discardDraft}>
                Begin anew
              </Button>
            </Group>
          </Alert>
        )}
        {children}
        <Stack gap="xs" className="form-actions">
          <FormFault fault={api.fault} />
          {notice}
          <Group justify="flex-end" gap="xs">
            <Button variant="default" onClick={onClose}>
              Cancel
            </Button>
            <Button type="submit" loading={api.busy}>
              {submit}
            </Button>
          </Group>
        </Stack>
      </Stack>
    </form>
  );
}

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
    <FormDialog title="Create a key" onClose={onClose}>
      <FormBody api={api} submit="Create the key" onClose={onClose}>
        <KeyFields form={api.form} />
      </FormBody>
    </FormDialog>
  );
}

export function EditKey({ seen, onClose }: { readonly seen: Versioned<KeyDetail>; readonly onClose: () => void }) {
  const refresh = useRefresh();
  const { api, conflict } = useElementForm({
    began: seen,
    first: {},
    toField,
    kept: 'Saving now writes what you changed; all else is theirs.',
    toValues: toKeyValues,
    toDocument: toKeyDocument,
    read: (id) => askVersioned('GET /api/keys/:id', { params: { id } }),
    toChange,
    save: ({ id, document, etag }) =>
      ask('PATCH /api/keys/:id', { params: { id }, body: document, headers: toCondition(etag) }),
    onDone: (_, key) => {
      notifyDone(`${nameOf(key)} is changed; gateways go by it within two seconds.`);
      void refresh();
      onClose();
    },
  });
  return (
    <FormDialog title={`Change ${nameOf(seen.data)}`} onClose={onClose}>
      <FormBody api={api} submit="Save" onClose={onClose} notice={conflict}>
        <KeyFields form={api.form} />
      </FormBody>
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
    <FormDialog title={`Give ${nameOf(item)} another secret`} onClose={onClose}>
      <FormBody api={api} submit="Make the new secret" onClose={onClose}>
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
      </FormBody>
    </FormDialog>
  );
}
