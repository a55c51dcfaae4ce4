/** Every page: where it is, what it is called, and its code, which is loaded when it is first looked at. */

import { lazy } from 'react';
import type { PageEntry } from '../parts/shell/navigation.tsx';

export const pages: readonly PageEntry[] = [
  {
    path: '/',
    letter: 'o',
    title: 'Overview',
    icon: 'overview',
    component: lazy(() => import('./overview/overview.tsx')),
    keywords: ['live', 'charts', 'latency', 'errors'],
  },
  {
    path: '/models',
    letter: 'm',
    title: 'Models',
    icon: 'models',
    component: lazy(() => import('./models/models.tsx')),
    keywords: ['visible', 'hide', 'targets', 'price'],
  },
  {
    path: '/upstreams',
    letter: 'u',
    title: 'Upstreams',
    icon: 'upstreams',
    component: lazy(() => import('./upstreams/upstreams.tsx')),
    keywords: ['providers', 'credentials', 'health'],
  },
  {
    path: '/keys',
    letter: 'k',
    title: 'Keys and projects',
    icon: 'keys',
    component: lazy(() => import('./keys/keys.tsx')),
    keywords: ['secret', 'budget', 'limit', 'rotate'],
  },
  {
    path: '/requests',
    letter: 'r',
    title: 'Requests',
    icon: 'requests',
    component: lazy(() => import('./requests/requests.tsx')),
    keywords: ['ledger', 'log', 'tail'],
  },
  {
    path: '/playground',
    letter: 'p',
    title: 'Playground',
    icon: 'playground',
    component: lazy(() => import('./playground/playground.tsx')),
    keywords: ['try', 'rerank', 'embeddings', 'moderation', 'chat', 'images', 'speech', 'transcription', 'curl'],
  },
  {
    path: '/settings',
    letter: 's',
    title: 'Settings',
    icon: 'settings',
    component: lazy(() => import('./settings/settings.tsx')),
    keywords: ['members', 'tokens', 'passkeys', 'webhooks'],
  },
];
