/** `postern models`: what is served, by whom, visible or not. */

import { loadConfiguration } from '../config/load.ts';
import type { Command } from './command.ts';
import { printFaults } from './faults.ts';
import { toTable } from './table.ts';

export const models: Command = {
  name: 'models',
  summary: 'Lists what is served, by whom, visible or not.',
  usage: 'models [--config F] [--json]',
  options: { config: { type: 'string' }, json: { type: 'boolean' } },
  async run({ values, env, cwd, families, stdout, stderr }) {
    const configPath = typeof values.config === 'string' ? values.config : undefined;
    const loaded = await loadConfiguration({ configPath, env, cwd, families });
    if (!loaded.ok) {
      printFaults(loaded, stderr);
      return 1;
    }
    const rows = loaded.snapshot.models.all.map(({ id, aliases, operations, visible, space, targets }) => ({
      id,
      aliases,
      operations,
      visible,
      space: space ?? null,
      targets: targets.map(({ upstream, model }) => `${upstream.id}: ${model}`),
    }));
    if (values.json === true) {
      stdout(JSON.stringify(rows, null, 2));
      return 0;
    }
    const head = ['MODEL', 'ALIASES', 'OPERATIONS', 'VISIBLE', 'TARGETS'];
    const lines = toTable(
      head,
      rows.map(({ id, aliases, operations, visible, targets }) => [
        id,
        aliases.join(', ') || '-',
        operations.join(', '),
        visible ? 'yes' : 'no',
        targets.join(', '),
      ]),
    );
    for (const line of lines) stdout(line);
    return 0;
  },
};
