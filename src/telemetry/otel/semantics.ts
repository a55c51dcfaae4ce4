/** What the semantic conventions of OpenTelemetry call our operations and services. What has no name there keeps its own. */

import type { Operation } from '../../core/operations/index.ts';

const operationNames: Readonly<Partial<Record<Operation, string>>> = {
  chat: 'chat',
  messages: 'chat',
  responses: 'chat',
  completions: 'text_completion',
  generate: 'generate_content',
};

export const operationName = (operation: Operation): string => operationNames[operation] ?? operation;

const providerNames: Readonly<Record<string, string>> = {
  azure: 'azure.ai.openai',
  bedrock: 'aws.bedrock',
  gemini: 'gcp.gemini',
  vertex: 'gcp.vertex_ai',
  mistral: 'mistral_ai',
};

export const providerName = (family: string): string => providerNames[family] ?? family;
