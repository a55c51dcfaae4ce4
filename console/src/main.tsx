/** Where the console begins: theme, data, and the shell around the pages. */

import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import './console.css';
import { MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { createQueries } from './parts/api/queries.ts';
import { theme } from './theme.ts';

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
const queries = createQueries();
// Dialogs keep the page behind them from scrolling with a style of their own, which asks for the nonce by this name.
Object.assign(globalThis, { __webpack_nonce__: nonce });

createRoot(root).render(
  <StrictMode>
    <MantineProvider theme={theme} defaultColorScheme="auto" getStyleNonce={() => nonce}>
      <Notifications position="bottom-left" className="toasts" />
      <QueryClientProvider client={queries}>
        <App />
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>,
);
