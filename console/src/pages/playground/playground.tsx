/** Shows the Playground page, where every route of the gateway can be tried. */

import './playground.css';
import { Button, Group, PasswordInput, Popover, Skeleton, Stack, Tabs, Text } from '@mantine/core';
import { type ComponentType, lazy, Suspense, useState } from 'react';
import { useLocation, useSearchParams } from 'wouter';
import { canBeShown, type GatewayRoute, type Operation, operations } from '../../../../src/admin/contract.ts';
import { Action } from '../../parts/layout/button.tsx';
import { PageHead, TabRow } from '../../parts/layout/page-head.tsx';
import { readShared } from '../../parts/snippets/share.ts';
import { toPattern } from './call-text.ts';
import type { TabProps } from './operation-tab.tsx';
import { OwnKey } from './use-call.ts';

/** A route as the page shows it. */
interface TabEntry {
  readonly route: GatewayRoute;
  /** Other routes that are tried in the same tab. */
  readonly also?: readonly GatewayRoute[];
  readonly title: string;
  /** One sentence for readers who do not know the route. */
  readonly about: string;
  readonly component: ComponentType<TabProps>;
}

const embeddings = () => import('./embeddings/embeddings-tab.tsx');

const ownTabs: readonly TabEntry[] = [
  {
    route: 'rerank',
    title: 'Rerank',
    about: 'Puts documents in the order in which they answer a question. Search first, then let this pick the best.',
    component: lazy(() => import('./rerank/rerank-tab.tsx')),
  },
  {
    route: 'embeddings',
    title: 'Embeddings',
    about: 'Turns texts into lists of numbers, so that a computer can tell how alike two texts are.',
    component: lazy(async () => ({ default: (await embeddings()).EmbeddingsTab })),
  },
  {
    route: 'chat',
    also: ['responses', 'messages'],
    title: 'Chat',
    about: 'Talks with a model, or with two at once, and shows each word as it is written.',
    component: lazy(() => import('./chat/chat-tab.tsx')),
  },
  {
    route: 'images',
    also: ['image_edits', 'image_variations'],
    title: 'Images',
    about: 'Makes pictures from words, or from other pictures, and shows them.',
    component: lazy(() => import('./images/images-tab.tsx')),
  },
  {
    route: 'speech',
    title: 'Speech',
    about: 'Reads a text aloud, to be heard and saved.',
    component: lazy(() => import('./audio/speech-tab.tsx')),
  },
  {
    route: 'transcriptions',
    also: ['translations'],
    title: 'Transcription',
    about: 'Writes down what is said in a recording: as it was said, or in English.',
    component: lazy(() => import('./audio/transcription-tab.tsx')),
  },
  {
    route: 'moderations',
    title: 'Moderation',
    about: 'Says whether a text is harmful, and of which kind, before it is shown or answered.',
    component: lazy(() => import('./moderations/moderations-tab.tsx')),
  },
  {
    route: 'edits',
    title: 'Edits',
    about: 'Changes a text as an instruction says, and shows every word that went or came.',
    component: lazy(() => import('./edits/edits-tab.tsx')),
  },
  {
    route: 'completions',
    title: 'Completions',
    about: 'Writes on from where a text ends, word by word as it is made.',
    component: lazy(() => import('./completions/completions-tab.tsx')),
  },
  {
    route: 'engines-embeddings',
    title: 'Embeddings, legacy path',
    about: 'The same as embeddings, at the address that older clients use: the model stands in the path.',
    component: lazy(async () => ({ default: (await embeddings()).LegacyEmbeddingsTab })),
  },
];

const isInOwnTab = (operation: Operation): boolean =>
  ownTabs.some(({ route, also = [] }) => route === operation || also.includes(operation));

/** Operations without a tab of their own that can be tried; they share one tab. */
const [other, ...others] = operations.filter((one) => canBeShown(one) && !isInOwnTab(one));

const tabs: readonly TabEntry[] =
  other === undefined
    ? ownTabs
    : [
        ...ownTabs,
        {
          route: other,
          also: others,
          title: 'Any route',
          about: 'Sends a body as you write it, to any route that takes JSON, and shows what comes.',
          component: lazy(() => import('./any/any-tab.tsx')),
        },
      ];

export default function Playground() {
  const [search] = useSearchParams();
  const [location, go] = useLocation();
  const [ownKey, setOwnKey] = useState('');
  // `/playground/chat`; older links have the route in the query.
  const asked = location.split('/')[2] ?? search.get('route');
  const entry = tabs.find(({ route, also = [] }) => [route, ...also].some((one) => one === asked)) ?? tabs[0];
  if (entry === undefined) return null;
  const { component: Tab, route, also = [] } = entry;
  const shared = readShared(search.get('values'));
  const open = (next: string | null): void => go(`/playground/${next ?? route}`, { replace: true });

  return (
    <OwnKey value={ownKey === '' ? undefined : ownKey}>
      <PageHead title="Playground" about="Send something through the gateway, and look at what comes back.">
        <KeyChoice value={ownKey} onChange={setOwnKey} />
      </PageHead>
      <Tabs value={route} onChange={open} keepMounted={false}>
        <TabRow tabs={tabs.map((tab) => ({ value: tab.route, title: tab.title }))} selected={route} />
        <Tabs.Panel value={route}>
          <Group justify="space-between" gap="xs" mb="md">
            <Text c="dimmed">{entry.about}</Text>
            <Text component="code" size="xs" c="dimmed" className="play-path">
              {[route, ...also].map(toPattern).join(', ')}
            </Text>
          </Group>
          <Suspense fallback={<Skeleton height={420} radius="md" />}>
            <Tab
              key={`${route} ${search.get('values')}`}
              wantedModel={search.get('model') ?? undefined}
              wantedRoute={asked === route ? undefined : also.find((one) => one === asked)}
              wantedValues={shared}
            />
          </Suspense>
        </Tabs.Panel>
      </Tabs>
    </OwnKey>
  );
}

/** Chooses the key for calls: the playground's own, or one typed here, which is not stored. */
const KeyChoice = ({ value, onChange }: { readonly value: string; onChange(value: string): void }) => (
  <Popover width={340} position="bottom-end" trapFocus withinPortal>
    <Popover.Target>
      <Action icon="keys" label={value === '' ? "Key: the playground's own" : 'Key: your own'} />
    </Popover.Target>
    <Popover.Dropdown>
      <Stack gap="sm">
        <Text size="sm">
          Calls go through the gateway like any client's: they count against limits and budgets, and stand in the
          ledger. The playground has a key of its own; it is listed with the other keys, where it can be capped.
        </Text>
        <PasswordInput
          label="Use another key"
          description="To see what its owner sees. It is forgotten with this page."
          placeholder="pst_…"
          autoComplete="off"
          value={value}
          onChange={(event) => onChange(event.currentTarget.value.trim())}
        />
        <Group justify="flex-end">
          <Button variant="default" size="xs" disabled={value === ''} onClick={() => onChange('')}>
            Use the playground's own
          </Button>
        </Group>
      </Stack>
    </Popover.Dropdown>
  </Popover>
);
