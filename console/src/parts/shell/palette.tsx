/** The command palette: Ctrl+K or Cmd+K, then a few letters of where to go or what to do. */

import { useMantineColorScheme } from '@mantine/core';
import { Spotlight } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import type { Page } from '../../../../src/admin/contract.ts';
import { ask } from '../api/client.ts';
import { Icon } from '../marks/icon.tsx';
import { useMay } from '../session/role.tsx';
import { signOut } from '../session/sign-out.ts';
import { type Named, toPaletteActions } from './palette-actions.ts';

const shownAtOnce = 12;
const freshMs = 30_000;

const lists = [
  { kind: 'model', path: '/api/models?limit=200' },
  { kind: 'upstream', path: '/api/upstreams?limit=200' },
  { kind: 'key', path: '/api/keys?limit=200' },
  { kind: 'project', path: '/api/projects?limit=200' },
] as const satisfies readonly { kind: Named['kind']; path: string }[];

export function Palette() {
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
      actions={toPaletteActions(named, {
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

interface Item {
  readonly id: string;
  /** Keys have a name in theirs, beside the ID that they were given. */
  readonly document?: { readonly name?: string };
}

/** What cannot be listed just now is left out: the rest is of use all the same. */
async function readNamed(signal: AbortSignal): Promise<Named[]> {
  const found = await Promise.all(
    lists.map(async ({ kind, path }) => {
      try {
        const { items } = await ask<Page<Item>>(path, { signal });
        return items.map(({ id, document }) => ({ kind, id, name: document?.name }));
      } catch {
        return [];
      }
    }),
  );
  return found.flat();
}
