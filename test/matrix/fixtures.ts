/** The families of the matrix: those with a fixture beside the common cases, directly and over each bridge. */

import { readdir } from 'node:fs/promises';
import { type Family, type Offers, offersOf, standardOptions } from '../../src/core/family.ts';
import type { Operation } from '../../src/core/operations/index.ts';
import { families } from '../../src/families/index.ts';
import type { FamilyFixture } from '../families/fixture.ts';
import { overBridge } from './bridges.ts';
import type { Task } from './client.ts';

export const tasksOf: Readonly<Partial<Record<Operation, readonly Task[]>>> = {
  embeddings: ['embeddings', 'engines'],
  rerank: ['rerank'],
  moderations: ['moderations'],
  completions: ['completions', 'streams'],
  edits: ['edits'],
  chat: ['chat', 'chatStreams', 'tools'],
  responses: ['responses', 'responseStreams'],
  messages: ['messages', 'messageStreams'],
  generate: ['generate', 'generateStreams'],
  images: ['images'],
  speech: ['speech'],
  transcriptions: ['transcriptions'],
};
export const allTasks = Object.values(tasksOf).flat();

export interface Trial {
  /** The family, and over which bridge. */
  readonly name: string;
  readonly bridge: string | undefined;
  readonly fixture: FamilyFixture;
  /** Those that it offers. */
  readonly operations: readonly Operation[];
}

export const trials: readonly Trial[] = await findTrials();

async function findTrials(): Promise<Trial[]> {
  const directory = new URL('../families/', import.meta.url);
  const files = new Set(await readdir(directory));
  const found: Trial[] = [];
  for (const family of families) {
    const file = `${family.id}.ts`;
    if (!files.has(file)) continue;
    const { default: fixture }: { default: FamilyFixture } = await import(new URL(file, directory).href);
    found.push(...trialsOf(family, fixture));
  }
  return found;
}

function trialsOf(family: Family, fixture: FamilyFixture): Trial[] {
  const set = fixture.upstream?.options as Readonly<Record<string, string>> | undefined;
  const options = { ...standardOptions(family), ...set };
  const own: Trial = {
    name: family.id,
    bridge: undefined,
    fixture,
    operations: operationsIn(offersOf(family, options)),
  };
  const bridges = Object.entries(family.bridges?.(options) ?? {});
  const over = bridges.map(([bridge, offers]): Trial => {
    const name = `${family.id} over bridge: ${bridge}`;
    return { name, bridge, fixture: overBridge(fixture, bridge), operations: operationsIn(offers) };
  });
  return [own, ...over];
}

function operationsIn({ openai = {}, anthropic = {}, gemini = {} }: Offers): Operation[] {
  return [...new Set([openai, anthropic, gemini].flatMap((some) => Object.keys(some)))] as Operation[];
}
