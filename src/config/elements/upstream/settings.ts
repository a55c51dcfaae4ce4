/** Lists simple settings of an upstream, each with its schema and compiled value. */

import type * as z from 'zod';
import type { UpstreamSettings } from '../../../core/snapshot.ts';
import { mapping, oneOf, size } from '../fields.ts';

export const plainFields = {
  model_list: oneOf(['read', 'ignore'])
    .default('read')
    .describe('Whether its model list is read hourly, to report missing targets.'),
  answer_limit: size(1024, 1024 ** 3)
    .prefault('64MiB')
    .describe('Maximum size of a translated response.'),
};

const plainSchema = mapping(plainFields);

export function toSettings(written: z.output<typeof plainSchema>): UpstreamSettings {
  return {
    readsModelList: written.model_list === 'read',
    answerLimitBytes: written.answer_limit,
  };
}
