/** A part of the page: what it is about, in a heading and a sentence, and what can be done. */

import { Group, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';

interface SectionProps {
  readonly title: string;
  readonly about?: ReactNode;
  /** What can be done there. */
  readonly action?: ReactNode;
  readonly children: ReactNode;
}

export function Section({ title, about, action, children }: SectionProps) {
  return (
    <Stack gap="sm" mb="xl" component="section" className="settings-section">
      <Group justify="space-between" align="flex-start" gap="sm">
        <Stack gap={2} maw={520}>
          <Title order={2} size="h4">
            {title}
          </Title>
          {about !== undefined && (
            <Text size="sm" c="dimmed" component="div">
              {about}
            </Text>
          )}
        </Stack>
        {action}
      </Group>
      {children}
    </Stack>
  );
}
