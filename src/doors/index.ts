/** Every front door; only the list of routes and the app import this. */

import type { Door } from '../core/door.ts';
import azure from './azure.ts';
import cohere from './cohere.ts';
import gemini from './gemini.ts';
import ollama from './ollama.ts';
import tei from './tei.ts';

export const doors: readonly Door[] = [azure, cohere, gemini, ollama, tei];
