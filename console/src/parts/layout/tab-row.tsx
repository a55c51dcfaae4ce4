/** The tabs of a page in one row, which scrolls where not all fit: the chosen one is always in view. */

import { Tabs } from '@mantine/core';
import { useEffect, useRef } from 'react';

interface TabRowProps {
  readonly tabs: readonly { readonly value: string; readonly title: string }[];
  readonly selected: string;
}

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
