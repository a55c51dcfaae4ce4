/** Adding an upstream: first what kind of service it is, then where it is and who we are there. */

import { Anchor, Group, Stack, Text } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { FamilyFacts } from '../../../../src/admin/contract.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { FamilyGallery } from './family-gallery.tsx';
import { refreshUpstreams, saveUpstream, useUpstreams } from './upstream-data.ts';
import { UpstreamForm } from './upstream-form.tsx';
import { toDocument, toField, toFirstValues } from './upstream-values.ts';

interface NewUpstreamProps {
  onDone(id: string): void;
  onCancel(): void;
}

export function NewUpstream({ onDone, onCancel }: NewUpstreamProps) {
  const [family, setFamily] = useState<FamilyFacts>();
  const { data: others = [] } = useUpstreams();
  if (family === undefined) return <FamilyGallery onPick={setFamily} />;
  const freeId = freeName(
    family.id,
    others.map(({ id }) => id),
  );
  return (
    <Stack>
      <Group gap="xs">
        <Text size="sm">{family.title}</Text>
        <Anchor component="button" type="button" size="sm" onClick={() => setFamily(undefined)}>
          Choose another kind
        </Anchor>
      </Group>
      <Drawn key={family.id} family={family} freeId={freeId} onDone={onDone} onCancel={onCancel} />
    </Stack>
  );
}

/** The family's own, with a number behind it where that is taken. */
function freeName(wanted: string, taken: readonly string[]): string {
  let name = wanted;
  for (let number = 2; taken.includes(name); number += 1) name = `${wanted}-${number}`;
  return name;
}

function Drawn({ family, freeId, onDone, onCancel }: NewUpstreamProps & { family: FamilyFacts; freeId: string }) {
  const queries = useQueryClient();
  const api = useApiForm({
    initialValues: toFirstValues(family, freeId),
    draftKey: `new upstream ${family.id}`,
    secrets: ['keys', 'headers'],
    submit: (values) => saveUpstream(values.id.trim(), toDocument(values, family), undefined),
    toField,
    onDone: ({ warnings }, values) => {
      const id = values.id.trim();
      void refreshUpstreams(queries);
      notifyDone([`${id} is added.`, ...warnings.map((warning) => `Look at this: ${warning}.`)].join(' '));
      onDone(id);
    },
  });
  return (
    <UpstreamForm
      api={api}
      family={family}
      isNew
      submitLabel="Add the upstream"
      onCancel={() => {
        api.discardDraft();
        onCancel();
      }}
    />
  );
}
