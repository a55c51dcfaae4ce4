/** Serves the OpenAI API also below the base paths that clients use for Ollama and OpenRouter. */

import { defineClientApi } from '../core/client-api.ts';
import { isOpenai } from '../core/label.ts';
import { withOrWithoutTag } from './ollama.ts';

const bases = ['/ollama', '/api'];
const version = '/v1/';

export default defineClientApi({
  id: 'openai-bases',
  title: "OpenAI's API at the base URLs of Ollama and OpenRouter",
  prefix: '/ollama/v1',
  grounds: ['/api/v1/'],
  modelLists: bases.map((base) => `${base}/v1/models`),
  standsFor({ path, label }) {
    const isThere = (isOpenai(label) || label === 'anthropic') && path.startsWith(version) && !path.includes('{');
    return isThere ? bases.map((base) => base + path) : [];
  },
  otherNames: withOrWithoutTag,
});
