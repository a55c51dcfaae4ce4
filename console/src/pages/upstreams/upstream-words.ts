/** Defines the labels of the Upstreams page. */

import type { FamilyFacts, Upstream } from '../../../../src/admin/contract.ts';
import type { Status } from '../../parts/marks/status.tsx';
import { formatDuration } from '../../parts/words/format.ts';
import { stateWords as fieldWords } from '../../parts/words/labels.ts';

export const wayWords = {
  passes: 'passed on byte for byte',
  adapts: 'passed on, and adapted where it has to be',
  translated: 'translated',
  'made here': 'answered inside the gateway',
} as const satisfies Record<FamilyFacts['offers'][number]['way'], string>;

export interface StateWords {
  readonly state: Status;
  readonly label: string;
  readonly why: string;
}

/** What a circuit's state means: whether calls go there, why not, and until when. */
export function stateWords(
  upstream: Pick<Upstream, 'state' | 'shown' | 'cause' | 'why' | 'restsForMs' | 'models' | 'inForce'>,
): StateWords {
  const { state, shown, cause, why, restsForMs, models, inForce } = upstream;
  if (!inForce) return { state: 'pending', label: 'Taking effect', why: 'It was just saved.' };
  if (models.length === 0)
    return { state: 'off', label: 'No models yet', why: 'No model uses it, so nothing is sent there.' };
  const because = why === null ? '' : ` Why: ${why}.`;
  switch (state) {
    case 'probing':
      return {
        state,
        label: 'Trying again',
        why: `It was in cooldown, and the next call shows whether it is back.${because}`,
      };
    case 'loading':
      return {
        state,
        label: 'Loading its model',
        why: `It said that it is not ready yet, and a call tries every few seconds whether it is.${because}`,
      };
    case 'resting':
      return {
        state,
        label:
          restsForMs > 0 ? `In cooldown, ${formatDuration(Math.ceil(restsForMs / 1000) * 1000)} more` : 'In cooldown',
        why: `It failed, so no calls go there for a while; other targets take them.${because}`,
      };
    case 'failing':
      return { state, label: 'Failing', why: `It fails, and is called all the same, as there is no other.${because}` };
    case 'healthy':
    case 'unknown':
      return {
        state: shown,
        label: fieldWords[shown],
        why: shown === 'untested' ? 'No call went there lately, and nothing looked after it.' : (cause ?? ''),
      };
  }
}

/** Removes the backquotes around code in a family's facts, for plain text. */
export const plain = (text: string): string => text.replaceAll('`', '');
