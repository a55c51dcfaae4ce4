/** Hugging Face's client, pointed at an endpoint of one's own. */

import { InferenceClient, request, setLogger } from '@huggingface/inference';
import * as z from 'zod';
import { defineClient, type Gateway } from '../matrix/client.ts';

const connect = ({ url, key }: Gateway, path = '') => new InferenceClient(key, { endpointUrl: `${url}/v1${path}` });
// It would warn at every call that `request` is deprecated.
setLogger({ ...console, warn: () => {} });

/** By default it retries for as long as it gets 503. */
const once = { retry_on_error: false };

const event = z.object({ choices: z.array(z.object({ text: z.string() })) });
const embeddingsAnswer = z.object({ data: z.array(z.object({ embedding: z.array(z.number()) })) });

export default defineClient({
  package: '@huggingface/inference',
  setUp: "new InferenceClient(accessToken, { endpointUrl: 'https://postern/v1' })",
  remark: 'repeats a call endlessly after 503: set `retry_on_error: false`',
  ways: {
    engines: {
      call: '`request` (deprecated)',
      async run({ url, key, model }, texts) {
        const endpointUrl = `${url}/v1/engines/${encodeURIComponent(model)}/embeddings`;
        const asked = { accessToken: key, endpointUrl, input: [...texts] };
        // Its types know the inputs of Hugging Face's own tasks alone.
        const answer = await request(asked as unknown as Parameters<typeof request>[0], once);
        return embeddingsAnswer.parse(answer).data.map(({ embedding }) => embedding);
      },
    },
    embeddings: {
      call: '`featureExtraction` with `endpointUrl` to `/tei/{model}`',
      async run({ url, key, model }, texts) {
        const client = new InferenceClient(key, { endpointUrl: `${url}/tei/${model}` });
        return z.array(z.array(z.number())).parse(await client.featureExtraction({ inputs: [...texts] }, once));
      },
    },
    completions: {
      call: '`textGeneration`',
      async run(gateway, prompt) {
        const asked = { model: gateway.model, inputs: prompt, parameters: { max_new_tokens: 99 } };
        return (await connect(gateway).textGeneration(asked, once)).generated_text;
      },
    },
    streams: {
      call: "`textGenerationStream` (which gives the events as they come, in OpenAI's shape and not in that of its types)",
      async *run(gateway, prompt) {
        const asked = { model: gateway.model, inputs: prompt, parameters: { max_new_tokens: 99 } };
        for await (const data of connect(gateway).textGenerationStream(asked, once)) {
          yield event.parse(data).choices[0]?.text ?? '';
        }
      },
    },
    chat: {
      call: '`chatCompletion`',
      async run(gateway, prompt) {
        const asked = { model: gateway.model, messages: [{ role: 'user', content: prompt }] };
        return (await connect(gateway).chatCompletion(asked, once)).choices[0]?.message.content ?? '';
      },
    },
  },
  deadEnds: [
    {
      call: '`featureExtraction`',
      path: '/v1/embeddings',
      code: 'missing_required_parameter',
      why: "it sends `inputs` without `model` (Hugging Face's format) to exactly the given URL: use the URL `/tei/{model}/embed`",
      run: (gateway) => connect(gateway, '/embeddings').featureExtraction({ inputs: ['x'] }, once),
    },
    {
      call: '`featureExtraction` to the engines path',
      path: '/v1/engines/m/embeddings',
      code: 'missing_required_parameter',
      why: 'it sends `inputs`, but this path needs `input`',
      run: (gateway) =>
        connect(gateway, `/engines/${gateway.model}/embeddings`).featureExtraction({ inputs: ['x'] }, once),
    },
  ],
});
