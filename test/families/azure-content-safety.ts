/** Fixture of Azure AI Content Safety, by its REST API of 2024-09-01. */

import * as z from 'zod';
import { defineFixture, type WireCall, type WireReply } from './fixture.ts';
import { moderated, verdict } from './moderation-shapes.ts';
import { isViolent } from './wire.ts';

const path = '/contentsafety/text:analyze?api-version=2024-09-01';
const categories = ['Hate', 'SelfHarm', 'Sexual', 'Violence'] as const;

const analyzeBody = z.object({
  text: z.string().max(10_000),
  categories: z.array(z.enum(categories)).optional(),
  blocklistNames: z.array(z.string()).optional(),
  haltOnBlocklistHit: z.boolean().optional(),
  outputType: z.enum(['FourSeverityLevels', 'EightSeverityLevels']).optional(),
});

function analysis(severities: readonly number[]): object {
  return {
    blocklistsMatch: [],
    categoriesAnalysis: categories.map((category, index) => ({ category, severity: severities[index] ?? 0 })),
  };
}

const mild =
  '{"blocklistsMatch":[],"categoriesAnalysis":[{"category":"Hate","severity":0},{"category":"SelfHarm","severity":0},{"category":"Sexual","severity":0},{"category":"Violence","severity":0}]}';
const bad =
  '{"blocklistsMatch":[],"categoriesAnalysis":[{"category":"Hate","severity":6},{"category":"SelfHarm","severity":0},{"category":"Sexual","severity":0},{"category":"Violence","severity":3}]}';
const listed =
  '{"blocklistsMatch":[{"blocklistName":"ours","blocklistItemId":"1","blocklistItemText":"x"}],"categoriesAnalysis":[{"category":"Hate","severity":3}]}';

export default defineFixture({
  family: 'azure-content-safety',
  model: 'text',

  service(call: WireCall): WireReply {
    if (call.path !== path) {
      return { status: 404, body: { error: { code: 'NotFound', message: 'Resource not found.' } } };
    }
    if (call.header('ocp-apim-subscription-key') === undefined) {
      return {
        status: 401,
        body: { error: { code: '401', message: 'Access denied due to invalid subscription key.' } },
      };
    }
    const { text } = analyzeBody.parse(call.body);
    return { body: analysis([0, 0, 0, isViolent(text) ? 4 : 0]) };
  },

  error: (status, message) => ({ status, body: { error: { code: 'InvalidRequestBody', message } } }),

  pairs: [
    {
      name: 'each text is one call, severities become scores, and a severity of 2 or more flags the text',
      route: '/v1/moderations',
      ask: { model: 'm', input: ['mild', 'bad'] },
      wire: [
        {
          path,
          body: { text: 'mild', outputType: 'FourSeverityLevels' },
          headers: { 'ocp-apim-subscription-key': 'sk-service-0123456789', authorization: null },
          reply: { body: mild },
        },
        { path, body: { text: 'bad', outputType: 'FourSeverityLevels' }, reply: { body: bad } },
      ],
      answer: {
        headers: { 'x-postern-translated': 'azure-content-safety' },
        body: moderated('text', [
          verdict(
            false,
            { hate: [false, '0'], 'self-harm': [false, '0'], sexual: [false, '0'], violence: [false, '0'] },
            mild,
          ),
          verdict(
            true,
            { hate: [true, '1'], 'self-harm': [false, '0'], sexual: [false, '0'], violence: [true, '0.5'] },
            bad,
          ),
        ]),
      },
    },
    {
      name: 'supports a higher threshold, Entra authentication, eight severity levels and a block list',
      route: '/v1/moderations',
      ask: {
        model: 'm',
        input: 'x',
        outputType: 'EightSeverityLevels',
        blocklistNames: ['ours'],
        categories: ['Hate'],
      },
      upstream: { options: { threshold: 4, auth: 'entra', api_version: '2023-10-01' } },
      wire: [
        {
          path: '/contentsafety/text:analyze?api-version=2023-10-01',
          body: { text: 'x', outputType: 'EightSeverityLevels', blocklistNames: ['ours'], categories: ['Hate'] },
          headers: { authorization: 'Bearer sk-service-0123456789', 'ocp-apim-subscription-key': null },
          reply: { body: listed },
        },
      ],
      answer: { body: moderated('text', [verdict(true, { hate: [false, String(3 / 7)] }, listed)]) },
    },
    {
      name: "Azure's errors are returned in OpenAI's shape",
      route: '/v1/moderations',
      ask: { model: 'm', input: 'x' },
      wire: [
        {
          path,
          body: { text: 'x', outputType: 'FourSeverityLevels' },
          reply: {
            status: 400,
            body: { error: { code: 'InvalidRequestBody', message: 'The text is too long.', details: [] } },
          },
        },
      ],
      answer: {
        status: 400,
        body: {
          error: {
            message: 'The text is too long.',
            type: 'invalid_request_error',
            param: null,
            code: 'upstream_refused',
            upstream: {
              error: { code: 'InvalidRequestBody', message: 'The text is too long.', details: [] },
            },
          },
        },
      },
    },
  ],
});
