/** Draws the console's icons: all with the same stroke and size. */

const paths = {
  overview: 'M4 19V9m5 10V5m5 14v-7m5 7V8',
  models: 'M12 3l8 4.5v9L12 21l-8-4.5v-9zM12 12l8-4.5M12 12v9M12 12L4 7.5',
  upstreams: 'M7 18a4 4 0 0 1-.5-8A6 6 0 0 1 18 9a4.5 4.5 0 0 1 0 9zM12 21v-8m-3 3l3-3 3 3',
  keys: 'M14.5 9.5a4.5 4.5 0 1 0-4 4.5L12 15.5h2v2h2v2h4v-3.5l-5.7-5.7z',
  explorer: 'M3 17l5-6 4 3 5-8M17.5 14a3.5 3.5 0 1 0 0 7 3.5 3.5 0 0 0 0-7zm2.5 6l2 2',
  requests: 'M8 6h12M8 12h12M8 18h12M4 6h.01M4 12h.01M4 18h.01',
  playground: 'M9 3h6M10 3v6l-5 9a2 2 0 0 0 2 3h10a2 2 0 0 0 2-3l-5-9V3M7.5 14h9',
  settings: 'M4 7h9m4 0h3M4 17h3m4 0h9M15 5v4M9 15v4',
  project: 'M3 7h7l2 2h9v10H3z',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zm9 16l-4-4',
  plus: 'M12 5v14M5 12h14',
  minus: 'M5 12h14',
  check: 'M5 12l5 5L20 7',
  close: 'M6 6l12 12M18 6L6 18',
  copy: 'M9 9h10v10H9zM5 15V5h10',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM12 2v2m0 16v2M2 12h2m16 0h2M5 5l1.5 1.5m11 11L19 19M5 19l1.5-1.5m11-11L19 5',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8 8 0 1 0 10.5 10.5z',
  screen: 'M3 5h18v11H3zM9 20h6M12 16v4',
  leave: 'M14 8V5H5v14h9v-3M10 12h11m-3-3l3 3-3 3',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  trash: 'M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13',
  edit: 'M4 20h4L19 9l-4-4L4 16z',
  play: 'M7 5l11 7-11 7z',
  pause: 'M8 5v14M16 5v14',
  stop: 'M6 6h12v12H6z',
  refresh: 'M20 11A8 8 0 0 0 6 6L4 8m0-4v4h4M4 13a8 8 0 0 0 14 5l2-2m0 4v-4h-4',
  undo: 'M9 7l-5 5 5 5M4 12h10a6 6 0 0 1 6 6',
  warning: 'M12 4l9 16H3zM12 10v4m0 3h.01',
  info: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 11v6m0-9.5h.01',
  help: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM9.5 9.5a2.5 2.5 0 1 1 3.5 2.3c-.7.3-1 .8-1 1.7m0 3h.01',
  chevron: 'M9 6l6 6-6 6',
  down: 'M6 9l6 6 6-6',
  up: 'M6 15l6-6 6 6',
  more: 'M6 12h.01M12 12h.01M18 12h.01',
  user: 'M12 12a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM4 21a8 8 0 0 1 16 0',
  users:
    'M9 12a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 20a6.5 6.5 0 0 1 13 0M16 5.3a3.5 3.5 0 0 1 0 6.4M18 14.2a6.5 6.5 0 0 1 3.5 5.8',
  clock: 'M12 4a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM12 8v4l3 2',
  eye: 'M2 12s3.6-6.5 10-6.5S22 12 22 12s-3.6 6.5-10 6.5S2 12 2 12zM12 9.5a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5z',
  eyeOff:
    'M4 4l16 16M10 5.7A10 10 0 0 1 12 5.5c6.4 0 10 6.5 10 6.5a17 17 0 0 1-3 3.6M6 7.4A16 16 0 0 0 2 12s3.6 6.5 10 6.5a10 10 0 0 0 4-.8M10 10a2.8 2.8 0 0 0 4 4',
  shield: 'M12 3l8 3v6c0 4.5-3.3 7.7-8 9-4.7-1.3-8-4.5-8-9V6zM9 12l2.2 2.2L15.5 10',
  passkey:
    'M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7zM2.5 19a6.5 6.5 0 0 1 9.5-5M17 12a2.5 2.5 0 1 0 0-5 2.5 2.5 0 0 0 0 5zm0 0v8l2-1.5-1.2-1.5L19 15.5',
  bolt: 'M13 3L5 14h6l-1 7 8-11h-6z',
  download: 'M12 4v11m-5-5l5 5 5-5M4 20h16',
  upload: 'M12 20V9m-5 5l5-5 5 5M4 4h16',
  filter: 'M4 5h16l-6 8v6l-4-2v-4z',
  ban: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM5.6 5.6l12.8 12.8',
  link: 'M10 14a4 4 0 0 0 5.7 0l3-3a4 4 0 0 0-5.7-5.7l-1 1M14 10a4 4 0 0 0-5.7 0l-3 3a4 4 0 0 0 5.7 5.7l1-1',
  code: 'M9 7l-5 5 5 5M15 7l5 5-5 5',
  money: 'M12 3v18M16.5 7.5A4 4 0 0 0 12.5 5h-1a3.2 3.2 0 0 0 0 6.5h1a3.4 3.4 0 0 1 0 6.9h-1a4.2 4.2 0 0 1-4.2-2.6',
  heat: 'M4 4h5v5H4zM9.5 9.5h5v5h-5zM15 15h5v5h-5zM15 4h5v5h-5zM4 15h5v5H4z',
  live: 'M3 12h4l3-7 4 14 3-7h4',
} as const;

export type IconName = keyof typeof paths;

export const Icon = ({ name, size = 18 }: { readonly name: IconName; readonly size?: number }) => (
  <svg
    width={size}
    height={size}
    viewBox="0 0 24 24"
    fill="none"
    stroke="currentColor"
    strokeWidth={1.8}
    strokeLinecap="round"
    strokeLinejoin="round"
    aria-hidden="true"
    focusable="false"
  >
    <path d={paths[name]} />
  </svg>
);

/** Postern's mark: a small gate. */
export const Mark = ({ size = 24 }: { readonly size?: number }) => (
  <svg width={size} height={size} viewBox="0 0 32 32" aria-hidden="true" focusable="false">
    <rect width="32" height="32" rx="7" fill="#0f766e" />
    <path d="M9 25V14a7 7 0 0 1 14 0v11" fill="none" stroke="#fff" strokeWidth="3" strokeLinecap="round" />
    <circle cx="19" cy="18.5" r="1.7" fill="#fff" />
  </svg>
);
