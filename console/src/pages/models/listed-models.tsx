/** What an upstream lists, to tick; and names that are written, where it lists nothing or not this one. */

import { Badge, Button, Checkbox, Group, ScrollArea, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import type { UpstreamModels } from '../../../../src/admin/contract.ts';
import { Loading, toMessage } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { operationWords } from '../../parts/words/operations.ts';
import type { useUpstreamModels } from './upstream-data.ts';

interface ListedModelsProps {
  readonly listing: ReturnType<typeof useUpstreamModels>;
  readonly chosen: readonly string[];
  onChoose(names: readonly string[]): void;
}

export function ListedModels({ listing, chosen, onChoose }: ListedModelsProps) {
  const { data, error, isFetching, refetch } = listing;
  if (isFetching && data === undefined) return <Loading rows={3} />;
  const items = data?.items ?? [];
  const written = chosen.filter((name) => !items.some(({ id }) => id === name));
  const listed = chosen.filter((name) => !written.includes(name));
  return (
    <Stack gap="sm">
      {error !== null && (
        <Group gap="xs">
          <Text size="sm" role="alert">{`Its list could not be fetched: ${toMessage(error)}`}</Text>
          <Button size="compact-sm" variant="default" onClick={() => void refetch()}>
            Try again
          </Button>
        </Group>
      )}
      {data?.note != null && (
        <Text size="sm" c="dimmed">
          {data.note}
        </Text>
      )}
      {items.length > 0 && (
        <Choices items={items} chosen={listed} onChoose={(names) => onChoose([...names, ...written])} />
      )}
      <TagsInput
        label={items.length > 0 ? 'Or by name' : 'Names'}
        description="As the upstream calls them; press Enter after each."
        value={written}
        onChange={(names) => onChoose([...listed, ...names.filter((name) => !listed.includes(name))])}
        acceptValueOnBlur
      />
    </Stack>
  );
}

interface ChoicesProps {
  readonly items: UpstreamModels['items'];
  readonly chosen: readonly string[];
  onChoose(names: readonly string[]): void;
}

function Choices({ items, chosen, onChoose }: ChoicesProps) {
  const [wanted, setWanted] = useState('');
  const fitting = items.filter(({ id }) => id.toLowerCase().includes(wanted.trim().toLowerCase()));
  const toggle = (id: string, isOn: boolean): void =>
    onChoose(isOn ? [...chosen, id] : chosen.filter((name) => name !== id));
  return (
    <Stack gap="xs" role="group" aria-label="Models that it lists">
      <TextInput
        type="search"
        label={`It lists ${items.length === 1 ? '1 model' : `${items.length} models`}`}
        placeholder="Search"
        leftSection={<Icon name="search" size={16} />}
        value={wanted}
        onChange={({ currentTarget }) => setWanted(currentTarget.value)}
      />
      <ScrollArea.Autosize mah={220} type="auto" viewportProps={{ tabIndex: 0, 'aria-label': 'Models that it lists' }}>
        <Stack gap={8} py={4}>
          {fitting.map(({ id, operations, models }) => (
            <Group key={id} justify="space-between" wrap="nowrap" pr="sm">
              <Checkbox
                checked={chosen.includes(id)}
                onChange={({ currentTarget }) => toggle(id, currentTarget.checked)}
                label={id}
                className="breaks"
              />
              {models.length > 0 ? (
                <Badge variant="default" className="plain-badge">
                  Added already
                </Badge>
              ) : (
                <Text size="xs" c="dimmed">
                  {operations?.map((operation) => operationWords[operation]).join(', ')}
                </Text>
              )}
            </Group>
          ))}
          {fitting.length === 0 && (
            <Text size="sm" c="dimmed">
              None has that in its name.
            </Text>
          )}
        </Stack>
      </ScrollArea.Autosize>
    </Stack>
  );
}
