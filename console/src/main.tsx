/** Starts the console: theme, data client, and the shell around the pages. */

import '@mantine/core/styles.css';
import '@mantine/notifications/styles.css';
import '@mantine/spotlight/styles.css';
import './console.css';
import { createTheme, MantineProvider } from '@mantine/core';
import { Notifications } from '@mantine/notifications';
import { QueryClient, QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app.tsx';
import { ApiError } from './parts/api/client.ts';

const toggle = { 'aria-label': 'Show or hide the password', tabIndex: 0 };

/** The look of the console: one accent colour, quiet surfaces, the reader's own fonts. */
const theme = createTheme({
  // White text on it has a contrast of 5.4:1 in both colour schemes.
  primaryColor: 'teal',
  primaryShade: 7,
  colors: {
    teal: [
      '#f0fdfa',
      '#ccfbf1',
      '#99f6e4',
      '#5eead4',
      '#2dd4bf',
      '#14b8a6',
      '#0d9488',
      '#0f766e',
      '#115e59',
      '#134e4a',
    ],
  },
  autoContrast: true,
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // The screen reader label of the close button.
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close this message' } } },
    // Wherever content overflows the scroll bar is visible, so that users notice it.
    ScrollArea: { defaultProps: { type: 'auto', offsetScrollbars: 'present' } },
    PasswordInput: { defaultProps: { visibilityToggleButtonProps: toggle } },
  },
});

const freshMs = 5_000;
const mostRetries = 2;

const createQueries = (): QueryClient =>
  new QueryClient({
    defaultOptions: {
      // The gateway may run on this machine, so requests are sent even without a network.
      mutations: { networkMode: 'always' },
      queries: {
        networkMode: 'always',
        staleTime: freshMs,
        retry: (failures, error) =>
          failures < mostRetries && !(error instanceof ApiError && error.status >= 400 && error.status < 500),
      },
    },
  });

const root = document.getElementById('root');
if (root === null) throw new Error('the page has no root');
const nonce = document.querySelector<HTMLMetaElement>('meta[name="csp-nonce"]')?.content ?? '';
const queries = createQueries();
// While a dialog is open, its library adds a style against scrolling; it looks for that style's nonce under this name.
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
