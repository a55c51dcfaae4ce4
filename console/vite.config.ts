/** Build configuration of the console: into `dist/`, with content hashes in file names for caching. */

import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

export default defineConfig({
  plugins: [react()],
  build: {
    target: 'es2023',
    assetsInlineLimit: 0,
    // Says which file needs which: what the first page weighs is counted by it.
    manifest: true,
    // What the bundle holds of others, with their licences: for the notices that go with the package.
    license: { fileName: '.vite/license.json' },
    // What a strict policy forbids: an inline script.
    modulePreload: { polyfill: false },
  },
  server: { proxy: { '/api': 'http://127.0.0.1:4001' } },
});
