/** Those about to be added, each with the name that clients will use, and why one could not be. */

import { Stack, Text, TextInput } from '@mantine/core';

export interface Chosen {
  /** As the upstream calls it. */
  readonly name: string;
  /** As clients will. */
  readonly id: string;
}

interface ChosenModelsProps {
  readonly chosen: readonly Chosen[];
  onChange(chosen: readonly Chosen[]): void;
  /** By the upstream's name. */
  readonly failures: Readonly<Record<string, string>>;
}

export function ChosenModels({ chosen, onChange, failures }: ChosenModelsProps) {
  if (chosen.length === 0) return null;
  const rename = (name: string, id: string): void =>
    onChange(chosen.map((one) => (one.name === name ? { name, id } : one)));
  return (
    <Stack gap="xs" role="group" aria-label="Names for clients">
      <Text size="sm" fw={500}>
        Names for clients
      </Text>
      {chosen.map(({ name, id }) => (
        <TextInput
          key={name}
          aria-label={`Name for clients of ${name}`}
          value={id}
          onChange={({ currentTarget }) => rename(name, currentTarget.value)}
          error={failures[name]}
          {...(id !== name && { description: `for ${name}` })}
          autoComplete="off"
          spellCheck={false}
        />
      ))}
    </Stack>
  );
}
