/** What the console may import from the server: types of what goes over the wire, and nothing that runs. */

import type * as z from 'zod';
import type * as sessions from './shapes/session.ts';

export type { FieldFault, ProblemCode } from './problem.ts';
export type { Role } from './roles.ts';

export interface ProblemBody {
  readonly type: string;
  readonly title: string;
  readonly status: number;
  readonly detail: string;
  readonly code: import('./problem.ts').ProblemCode;
  readonly fields: readonly import('./problem.ts').FieldFault[];
}

export interface Page<T> {
  readonly items: readonly T[];
  readonly next: string | null;
}

export type Member = z.output<typeof sessions.member>;
export type Session = z.output<typeof sessions.session>;
