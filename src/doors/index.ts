/** Every front door; only the list of routes and the app import this. */

import type { Door } from '../core/door.ts';
import azure from './azure.ts';
import cohere from './cohere.ts';
import gemini from './gemini.ts';
import nvidia from './nvidia.ts';
import ollama from './ollama.ts';
import tei from './tei.ts';
import vllm from './vllm.ts';

export const doors: readonly Door[] = [azure, cohere, gemini, nvidia, ollama, tei, vllm];
