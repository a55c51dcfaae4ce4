/** Draws the frame around the pages shown before sign-in. */

import { Center, Group, Paper, Stack, Text, Title } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTitle } from '../../parts/layout/page-head.tsx';
import { Muted } from '../../parts/layout/text.tsx';
import { Mark } from '../../parts/marks/icon.tsx';
import { ColourScheme } from '../../parts/shell/colour-scheme.tsx';

interface EntranceProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children: ReactNode;
}

export function Entrance({ title, about, children }: EntranceProps) {
  useTitle(title);
  return (
    <Center component="main" className="entrance">
      <Stack w="100%" maw={420} gap="lg">
        <Group justify="space-between">
          <Group gap="sm">
            <Mark size={32} />
            <Text fw={700} size="lg">
              Postern
            </Text>
          </Group>
          <ColourScheme />
        </Group>
        <Paper withBorder shadow="sm" p="xl">
          <Stack gap="md">
            <div>
              <Title order={1} size="h3">
                {title}
              </Title>
              {about !== undefined && <Muted mt={4}>{about}</Muted>}
            </div>
            {children}
          </Stack>
        </Paper>
      </Stack>
    </Center>
  );
}
