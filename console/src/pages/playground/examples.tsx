/** Fills in a form with one click: each example teaches what the route is for. */

import { Button, Group, Text } from '@mantine/core';

export interface Example<T> {
  readonly title: string;
  readonly values: Partial<T>;
}

interface ExamplesProps<T> {
  readonly examples: readonly Example<T>[];
  onPick(values: Partial<T>): void;
}

export function Examples<T>({ examples, onPick }: ExamplesProps<T>) {
  return (
    <Group gap={6} role="group" aria-label="Examples">
      <Text size="xs" c="dimmed">
        Try:
      </Text>
      {examples.map(({ title, values }) => (
        <Button key={title} size="compact-xs" variant="default" onClick={() => onPick(values)}>
          {title}
        </Button>
      ))}
    </Group>
  );
}
