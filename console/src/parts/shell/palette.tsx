/** Command palette: Ctrl+K or Cmd+K, then a few letters of a page, an action, or a name to look up on the server. */

import { useMantineColorScheme } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { Spotlight, type SpotlightActionData, type SpotlightActionGroupData } from '@mantine/spotlight';
import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { useLocation } from 'wouter';
import type { Role } from '../../../../src/admin/contract.ts';
import { Icon, type IconName } from '../marks/icon.tsx';
import { useMay } from '../session/role.tsx';
import { signOut } from '../session/sign-out.ts';
import { schemes } from './colour-scheme.tsx';
import { type Found, findNamed, toSearch } from './lookup.ts';
import { ranked } from './matching.ts';
import type { PageEntry } from './navigation.tsx';
import { paletteStore, showShortcuts } from './shortcuts.tsx';

const typingMs = 150;
const freshMs = 30_000;
const shownOfAGroup = 8;

export function Palette({ pages }: { readonly pages: readonly PageEntry[] }) {
  const [typed, setTyped] = useState('');
  const [, go] = useLocation();
  const { setColorScheme } = useMantineColorScheme();
  const roles = { viewer: true, editor: useMay('editor'), admin: useMay('admin'), owner: useMay('owner') };
  const [looked] = useDebouncedValue(typed.trim(), typingMs);
  const search = toSearch(looked);
  const { data: found = [], isFetching } = useQuery({
    queryKey: ['palette', search],
    queryFn: ({ signal }) => findNamed(search, signal),
    enabled: looked !== '',
    staleTime: freshMs,
    placeholderData: keepPreviousData,
  });
  const actions: readonly Action[] = [
    ...ways.filter(({ role }) => roles[role]).map((way) => ({ ...way, run: () => go(way.path) })),
    ...schemes.map(({ value, label, icon }) => ({
      label: `Colours: ${label.toLowerCase()}`,
      icon,
      keywords: ['theme', 'dark', 'light'],
      run: () => setColorScheme(value),
    })),
    { label: 'Keyboard shortcuts', icon: 'help', keywords: ['keys', 'help'], run: showShortcuts },
    { label: 'Sign out', icon: 'leave', keywords: ['leave', 'log out'], run: () => void signOut() },
  ];
  const groups: SpotlightActionGroupData[] = [
    {
      group: 'Pages',
      actions: ranked(typed, pages, ({ title, keywords }) => [title, ...keywords]).map(({ path, title, icon }) => ({
        id: `page ${path}`,
        label: title,
        leftSection: <Icon name={icon} />,
        onClick: () => go(path),
      })),
    },
    {
      group: 'Actions',
      actions: ranked(typed, actions, ({ label, keywords }) => [label, ...keywords]).map(
        ({ label, icon, run }): SpotlightActionData => ({
          id: `action ${label}`,
          label,
          leftSection: <Icon name={icon} />,
          onClick: run,
        }),
      ),
    },
    ...(looked === '' ? [] : toGroups(found, go)),
  ];
  const shown = groups.filter(({ actions: own }) => own.length > 0);
  const ids = shown.flatMap(({ actions: own }) => own.map(({ id }) => id)).join('\n');
  // It marks the first one while the list before is still drawn, and names that come later would be in its place.
  // biome-ignore lint/correctness/useExhaustiveDependencies: another list is another first
  useEffect(() => {
    if (typed !== '') selectFirst();
  }, [typed, ids]);
  return (
    <Spotlight
      actions={shown}
      query={typed}
      onQueryChange={setTyped}
      // The gateway or the ranking has filtered the items already.
      filter={(_, all) => all}
      attributes={{ content: { 'aria-label': 'Go to anything, do anything' } }}
      store={paletteStore}
      shortcut="mod + K"
      tagsToIgnore={[]}
      scrollable
      maxHeight="min(460px, 60vh)"
      nothingFound={isFetching ? 'Looking …' : 'Nothing has such a name'}
      searchProps={{
        leftSection: <Icon name="search" />,
        placeholder: 'Go to a page, a model, a request ID …',
        'aria-label': 'Search pages, actions, models, upstreams, keys, projects and request IDs',
      }}
    />
  );
}

/** Selects the first item, in the same way as the arrow keys do. */
function selectFirst(): void {
  const { listId } = paletteStore.getState();
  const items = document.getElementById(listId)?.querySelectorAll('[data-action]') ?? [];
  for (const [at, item] of [...items].entries()) item.toggleAttribute('data-selected', at === 0);
  paletteStore.updateState((state) => ({ ...state, selected: items.length === 0 ? -1 : 0 }));
}

interface Action {
  readonly label: string;
  readonly icon: IconName;
  readonly keywords: readonly string[];
  run(): void;
}

interface Way extends Omit<Action, 'run'> {
  readonly path: string;
  readonly role: Role;
}

const way = (label: string, icon: IconName, path: string, role: Role, ...keywords: readonly string[]): Way => ({
  ...{ label, icon, path, role, keywords },
});

const ways: readonly Way[] = [
  way('Create a key', 'plus', '/keys?new=key', 'admin', 'new'),
  way('Create a project', 'plus', '/keys?new=project', 'admin', 'new'),
  way('Add a model', 'plus', '/models?model=', 'editor', 'new'),
  way('Add an upstream', 'plus', '/upstreams?new=upstream', 'admin', 'new', 'provider'),
  way('Revoke a key', 'ban', '/keys?state=active', 'admin', 'end', 'disable', 'delete'),
  way('Rotate the secret of a key', 'refresh', '/keys?state=active', 'admin', 'renew'),
  way('Failed requests of the last hour', 'requests', '/explorer?range=1h&outcome=failed', 'viewer', 'errors'),
  way('Usage and cost', 'money', '/explorer?view=cost', 'viewer', 'spend', 'bill', 'csv'),
  way('Invite a member', 'users', '/settings/members', 'owner', 'people', 'role'),
  way('API tokens', 'code', '/settings/tokens', 'viewer', 'program'),
  way('Webhooks', 'bolt', '/settings/alerts', 'viewer', 'alerts', 'notify'),
  way('Retention', 'clock', '/settings/keeping', 'viewer', 'keep', 'capture'),
  way('Password and passkeys', 'passkey', '/settings/account', 'viewer', 'account'),
];

const kinds: Readonly<Record<Found['kind'], { readonly group: string; readonly icon: IconName }>> = {
  model: { group: 'Models', icon: 'models' },
  upstream: { group: 'Upstreams', icon: 'upstreams' },
  key: { group: 'Keys', icon: 'keys' },
  project: { group: 'Projects', icon: 'project' },
  request: { group: 'Requests', icon: 'requests' },
};

const toGroups = (found: readonly Found[], go: (path: string) => void): SpotlightActionGroupData[] =>
  Object.entries(kinds).map(([kind, { group, icon }]) => ({
    group,
    actions: found
      .filter((one) => one.kind === kind)
      .slice(0, shownOfAGroup)
      .map(({ id, label, note, path }) => ({
        id: `${kind} ${id}`,
        label,
        ...(note !== undefined && { description: note }),
        leftSection: <Icon name={icon} />,
        onClick: () => go(path),
      })),
  }));
