/** `npm run new:family NAME [-- --root DIR]`: writes the family file and fixture of a new OpenAI-compatible family. */

import { existsSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';

const { values, positionals } = parseArgs({
  options: { root: { type: 'string', default: '.' } },
  allowPositionals: true,
});
const [name = '', ...others] = positionals;
if (!/^[a-z][a-z0-9]*(-[a-z0-9]+)*$/.test(name) || others.length > 0) {
  console.error('npm run new:family NAME: one name in lower case, such as "together" or "azure-search"');
  process.exit(1);
}

const title = name
  .split('-')
  .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
  .join(' ');

const family = `/** Declares ${title} as an upstream family. */

import { openaiCompatible } from './wire-formats/openai-compatible.ts';

export default openaiCompatible({
  id: '${name}',
  title: '${title}',
  baseUrl: 'https://api.${name}.example',
  at: '/v1',
  starter: { apiKeyEnv: '${name.toUpperCase().replaceAll('-', '_')}_API_KEY', models: [] },
  modelList: '/v1/models',
  // Each operation is offered where it has facts: completions (and with them chat), embeddings, rerank. Chat alone: hasChat: true.
  embeddings: { maxItems: 96, facts: 'texts; 96 a call (unverified)' },
});
`;

const fixture = `/** ${title}, by its documentation. */

import * as z from 'zod';
import { defineFixture, type WireCall, type WireReply } from './fixture.ts';
import { anyInput, embeddingsOf, text, toTexts } from './openai-shapes.ts';

const model = 'embed-1';

/** What the service accepts: as strict as it is. */
const embeddingsBody = z.strictObject({
  model: text,
  input: anyInput,
  dimensions: z.int().min(1).nullish(),
  encoding_format: z.enum(['float', 'base64']).nullish(),
  user: text.nullish(),
});

export default defineFixture({
  family: '${name}',
  model,
  takesTokenIds: true,

  service({ path, body }: WireCall): WireReply {
    if (path !== '/v1/embeddings') return { status: 404, body: '' };
    const asked = embeddingsBody.parse(body);
    return embeddingsOf(toTexts(asked.input), asked);
  },

  error: (status, message) => ({ status, body: { error: { message, type: 'invalid_request_error' } } }),

  pairs: [
    {
      name: 'embeddings pass; only the name of the model changes',
      route: '/v1/embeddings',
      ask: '{"model":"m","input":"a"}',
      wire: [
        {
          path: '/v1/embeddings',
          body: \`{"model":"\${model}","input":"a"}\`,
          reply: { body: '{"object":"list","data":[{"embedding":[0.50,1.0],"index":0}]}' },
        },
      ],
    },
    {
      name: 'the legacy engines path goes to the embeddings',
      route: '/v1/engines/m/embeddings',
      ask: '{"input":"a"}',
      wire: [
        {
          path: '/v1/embeddings',
          body: { model, input: 'a' },
          reply: { body: '{"object":"list","data":[{"embedding":[1],"index":0}]}' },
        },
      ],
    },
  ],
});
`;

const files = { [`src/families/${name}.ts`]: family, [`test/families/${name}.ts`]: fixture };
for (const path of Object.keys(files)) {
  if (!existsSync(join(values.root, path))) continue;
  console.error(`${path} is there already`);
  process.exit(1);
}
for (const [path, content] of Object.entries(files)) writeFileSync(join(values.root, path), content);
console.log(`${Object.keys(files).join('\n')}

Next: change base URL, facts and limits to those of the service, and record pairs of its real requests and answers. Then:
  node --test --test-name-pattern=${name} test/conformance/families.test.ts
  npm run generate && npm run check`);
