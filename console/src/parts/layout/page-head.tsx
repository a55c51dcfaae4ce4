/** The head of a page: its name, a line about it, and what can be done there. */

import { Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTitle } from './title.ts';

interface PageHeadProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
}

export function PageHead({ title, about, children }: PageHeadProps) {
  useTitle(title);
  return (
    <Group justify="space-between" align="flex-end" mb="lg" gap="sm">
      <Stack gap={2} maw={760}>
        <Title order={1} size="h2">
          {title}
        </Title>
        {about !== undefined && (
          <Text c="dimmed" component="div">
            {about}
          </Text>
        )}
      </Stack>
      {children !== undefined && <Group gap="xs">{children}</Group>}
    </Group>
  );
}
