/** `postern models`: lists models with targets, visibility and health. */

import type { Target } from '../core/snapshot.ts';
import { reportMaxAgeMs } from '../core/store/health.ts';
import type { HealthReport, TargetState } from '../core/target-state.ts';
import { openIfThere } from '../serve/configuration.ts';
import { commandOf, configUsage } from './command.ts';
import { faultless, printJson, printTable } from './output.ts';

export const models = commandOf('models', `${configUsage} --json`, async (context) => {
  const { stdout } = context;
  const { loaded, store } = faultless(await openIfThere(context));
  const reports = (await store?.health.latest(reportMaxAgeMs).finally(() => store.close())) ?? [];
  const rows = loaded.snapshot.models.all.map((model) => {
    const { id, aliases, operations, visible, space = null, scores = null } = model;
    const targets = model.targets.map((target) => describe(target, reports));
    return { id, aliases, operations, visible, space, scores, targets };
  });
  if (printJson(context, rows)) return 0;
  const head = ['MODEL', 'ALIASES', 'OPERATIONS', 'VISIBLE', 'TARGET', 'HEALTH'];
  const lines = rows.flatMap(({ id, aliases, operations, visible, targets }) =>
    targets.map(({ upstream, model, health }, index) => [
      ...(index > 0
        ? ['', '', '', '']
        : [id, aliases.join(', ') || '-', operations.join(', '), visible ? 'yes' : 'no']),
      `${upstream}: ${model}`,
      toWords(health),
    ]),
  );
  printTable(head, lines, stdout);
  if (reports.length === 0) stdout('\nNo gateway with this store is running, so their health is unknown.');
  return 0;
});

type NodeHealth = Omit<TargetState, 'upstream' | 'model'> & { readonly node: string };

function describe(target: Target, reports: readonly HealthReport[]) {
  const { priority, weight, model } = target;
  const upstream = target.upstream.id;
  const health = reports.flatMap(({ node, targets }): NodeHealth[] => {
    const found = targets.find((state) => state.upstream === upstream && state.model === model);
    if (found === undefined) return [];
    const { upstream: _upstream, model: _model, ...state } = found;
    return [{ node, ...state }];
  });
  return { upstream, model, priority, weight, health };
}

function toWords(health: readonly NodeHealth[]): string {
  const [first] = health;
  if (first === undefined) return 'unknown';
  const words = health.map(inWords);
  // Nodes may differ; then each is named.
  if (words.every((word) => word === words[0])) return words[0] ?? '';
  return health.map((one) => `${one.node}: ${inWords(one)}`).join('; ');
}

function inWords(health: NodeHealth): string {
  const said = stateInWords(health);
  return health.isListed === false ? `${said}; not in the upstream's list` : said;
}

function stateInWords({ state, restsForMs, why, restingCredentials }: NodeHealth): string {
  const reason = why === undefined ? '' : ` (${why})`;
  if (state === 'resting') return `in cooldown${restsForMs > 0 ? ` ${Math.ceil(restsForMs / 1000)} s` : ''}${reason}`;
  if (state === 'failing') return `failing, but still called, as there is no alternative${reason}`;
  if (state === 'loading') return `loading, and probed until it is ready${reason}`;
  if (state === 'probing') return `probing${reason}`;
  return restingCredentials.length === 0 ? 'healthy' : `healthy; in cooldown: ${restingCredentials.join(', ')}`;
}
