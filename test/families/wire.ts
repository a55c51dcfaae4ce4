/** What every fake service computes: vectors, scores and texts that depend only on the request. */

import { createHash } from 'node:crypto';

/** Eight numbers that a 32-bit float holds exactly. */
export function vectorOf(text: string, width = 8): number[] {
  const digest = createHash('sha256').update(text).digest();
  return Array.from({ length: width }, (_, index) => ((digest[index % 32] ?? 0) - 128) / 128);
}

/** The same as base64 of little-endian 32-bit floats. */
export function base64Of(vector: readonly number[]): string {
  return Buffer.from(new Float32Array(vector).buffer).toString('base64');
}

/** Between 0 and 1, in 65,536 steps. */
export function scoreOf(query: string, document: string): number {
  return createHash('sha256').update(`${query}\0${document}`).digest().readUInt16BE(0) / 65_536;
}

/** All documents with their scores, the best first. */
export function ranked(query: string, documents: readonly string[]): { index: number; score: number; text: string }[] {
  return documents
    .map((text, index) => ({ index, score: scoreOf(query, text), text }))
    .sort((a, b) => b.score - a.score);
}

/** One token for every letter. */
export const tokensIn = (...texts: readonly string[]): number => texts.reduce((sum, text) => sum + text.length, 0);

/** Whether a moderator flags a text: if it contains violence. */
export const isViolent = (text: string): boolean => text.includes('violent');

/** A model's answer to a text. */
export const replyTo = (text: string): string => `<${text}>`;
