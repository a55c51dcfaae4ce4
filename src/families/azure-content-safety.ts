/** Declares Azure AI Content Safety as an upstream family: it moderates one text per call, in four categories with severities. */

import { bearer, defineFamily } from '../core/family.ts';
import { Unfit } from '../core/translation.ts';
import type { Json } from '../lib/json/json-text.ts';
import { azureCategories, categoriesOf } from './wire-formats/moderations/moderation-categories.ts';
import { type Finding, translateModerations } from './wire-formats/moderations/moderations.ts';
import { countIn, listIn, objectIn } from './wire-formats/reading.ts';

const fourLevels = 'FourSeverityLevels';

const translation = translateModerations({
  limits: { items: 1 },
  own: ['categories', 'blocklistNames', 'haltOnBlocklistHit', 'outputType'],
  write: ({ texts, more }) => ({ body: { outputType: fourLevels, ...more, text: texts[0] ?? '' } }),
  read({ body }, { asked, more }) {
    const answer = objectIn(body, 'the answer');
    const { categoriesAnalysis: analysis, blocklistsMatch: matches } = answer;
    const from = Number(asked.options.threshold);
    const worst = (more.outputType ?? fourLevels) === fourLevels ? 6 : 7;
    const findings = listIn(analysis, 'categoriesAnalysis').map((one) => toFinding(one, from, worst));
    const isListed = listIn(matches ?? [], 'blocklistsMatch').length > 0;
    if (isListed) findings.push({ categories: [], isFlagged: true });
    if (findings.length === 0) throw new Unfit('no category was judged');
    return { judgements: [{ findings, original: answer }] };
  },
});

function toFinding(analysis: Json, from: number, worst: number): Finding {
  const { category, severity } = objectIn(analysis, 'an analysis');
  const level = countIn(severity);
  if (typeof category !== 'string') throw new Unfit('an analysis has no category');
  if (level === undefined || level > worst) throw new Unfit(`a severity is no level from 0 to ${worst}`);
  return {
    categories: categoriesOf(azureCategories, category) ?? [],
    isFlagged: level >= from,
    score: level / worst,
  };
}

export default defineFamily({
  id: 'azure-content-safety',
  title: 'Azure AI Content Safety',
  environment: ['CONTENT_SAFETY_KEY'],
  versions: ['/contentsafety'],
  options: {
    threshold: {
      description: 'The lowest severity that flags a text: 2 is low, 4 medium, 6 high.',
      values: ['1', '2', '3', '4', '5', '6'],
      default: '2',
    },
    auth: {
      description: 'Kind of `api_key`: a `key` of the resource, or a token of Microsoft `entra`.',
      values: ['key', 'entra'],
      default: 'key',
    },
    api_version: { description: 'The version of its API.', default: '2024-09-01' },
  },
  auth: ({ auth }) => (auth === 'entra' ? bearer() : { header: 'ocp-apim-subscription-key', prefix: '' }),
  errors: {},
  offers: {
    openai: {
      moderations: {
        path: '/contentsafety/text:analyze?api-version={api_version}',
        translation,
        facts:
          'a call for each text; text only; 10,000 characters each (unverified); a score is the severity divided by the highest severity',
      },
    },
  },
});
