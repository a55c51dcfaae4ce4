/** What people write of themselves, in several forms. */

import * as z from 'zod';

export const email = z
  .string()
  .trim()
  .max(254, 'Use at most 254 characters.')
  .regex(/^[^\s@\p{Cc}]+@[^\s@\p{Cc}]+$/u, 'Write it as name@example.com.');

export const name = z
  .string()
  .trim()
  .min(1, 'Write a name that others know.')
  .max(100, 'Use at most 100 characters.')
  .regex(/^[^\p{Cc}]*$/u, 'Leave out line breaks and other control characters.');

/** Longer than any that is accepted, and short enough that nobody has us work through a book. */
export const password = z.string().max(1_000, 'Use at most 200 characters.');
export const linkToken = z.string().min(1).max(200).meta({ description: 'What stands behind `#token=` in the link.' });
