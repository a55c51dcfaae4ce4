/** Adding an upstream: first the type of service, then address and credential. */

import { Alert, Anchor, Button, Group, SimpleGrid, Stack, Text, TextInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import type { FamilyFacts, UpstreamDetail } from '../../../../src/admin/contract.ts';
import { ApiError, type Versioned } from '../../parts/api/client.ts';
import { freeName, useFamilies } from '../../parts/api/families.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import { toText } from '../../parts/forms/documents.ts';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
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
      <Drawn key={family.id} family={family} freeId={freeId} onDone={onDone} onCancel={onCancel} />
    </Stack>
  );
}

function Drawn({ family, freeId, onDone, onCancel }: NewUpstreamProps & { family: FamilyFacts; freeId: string }) {
  const queries = useQueryClient();
  const api = useApiForm({
    initialValues: toFirstValues(family, freeId),
    draftKey: `new upstream 2 ${family.id}`,
    secrets: ['keys', 'headers'],
    submit: (values) => saveUpstream(toText(values.id).trim(), toUpstreamDocument(values, family), undefined),
    toField,
    onDone: ({ warnings }, values) => {
      const id = toText(values.id).trim();
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
        description="Whatever speaks OpenAI's wire format is an OpenAI-compatible service, also where it is not named here."
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

/** The family that most services are compatible with comes first, as users who do not find their service have to choose it. */
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

interface EditUpstreamProps {
  /** The upstream when editing began. */
  readonly began: Versioned<UpstreamDetail>;
  readonly family: FamilyFacts;
  onDone(): void;
  onCancel(): void;
}

/** Changes an upstream, also while someone else does. */
export function EditUpstream({ began, family, onDone, onCancel }: EditUpstreamProps) {
  const queries = useQueryClient();
  const { id } = began.data;
  const [seen, setSeen] = useState(began.etag);
  const [theirs, setTheirs] = useState<Versioned<UpstreamDetail>>();
  const api = useApiForm({
    initialValues: toUpstreamValues(began.data.document, family),
    draftKey: `upstream 2 ${id} ${began.etag ?? ''}`,
    secrets: ['keys', 'headers'],
    submit: async (values) => {
      try {
        return await saveUpstream(id, toUpstreamDocument({ ...values, id }, family), seen);
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
    api.show(toUpstreamValues(theirs.data.document, family));
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
        <Alert variant="light" color="yellow" icon={<Icon name="users" />} title="It was changed in the meantime">
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
