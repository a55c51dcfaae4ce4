/** Lists all pages with path, title and lazily loaded code. */

import { lazy } from 'react';
import type { PageEntry } from '../parts/shell/navigation.tsx';

export const pages: readonly PageEntry[] = [
  {
    path: '/',
    letter: 'o',
    title: 'Overview',
    icon: 'overview',
    component: lazy(() => import('./overview/overview.tsx')),
    keywords: ['now', 'alerts', 'state', 'health'],
  },
  {
    path: '/explorer',
    letter: 'e',
    title: 'Explorer',
    icon: 'explorer',
    component: lazy(() => import('../parts/explorer/explorer.tsx')),
    keywords: ['requests', 'ledger', 'log', 'tail', 'charts', 'latency', 'errors', 'usage', 'cost'],
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
    path: '/playground',
    letter: 'p',
    title: 'Playground',
    icon: 'playground',
    component: lazy(() => import('./playground/playground.tsx')),
    keywords: ['try', 'rerank', 'embeddings', 'moderation', 'chat', 'images', 'speech', 'transcription', 'curl'],
  },
  {
    path: '/alerts',
    letter: 'l',
    title: 'Alerts',
    icon: 'warning',
    component: lazy(() => import('./alerts/alerts.tsx')),
    keywords: ['rules', 'channels', 'silence', 'slack', 'webhook'],
  },
  {
    path: '/audit',
    letter: 'a',
    title: 'Audit log',
    icon: 'file',
    component: lazy(() => import('./audit/audit.tsx')),
    keywords: ['changes', 'history', 'who'],
    role: 'admin',
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
