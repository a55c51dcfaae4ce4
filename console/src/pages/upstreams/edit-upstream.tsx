/** Changing an upstream, also while someone else does. */

import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { FamilyFacts, UpstreamDetail } from '../../../../src/admin/contract.ts';
import { ApiError, type Versioned } from '../../parts/api/client.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { Icon } from '../../parts/marks/icon.tsx';
import { readUpstream, refreshUpstreams, saveUpstream } from './upstream-data.ts';
import { UpstreamForm } from './upstream-form.tsx';
import { toDocument, toField, toValues } from './upstream-values.ts';

interface EditUpstreamProps {
  /** As it was when editing began. */
  readonly began: Versioned<UpstreamDetail>;
  readonly family: FamilyFacts;
  onDone(): void;
  onCancel(): void;
}

export function EditUpstream({ began, family, onDone, onCancel }: EditUpstreamProps) {
  const queries = useQueryClient();
  const { id } = began.data;
  const [seen, setSeen] = useState(began.etag);
  const [theirs, setTheirs] = useState<Versioned<UpstreamDetail>>();
  const api = useApiForm({
    initialValues: withStandards(toValues(began.data.document), family),
    draftKey: `upstream ${id} ${began.etag ?? ''}`,
    secrets: ['keys', 'headers'],
    submit: async (values) => {
      try {
        return await saveUpstream(id, toDocument({ ...values, id }, family), seen);
      } catch (error) {
        if (error instanceof ApiError && error.code === 'changed_meanwhile') setTheirs(await readUpstream(id));
        throw error;
      }
    },
    toField,
    onDone: ({ outcome, warnings }) => {
      void refreshUpstreams(queries);
      const words = outcome === 'unchanged' ? 'is as it was' : 'is saved';
      notifyDone([`${id} ${words}.`, ...warnings.map((warning) => `Look at this: ${warning}.`)].join(' '));
      onDone();
    },
  });
  const loadTheirs = (): void => {
    if (theirs === undefined) return;
    api.form.setValues(withStandards(toValues(theirs.data.document), family));
    api.form.clearErrors();
    setSeen(theirs.etag);
    setTheirs(undefined);
  };
  const isKept = theirs !== undefined && seen === theirs.etag;
  return (
    <UpstreamForm
      api={api}
      family={family}
      isNew={false}
      submitLabel="Save"
      onCancel={() => {
        api.discardDraft();
        onCancel();
      }}
    >
      {theirs !== undefined && (
        <Alert variant="light" color="yellow" icon={<Icon name="users" />} title="Someone else changed it meanwhile">
          <Stack gap="sm">
            <Text size="sm">
              {isKept
                ? 'What you typed is still here. Saving now replaces what they wrote; credentials that you left alone are theirs.'
                : 'Nothing is lost: take over what they wrote, or keep what you typed.'}
            </Text>
            <Group gap="xs">
              <Button size="xs" variant="default" onClick={loadTheirs}>
                Load theirs
              </Button>
              {!isKept && (
                <Button size="xs" variant="default" onClick={() => setSeen(theirs.etag)}>
                  Keep mine
                </Button>
              )}
            </Group>
          </Stack>
        </Alert>
      )}
    </UpstreamForm>
  );
}

/** What is not written of the family's options holds all the same, and is shown. */
function withStandards(values: ReturnType<typeof toValues>, family: FamilyFacts): ReturnType<typeof toValues> {
  const standards = Object.fromEntries(family.options.map(({ name, default: standard }) => [name, standard ?? '']));
  return { ...values, options: { ...standards, ...values.options } };
}
