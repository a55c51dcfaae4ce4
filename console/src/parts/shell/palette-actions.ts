/** What the command palette knows: pages, deeds, and everything that has a name. */

import type { MantineColorScheme } from '@mantine/core';
import type { SpotlightActionData, SpotlightActionGroupData } from '@mantine/spotlight';
import { createElement } from 'react';
import type { Role } from '../../../../src/admin/contract.ts';
import { Icon, type IconName } from '../marks/icon.tsx';
import { schemes } from './colour-scheme.tsx';
import type { PageEntry } from './page-entry.ts';

/** What has a name, and a page where it is looked at. */
export interface Named {
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

export function toPaletteActions(
  pages: readonly PageEntry[],
  named: readonly Named[],
  { go, may, setScheme, signOut }: PaletteDeeds,
): SpotlightActionGroupData[] {
  return [
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
}

function toPage({ path, title, icon: name, keywords }: PageEntry, go: PaletteDeeds['go']): SpotlightActionData {
  return {
    id: `page ${path}`,
    label: title,
    keywords: [...keywords],
    leftSection: icon(name),
    onClick: () => go(path),
  };
}

function toCreation({ label, path }: Creation, go: PaletteDeeds['go']): SpotlightActionData {
  return { id: path, label, keywords: ['new'], leftSection: icon('plus'), onClick: () => go(path) };
}

function toGroups(named: readonly Named[], go: PaletteDeeds['go']): SpotlightActionGroupData[] {
  return Object.entries(kinds).flatMap(([kind, { group, icon: name, pathOf }]) => {
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
}
