/** Adds or changes an upstream: first the type of service, then address and credential. */

import { Anchor, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { FamilyFacts, UpstreamDetail } from '../../../../src/admin/contract.ts';
import type { Versioned } from '../../parts/api/client.ts';
import { freeName, useFamilies } from '../../parts/api/families.ts';
import { notifyWritten, useElementForm } from '../../parts/forms/use-element-form.tsx';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Heading, Muted, Remark } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { kinds, kindWords } from '../../parts/words/labels.ts';
import { readUpstream, refreshUpstreams, saveUpstream, useUpstreams } from './upstream-data.ts';
import { UpstreamForm } from './upstream-form.tsx';
import { toField, toFirstValues, toUpstreamDocument, toUpstreamValues } from './upstream-values.ts';

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
      <EditUpstream key={family.id} family={family} freeId={freeId} onDone={onDone} onCancel={onCancel} />
    </Stack>
  );
}

interface FamilyGalleryProps {
  onPick(family: FamilyFacts): void;
}

/** The families of upstreams to choose from, grouped by what they serve, with a search. */
function FamilyGallery({ onPick }: FamilyGalleryProps) {
  const { data, error, refetch } = useFamilies();
  const [wanted, setWanted] = useState('');
  if (data === undefined) {
    return error === null ? (
      <Loading rows={8} rowHeight={56} />
    ) : (
      <Failed error={error} onRetry={() => void refetch()} />
    );
  }
  const fitting = data.filter((family) => fits(family, wanted.trim().toLowerCase())).toSorted(byFame);
  return (
    <Stack>
      <TextInput
        type="search"
        label="What kind of service is it?"
        description="Choose OpenAI and compatible services for any service with OpenAI's wire format that has no entry of its own."
        placeholder="Search by name, or by what it does"
        leftSection={<Icon name="search" size={16} />}
        value={wanted}
        onChange={({ currentTarget }) => setWanted(currentTarget.value)}
      />
      {kinds.map((kind) => (
        <KindGroup key={kind} kind={kind} families={fitting.filter((one) => one.kind === kind)} onPick={onPick} />
      ))}
      {fitting.length === 0 && (
        <Muted>
          None has that in its name. If it speaks OpenAI's wire format, take OpenAI and compatible services.
        </Muted>
      )}
    </Stack>
  );
}

/** Sorts families. The one that most services are compatible with is first, for users who do not find their service. */
const byFame = (a: FamilyFacts, b: FamilyFacts): number =>
  Number(b.takesLegacyEngines) - Number(a.takesLegacyEngines) || a.title.localeCompare(b.title);

const fits = ({ id, title, offers }: FamilyFacts, wanted: string): boolean =>
  [id, title, ...offers.map(({ operation }) => operation)].some((text) => text.toLowerCase().includes(wanted));

interface KindGroupProps extends FamilyGalleryProps {
  readonly kind: FamilyFacts['kind'];
  readonly families: readonly FamilyFacts[];
}

function KindGroup({ kind, families, onPick }: KindGroupProps) {
  if (families.length === 0) return null;
  const { title, about } = kindWords[kind];
  return (
    <Stack gap={6} component="section" aria-label={title}>
      <Heading>{title}</Heading>
      <Muted>{about}</Muted>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {families.map((family) => (
          <button type="button" key={family.id} className="family-choice" onClick={() => onPick(family)}>
            <Text size="sm" fw={600}>
              {family.title}
            </Text>
            <Remark>{operationsOf(family)}</Remark>
          </button>
        ))}
      </SimpleGrid>
    </Stack>
  );
}

const operationsOf = ({ offers }: FamilyFacts): string =>
  [...new Set(offers.map(({ operation }) => operation))].join(', ');

export const upstreamDraft = 'upstream 2';

interface EditUpstreamProps extends NewUpstreamProps {
  /** The upstream when editing began; undefined for a new one. */
  readonly began?: Versioned<UpstreamDetail>;
  readonly family: FamilyFacts;
  readonly freeId?: string;
}

/** Adds or changes an upstream of this family, and handles changes that somebody else makes in the meantime. */
export function EditUpstream({ began, family, freeId = '', onDone, onCancel }: EditUpstreamProps) {
  const queries = useQueryClient();
  const { api, conflict } = useElementForm({
    began,
    first: toFirstValues(family, freeId),
    draft: began === undefined ? `${upstreamDraft} ${family.id}` : upstreamDraft,
    secrets: ['keys', 'headers'],
    toField,
    toValues: (document) => toUpstreamValues(document, family),
    toDocument: (values) => toUpstreamDocument(values, family),
    read: readUpstream,
    kept: 'Saving now replaces what they wrote; credentials that you left alone are theirs.',
    save: ({ document, etag }) => saveUpstream(document, etag),
    onDone: (id, written) => {
      notifyWritten(id, written);
      void refreshUpstreams(queries);
      onDone(id);
    },
  });
  const cancel = (): void => {
    api.discardDraft();
    onCancel();
  };
  return (
    <UpstreamForm api={api} family={family} isNew={began === undefined} onCancel={cancel}>
      {conflict}
    </UpstreamForm>
  );
}
