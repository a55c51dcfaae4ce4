/** The default log settings. */

import type { LogSettings } from '../../../src/core/snapshot.ts';

export const standardLog: LogSettings = {
  level: 'info',
  format: 'json',
  fields: 'postern',
  access: { errors: true, share: 1, slowMs: undefined },
  file: undefined,
};
