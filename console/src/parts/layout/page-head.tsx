/** Shows the head of a page: title, one line about it, and its actions. */

import { Group, Stack, Tabs, Text, Title } from '@mantine/core';
import { type ReactNode, useEffect, useRef } from 'react';

interface PageHeadProps {
  readonly title: string;
  readonly about?: ReactNode;
  readonly children?: ReactNode;
}

export function PageHead({ title, about, children }: PageHeadProps) {
  useTitle(title);
  return (
    <Group justify="space-between" align="flex-end" mb="lg" gap="sm">
      <Stack gap={2} maw={760} miw={0}>
        <Title order={1} size="h2" className="any-wrap">
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

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = `${title} · Postern`;
  }, [title]);
}

interface TabRowProps {
  readonly tabs: readonly { readonly value: string; readonly title: string }[];
  readonly selected: string;
}

/** The tabs of a page in one row, which scrolls if they do not fit: the selected one is always in view. */
export function TabRow({ tabs, selected }: TabRowProps) {
  const list = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another choice is another tab to be seen
  useEffect(() => {
    list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }, [selected]);
  return (
    <Tabs.List mb="md" className="tab-row" ref={list}>
      {tabs.map(({ value, title }) => (
        <Tabs.Tab key={value} value={value}>
          {title}
        </Tabs.Tab>
      ))}
    </Tabs.List>
  );
}
