/** Which kind of service is added: all there are, grouped by what it takes, and to be searched. */

import { SimpleGrid, Stack, Text, TextInput, Title } from '@mantine/core';
import { useState } from 'react';
import type { FamilyFacts } from '../../../../src/admin/contract.ts';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { useFamilies } from './upstream-data.ts';
import { kinds, kindWords } from './upstream-words.ts';

interface FamilyGalleryProps {
  onPick(family: FamilyFacts): void;
}

export function FamilyGallery({ onPick }: FamilyGalleryProps) {
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
        <Group key={kind} kind={kind} families={fitting.filter((one) => one.kind === kind)} onPick={onPick} />
      ))}
      {fitting.length === 0 && (
        <Text size="sm" c="dimmed">
          None has that in its name. If it speaks OpenAI's wire format, take OpenAI and compatible services.
        </Text>
      )}
    </Stack>
  );
}

/** The one that most services are compatible with comes first, as who does not find theirs has to take it. */
function byFame(a: FamilyFacts, b: FamilyFacts): number {
  return Number(b.takesLegacyEngines) - Number(a.takesLegacyEngines) || a.title.localeCompare(b.title);
}

function fits({ id, title, offers }: FamilyFacts, wanted: string): boolean {
  return [id, title, ...offers.map(({ operation }) => operation)].some((text) => text.toLowerCase().includes(wanted));
}

interface GroupProps extends FamilyGalleryProps {
  readonly kind: FamilyFacts['kind'];
  readonly families: readonly FamilyFacts[];
}

function Group({ kind, families, onPick }: GroupProps) {
  if (families.length === 0) return null;
  const { title, about } = kindWords[kind];
  return (
    <Stack gap={6} component="section" aria-label={title}>
      <Title order={3} size="h5">
        {title}
      </Title>
      <Text size="sm" c="dimmed">
        {about}
      </Text>
      <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="xs">
        {families.map((family) => (
          <button type="button" key={family.id} className="family-choice" onClick={() => onPick(family)}>
            <Text size="sm" fw={600}>
              {family.title}
            </Text>
            <Text size="xs" c="dimmed">
              {operationsOf(family)}
            </Text>
          </button>
        ))}
      </SimpleGrid>
    </Stack>
  );
}

const operationsOf = ({ offers }: FamilyFacts): string =>
  [...new Set(offers.map(({ operation }) => operation))].join(', ');
