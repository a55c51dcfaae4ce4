/** Serves clients of Azure OpenAI's API: OpenAI's bodies on paths that name a deployment, with an API version in the query. */

import { defineClientApi } from '../core/client-api.ts';
import { GatewayError } from '../core/errors.ts';
import { isOpenai } from '../core/label.ts';

const versioned = '/v1/';
/** An API version of Azure: a date, or a word such as `preview`. */
const apiVersion = /^[A-Za-z0-9][A-Za-z0-9.-]{0,39}$/;

export default defineClientApi({
  id: 'azure',
  title: 'Azure OpenAI',
  prefix: '/openai',
  modelLists: ['/openai/models', '/openai/v1/models'],
  standsFor({ path, label }) {
    if (!isOpenai(label) || !path.startsWith(versioned) || path.includes('{')) return [];
    const rest = path.slice(versioned.length);
    return [`/openai/deployments/{model}/${rest}`, `/openai/v1/${rest}`, `/openai/${rest}`];
  },
  judgeQuery(query) {
    const versions = new URLSearchParams(query).getAll('api-version');
    if (versions.length <= 1 && versions.every((one) => apiVersion.test(one))) return;
    throw new GatewayError('unsupported_parameter', {
      param: 'api-version',
      message: 'The query parameter "api-version" is invalid; send a version, such as 2024-10-21, or none.',
    });
  },
});
