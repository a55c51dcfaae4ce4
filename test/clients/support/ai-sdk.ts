/** What the AI SDK's providers share: calls that are made once, and streams that tell their errors. */

import { type EmbeddingModel, embedMany, generateText, type LanguageModel, streamText } from 'ai';

// It would tell at every call of a completion model that this has no tools.
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
