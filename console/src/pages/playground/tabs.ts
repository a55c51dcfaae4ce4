/** The routes as the page offers them: what each is for. */

import { type ComponentType, lazy } from 'react';
import { canBeShown, type GatewayRoute, type Operation, operations } from '../../../../src/admin/contract.ts';
import type { TabProps } from './tab-props.ts';

export interface TabEntry {
  readonly route: GatewayRoute;
  /** Those that are tried here as well. */
  readonly also?: readonly GatewayRoute[];
  readonly title: string;
  /** In a sentence, for people who do not know it. */
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

/** Whatever has no tab of its own can be tried all the same. */
const [other, ...others] = operations.filter((one) => canBeShown(one) && !isInOwnTab(one));

export const tabs: readonly TabEntry[] =
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
