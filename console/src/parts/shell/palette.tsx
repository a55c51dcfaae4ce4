/** The command palette: Ctrl+K or Cmd+K, then a few letters of where to go or what to do. */

import { type MantineColorScheme, useMantineColorScheme } from '@mantine/core';
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight';
import { useQuery } from '@tanstack/react-query';
import { createElement, useState } from 'react';
import { useLocation } from 'wouter';
import type { Role } from '../../../../src/admin/contract.ts';
import { ask } from '../api/client.ts';
import { Icon, type IconName } from '../marks/icon.tsx';
import { useMay } from '../session/role.tsx';
import { signOut } from '../session/sign-out.ts';
import { schemes } from './colour-scheme.tsx';
import type { PageEntry } from './navigation.tsx';

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

/** What has a name, and a page where it is looked at. */
interface Named {
  readonly kind: 'model' | 'key' | 'upstream' | 'project';
  readonly id: string;
  /** As people called it. */
  readonly name?: string | undefined;
}

interface PaletteDeeds {
  go(path: string): void;
  may(role: Role): boolean;
  setScheme(scheme: MantineColorScheme): void;
  signOut(): void;
}

const kinds: Readonly<Record<Named['kind'], { group: string; icon: IconName; pathOf(id: string): string }>> = {
  model: { group: 'Models', icon: 'models', pathOf: (id) => `/models?model=${encodeURIComponent(id)}` },
  upstream: { group: 'Upstreams', icon: 'upstreams', pathOf: (id) => `/upstreams?upstream=${encodeURIComponent(id)}` },
  key: { group: 'Keys', icon: 'keys', pathOf: (id) => `/keys/${encodeURIComponent(id)}` },
  project: { group: 'Projects', icon: 'project', pathOf: (id) => `/keys/projects/${encodeURIComponent(id)}` },
};

interface Creation {
  readonly label: string;
  readonly path: string;
  readonly role: Role;
}

const creations: readonly Creation[] = [
  { label: 'Create a key', path: '/keys?new=key', role: 'admin' },
  { label: 'Create a project', path: '/keys?new=project', role: 'admin' },
  { label: 'Add a model', path: '/models?new=model', role: 'editor' },
  { label: 'Add an upstream', path: '/upstreams?new=upstream', role: 'admin' },
];

const icon = (name: IconName) => createElement(Icon, { name });

/** What the command palette knows: pages, deeds, and everything that has a name. */
const toPaletteActions = (
  pages: readonly PageEntry[],
  named: readonly Named[],
  { go, may, setScheme, signOut }: PaletteDeeds,
): SpotlightActionGroupData[] => [
  { group: 'Pages', actions: pages.map((page) => toPage(page, go)) },
  {
    group: 'Actions',
    actions: [
      ...creations.filter(({ role }) => may(role)).map((creation) => toCreation(creation, go)),
      ...schemes.map((scheme) => ({
        id: `colours ${scheme.value}`,
        label: `Colours: ${scheme.label.toLowerCase()}`,
        keywords: ['theme', 'dark', 'light'],
        leftSection: icon(scheme.icon),
        onClick: () => setScheme(scheme.value),
      })),
      {
        id: 'sign out',
        label: 'Sign out',
        keywords: ['leave', 'log out'],
        leftSection: icon('leave'),
        onClick: signOut,
      },
    ],
  },
  ...toGroups(named, go),
];

const toPage = ({ path, title, icon: name, keywords }: PageEntry, go: PaletteDeeds['go']): SpotlightActionData => ({
  id: `page ${path}`,
  label: title,
  keywords: [...keywords],
  leftSection: icon(name),
  onClick: () => go(path),
});

const toCreation = ({ label, path }: Creation, go: PaletteDeeds['go']): SpotlightActionData => ({
  id: path,
  label,
  keywords: ['new'],
  leftSection: icon('plus'),
  onClick: () => go(path),
});

const toGroups = (named: readonly Named[], go: PaletteDeeds['go']): SpotlightActionGroupData[] =>
  Object.entries(kinds).flatMap(([kind, { group, icon: name, pathOf }]) => {
    const own = named.filter((one) => one.kind === kind);
    if (own.length === 0) return [];
    const actions = own.map(({ id, name: given }) => ({
      id: `${kind} ${id}`,
      label: given || id,
      ...(given && given !== id && { description: id }),
      leftSection: icon(name),
      onClick: () => go(pathOf(id)),
    }));
    return [{ group, actions }];
  });
