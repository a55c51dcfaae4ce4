/** Chooses a model among those that serve a route, and says what it is. */

import { Anchor, Select, Stack, Text, TextInput } from '@mantine/core';
import { useEffect } from 'react';
import { Link } from 'wouter';
import type { PlaygroundModel } from '../../../../src/admin/contract.ts';
import { refusesHidden } from '../../parts/words/operations.ts';
import { aboutModel, findModel, isPattern, type Operation, usePlaygroundModels } from './models.ts';

interface ModelChoiceProps {
  /** Of several, any will do. */
  readonly operation: Operation | readonly Operation[];
  readonly value: string;
  onChange(model: string): void;
  readonly label?: string;
  /** May stand empty: a second model to compare with. */
  readonly optional?: boolean;
  /** Taken where nothing was chosen yet. */
  readonly wanted?: string | undefined;
}

export function ModelChoice({
  operation,
  value,
  onChange,
  label = 'Model',
  optional = false,
  wanted,
}: ModelChoiceProps) {
  const { data, isPending, error } = usePlaygroundModels(operation);
  const items = data?.items ?? [];
  const chosen = findModel(items, value);

  useEffect(() => {
    if (wanted !== undefined) onChange(wanted);
  }, [wanted, onChange]);
  const first = items.find(({ id, visible }) => visible && !isPattern(id)) ?? items[0];
  const preset = optional || value !== '' || wanted !== undefined ? undefined : first?.id;
  useEffect(() => {
    if (preset !== undefined) onChange(preset);
  }, [preset, onChange]);

  // Nothing to compare with.
  if (optional && value === '' && items.length < 2) return null;
  return (
    <Stack gap={4}>
      <Select
        label={label}
        placeholder={placeholderFor(isPending, optional, items.length)}
        data={toChoices(items, value)}
        value={chosen?.id ?? (value === '' ? null : value)}
        onChange={(model) => onChange(model ?? '')}
        searchable
        clearable={optional}
        allowDeselect={optional}
        clearButtonProps={{ 'aria-label': 'Compare with no other model' }}
        nothingFoundMessage="No model of this name serves this route."
        error={error === null ? undefined : 'The models could not be loaded.'}
      />
      {chosen !== undefined && isPattern(chosen.id) && (
        <TextInput
          label={`Name that fits ${chosen.id}`}
          value={isPattern(value) ? '' : value}
          onChange={(event) => onChange(event.currentTarget.value === '' ? chosen.id : event.currentTarget.value)}
        />
      )}
      <ModelFacts model={chosen} operation={operation} />
    </Stack>
  );
}

function placeholderFor(isPending: boolean, optional: boolean, count: number): string {
  if (isPending) return 'Loading the models';
  if (count === 0) return 'No model serves this route yet';
  return optional ? 'None' : 'Choose a model';
}

/** A name that nobody knows stays in the list: the address asked for it, or the model is gone. */
function toChoices(items: readonly PlaygroundModel[], value: string) {
  const known = items.map(({ id, visible }) => ({ value: id, label: visible ? id : `${id} (hidden)` }));
  const isKnown = value === '' || findModel(items, value) !== undefined;
  return isKnown ? known : [...known, { value, label: value }];
}

function ModelFacts({
  model,
  operation,
}: {
  readonly model: PlaygroundModel | undefined;
  readonly operation: Operation | readonly Operation[];
}) {
  if (model === undefined) return null;
  const space = operation === 'embeddings' && model.space !== null ? ` Vector space: ${model.space}.` : '';
  return (
    <>
      <Text size="xs" c="dimmed">
        {aboutModel(model)}
        {space}
      </Text>
      {!model.visible && [operation].flat().every(refusesHidden) && (
        <Text size="xs" className="tone-wait">
          Hidden: this route answers as if there were no such model.{' '}
          <Anchor component={Link} href="/models" inherit underline="always">
            Show it to clients
          </Anchor>
        </Text>
      )}
    </>
  );
}
