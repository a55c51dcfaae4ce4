/** The head of a page: its name, a line about it, and what can be done there. */

import { Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface PageHeadProps {
  readonly title: string;
  readonly about?: string;
  readonly children?: ReactNode;
}

export function PageHead({ title, about, children }: PageHeadProps) {
  return (
    <Group justify="space-between" align="flex-end" mb="lg">
      <Stack gap={2}>
        <Title order={1} size="h2">
          {title}
        </Title>
        {about !== undefined && <Text c="dimmed">{about}</Text>}
      </Stack>
      <Group gap="xs">{children}</Group>
    </Group>
  );
}
