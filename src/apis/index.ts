/** Lists every client API, for the list of routes and the app. */

import type { ClientApi } from '../core/client-api.ts';
import azure from './azure.ts';
import bedrock from './bedrock.ts';
import cohere from './cohere.ts';
import gemini from './gemini.ts';
import huggingface from './huggingface.ts';
import jina from './jina.ts';
import mistral from './mistral.ts';
import nvidia from './nvidia.ts';
import ollama from './ollama.ts';
import openaiBases from './openai-bases.ts';
import tei from './tei.ts';
import vllm from './vllm.ts';
import voyage from './voyage.ts';

export const clientApis: readonly ClientApi[] = [
  azure,
  bedrock,
  cohere,
  gemini,
  huggingface,
  jina,
  mistral,
  nvidia,
  ollama,
  openaiBases,
  tei,
  vllm,
  voyage,
];
