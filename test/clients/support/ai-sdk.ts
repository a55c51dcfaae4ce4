/** What the AI SDK's providers share: single calls, and streams that report their errors. */

import {
  type EmbeddingModel,
  embedMany,
  generateImage,
  generateText,
  type ImageModel,
  jsonSchema,
  type LanguageModel,
  streamText,
  type ToolSet,
} from 'ai';
import { lookUp } from '../../matrix/client.ts';

// It would warn at every call of a completion model that this has no tools.
globalThis.AI_SDK_LOG_WARNINGS = false;

const once = { maxRetries: 0 };

export async function embeddingsOf(model: EmbeddingModel, texts: readonly string[]): Promise<number[][]> {
  return (await embedMany({ model, values: [...texts], ...once })).embeddings;
}

export async function replyOf(model: LanguageModel, prompt: string): Promise<string> {
  return (await generateText({ model, prompt, ...once })).text;
}

export async function* streamOf(model: LanguageModel, prompt: string): AsyncIterable<string> {
  // By itself it writes errors to the console, and ends as if all were well.
  const { fullStream } = streamText({ model, prompt, ...once, onError: () => {} });
  for await (const part of fullStream) {
    if (part.type === 'error') throw part.error;
    if (part.type === 'text-delta') yield part.text;
  }
}

export async function toolCallOf(model: LanguageModel, prompt: string): Promise<{ name: string; text: string }> {
  const inputSchema = jsonSchema({ ...lookUp.parameters, type: 'object' });
  const tools: ToolSet = { [lookUp.name]: { description: lookUp.description, inputSchema } };
  const { toolCalls } = await generateText({ model, prompt, tools, ...once });
  const [call] = toolCalls;
  return { name: call?.toolName ?? '', text: Object(call?.input).text };
}

export async function pictureOf(model: ImageModel, prompt: string): Promise<string> {
  return (await generateImage({ model, prompt, ...once })).image.base64;
}
