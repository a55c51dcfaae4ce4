/** Those about to be added, each with the name that clients will use, what it serves, and why one could not be. */

import { MultiSelect, Stack, Text, TextInput } from '@mantine/core';
import type { Operation } from '../../../../src/admin/contract.ts';
import { operationChoices } from '../../parts/words/operations.ts';

export interface Chosen {
  /** As the upstream calls it. */
  readonly name: string;
  /** As clients will. */
  readonly id: string;
  /** What somebody chose; undefined where it is as its list or its name says. */
  readonly operations?: readonly string[];
}

interface ChosenModelsProps {
  readonly chosen: readonly Chosen[];
  onChange(chosen: readonly Chosen[]): void;
  /** What the upstream's list or the name itself says a model is for; empty where neither does. */
  told(name: string): readonly Operation[];
  /** By the upstream's name. */
  readonly failures: Readonly<Record<string, string>>;
}

export function ChosenModels({ chosen, onChange, told, failures }: ChosenModelsProps) {
  if (chosen.length === 0) return null;
  const change = (name: string, more: Partial<Chosen>): void =>
    onChange(chosen.map((one) => (one.name === name ? { ...one, ...more } : one)));
  return (
    <Stack gap="xs" role="group" aria-label="Names for clients">
      <Text size="sm" fw={500}>
        Names for clients, and what each serves
      </Text>
      {chosen.map(({ name, id, operations }) => (
        <Stack key={name} gap={4}>
          <TextInput
            aria-label={`Name for clients of ${name}`}
            value={id}
            onChange={({ currentTarget }) => change(name, { id: currentTarget.value })}
            error={failures[name]}
            {...(id !== name && { description: `for ${name}` })}
            autoComplete="off"
            spellCheck={false}
          />
          <MultiSelect
            aria-label={`What ${name} serves`}
            data={operationChoices}
            value={[...(operations ?? told(name))]}
            onChange={(picked) => change(name, { operations: picked })}
            {...(told(name).length === 0 && {
              description: 'Neither its list nor its name says what it is for: choose.',
            })}
            placeholder={(operations ?? told(name)).length === 0 ? 'What it serves' : ''}
          />
        </Stack>
      ))}
    </Stack>
  );
}
