/** The command palette: Ctrl+K or Cmd+K, then a few letters of where to go or what to do. */

import { useMantineColorScheme } from '@mantine/core';
import { Spotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { ask } from '../api/client.ts';
import { Icon } from '../marks/icon.tsx';
import { useMay } from '../session/role.tsx';
import { signOut } from '../session/sign-out.ts';
import type { PageEntry } from './page-entry.ts';
import { type Named, toPaletteActions } from './palette-actions.ts';

const shownAtOnce = 12;
const freshMs = 30_000;

const query = { limit: 200 };

/** Keys have a name in their document, beside the ID that they were given, and projects may have one. */
const lists: readonly ((signal: AbortSignal) => Promise<Named[]>)[] = [
  async (signal) => (await ask('GET /api/models', { query, signal })).items.map(({ id }) => toNamed('model', id)),
  async (signal) => (await ask('GET /api/upstreams', { query, signal })).items.map(({ id }) => toNamed('upstream', id)),
  async (signal) =>
    (await ask('GET /api/keys', { query, signal })).items.map(({ id, document }) => toNamed('key', id, document.name)),
  async (signal) =>
    (await ask('GET /api/projects', { signal })).items.map(({ id, document }) => toNamed('project', id, document.name)),
];

const toNamed = (kind: Named['kind'], id: string, name?: unknown): Named => ({
  kind,
  id,
  name: typeof name === 'string' ? name : undefined,
});

export function Palette({ pages }: { readonly pages: readonly PageEntry[] }) {
  const [isOpen, setOpen] = useState(false);
  const [, go] = useLocation();
  const { setColorScheme } = useMantineColorScheme();
  const roles = { viewer: true, editor: useMay('editor'), admin: useMay('admin'), owner: useMay('owner') };
  const { data: named = [] } = useQuery({
    queryKey: ['palette'],
    queryFn: ({ signal }) => readNamed(signal),
    enabled: isOpen,
    staleTime: freshMs,
  });
  return (
    <Spotlight
      actions={toPaletteActions(pages, named, {
        go,
        may: (role) => roles[role],
        setScheme: setColorScheme,
        signOut: () => void signOut(),
      })}
      attributes={{ content: { 'aria-label': 'Go to anything, do anything' } }}
      shortcut="mod + K"
      tagsToIgnore={[]}
      limit={shownAtOnce}
      scrollable
      maxHeight="min(420px, 60vh)"
      nothingFound="Nothing has such a name"
      searchProps={{
        leftSection: <Icon name="search" />,
        placeholder: 'Go to a page, a model, a key …',
        'aria-label': 'Search pages, models, keys and actions',
      }}
      onSpotlightOpen={() => setOpen(true)}
      onSpotlightClose={() => setOpen(false)}
    />
  );
}

/** What cannot be listed just now is left out: the rest is of use all the same. */
async function readNamed(signal: AbortSignal): Promise<Named[]> {
  const found = await Promise.all(lists.map((list) => list(signal).catch(() => [])));
  return found.flat();
}
