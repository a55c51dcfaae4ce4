/** The lanes of calls at upstreams, as people know them. */

export const laneField = {
  label: 'Lane',
  description: 'Which calls go first at a busy upstream: interactive calls before bulk calls.',
  placeholder: 'Interactive',
  choices: [
    { value: 'interactive', label: 'Interactive' },
    { value: 'bulk', label: 'Bulk' },
  ],
};
