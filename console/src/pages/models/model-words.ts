/** Defines the labels of the Models page. */

import type { Model, ModelTarget, Operation } from '../../../../src/admin/contract.ts';
import { operationWords, refusesHidden } from '../../parts/words/operations.ts';

export const factorWords = {
  service_tier: { label: 'By how soon it answers', example: 'priority: 2' },
  speed: { label: 'By how fast it writes', example: 'fast: 6' },
  inference_geo: { label: 'By where it works', example: 'us: 1.1' },
} as const;

/** What hiding the model means for its clients. */
export function hiddenInWords({ operations: served }: Pick<Model, 'operations'>): string {
  const closed = served.filter(refusesHidden);
  const open = served.filter((operation) => !refusesHidden(operation));
  if (open.length === 0) return 'Hidden, it answers as if there were no such model.';
  const opens = `Hidden, lists leave it out, and ${inSeries(open)} still answer to its exact name.`;
  return closed.length === 0 ? opens : `${opens} On ${inSeries(closed)} it is as if there were no such model.`;
}

const inSeries = (served: readonly Operation[]): string => {
  const words = served.map((operation) => operationWords[operation].toLowerCase());
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`;
};

type Health = ModelTarget['health'];
type Shown = Health | ModelTarget['shown'];
const worstFirst: readonly Shown[] = [
  ...['failing', 'cooldown', 'resting', 'loading', 'probing', 'degraded', 'healthy', 'untested'],
] as const;

/** The state to show for a target: the result of its calls, or its health while it is neither healthy nor unknown. */
export const shownOf = ({ health, shown }: ModelTarget): Shown =>
  health === 'healthy' || health === 'unknown' ? shown : health;

interface HealthWords {
  readonly state: Shown;
  /** Replaces the state's default label. */
  readonly label: string | undefined;
  /** Why the target is in this state; empty if there is no reason. */
  readonly why: string;
}

export function healthOf(targets: readonly ModelTarget[]): HealthWords {
  const called = targets.filter(({ weight }) => weight > 0);
  const bad = called.filter(({ health }) => health === 'failing' || health === 'resting');
  const why = bad.map(whyOf).join(' ');
  const states = called.map(shownOf);
  const isInPart = bad.length > 0 && bad.length < called.length;
  return {
    state: worstFirst.find((one) => states.includes(one)) ?? 'untested',
    label: isInPart ? `${bad.length} of ${called.length} unavailable` : undefined,
    why,
  };
}

/** The reason as a sentence, such as "openai is in cooldown: connection refused." */
function whyOf({ upstream, nodes, health }: ModelTarget): string {
  const worst = nodes.find(({ state }) => state === health);
  const verb = health === 'resting' ? 'is in cooldown' : health === 'failing' ? 'fails' : 'is tried again';
  return `${upstream} ${verb}${worst?.why ? `: ${worst.why}` : ''}.`;
}
