/** `postern drift`: shows whether models have changed, and agree with their shadows, as the running nodes report it. */

import { acceptAsItIs, type CanaryState, type ShadowAgreement } from '../core/drift.ts';
import { reportMaxAgeMs } from '../core/store/health.ts';
import { UserFault } from '../core/user-fault.ts';
import { type OpenConfiguration, openLeniently } from '../serve/configuration.ts';
import { actionsOf } from './actions.ts';
import type { Command, CommandContext } from './command.ts';
import { printJson, printTable } from './output.ts';

const command = actionsOf('drift', openLeniently, {
  show: { usage: 'show [--json]', prepare: show },
  accept: { usage: 'accept --model M', prepare: accept },
});

export const drift: Command = {
  ...command,
  // Without an action it shows.
  run: (context) => command.run(context.positionals.length === 0 ? { ...context, positionals: ['show'] } : context),
};

function show({ values, stdout }: CommandContext) {
  return async ({ store }: OpenConfiguration) => {
    const reports = await store.health.latest(reportMaxAgeMs);
    const nodes = reports.flatMap(({ node, drift: said }) => (said === undefined ? [] : [{ node, ...said }]));
    if (printJson({ values, stdout }, nodes)) return;
    const canaries = nodes.flatMap(({ node, canaries: states }) => states.map((state) => toCanaryLine(node, state)));
    const shadows = nodes.flatMap(({ node, shadows: states }) => states.map((state) => toShadowLine(node, state)));
    if (canaries.length > 0) {
      const head = ['MODEL', 'UPSTREAM', 'AGREEMENT', 'CHECKED', 'STATE', 'NODE'];
      printTable(head, canaries, stdout);
    }
    if (canaries.length > 0 && shadows.length > 0) stdout('');
    if (shadows.length > 0) {
      const head = ['MODEL', 'SHADOW', 'COMPARED', 'FAILED', 'COSINE', 'NEIGHBOURS', 'RANKS', 'VERDICTS', 'NODE'];
      printTable(head, shadows, stdout);
    }
    if (canaries.length + shadows.length > 0) return;
    stdout(
      nodes.length === 0
        ? 'No gateway with this store is running, so nothing is known.'
        : 'No model has a canary (models[].canary), or a shadow that was asked yet (models[].shadow).',
    );
  };
}

function toCanaryLine(node: string, state: CanaryState): string[] {
  const { model, upstream, upstreamModel, agreement, checkedAtS, hasChanged, failure } = state;
  const checked = checkedAtS === null ? '-' : new Date(checkedAtS * 1_000).toISOString();
  const word = hasChanged ? 'CHANGED' : failure === null ? (checkedAtS === null ? 'not yet' : 'as it was') : failure;
  return [model, `${upstream}: ${upstreamModel}`, toText(agreement), checked, word, node];
}

function toShadowLine(node: string, state: ShadowAgreement): string[] {
  const { model, shadow, compared, failed, cosine, overlap, ranks, verdicts } = state;
  return [model, shadow, String(compared), String(failed), ...[cosine, overlap, ranks, verdicts].map(toText), node];
}

const toText = (value: number | null): string => (value === null ? '-' : value.toFixed(4));

function accept({ values, stdout }: CommandContext) {
  const { model: id } = values;
  if (typeof id !== 'string' || id === '') throw new UserFault('name the model: postern drift accept --model M');
  return async ({ store, loaded }: OpenConfiguration) => {
    const model = loaded.snapshot.models.all.find((one) => one.id === id);
    if (model?.canary === undefined) throw new UserFault(`there is no model "${id}" with a canary (models[].canary)`);
    await acceptAsItIs(store.settings, model, 'cli');
    stdout(`The next canary vectors of "${id}" become its new reference.`);
  };
}
