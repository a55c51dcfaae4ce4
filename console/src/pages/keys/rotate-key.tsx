/** Gives a key another secret, and says how long the former one goes on working. */

import { Radio, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import type { KeyDetail, KeyWithSecret } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { useRefresh } from './data.ts';
import { FormBody, FormDialog } from './key-form.tsx';
import { nameOf } from './key-words.ts';
import { createRequestKeys } from './request-keys.ts';

interface RotateKeyProps {
  readonly item: KeyDetail;
  readonly onClose: () => void;
  readonly onRotated: (made: KeyWithSecret) => void;
}

interface RotateValues {
  readonly overlap: string;
}

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
