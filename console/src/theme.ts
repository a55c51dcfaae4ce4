/** How the console looks: one accent, quiet surfaces, the reader's own fonts. */

import { createTheme } from '@mantine/core';

const toggle = { 'aria-label': 'Show or hide the password', tabIndex: 0 };

export const theme = createTheme({
  // White is read on it at 5.4:1, whichever the scheme.
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
    // What these say to those who do not see their cross.
    Modal: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Drawer: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close this message' } } },
    PasswordInput: { defaultProps: { visibilityToggleButtonProps: toggle } },
  },
});
