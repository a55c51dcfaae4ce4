/** Defines a virtual key (the API key of a client): its owner and permissions. Only the digest of its secret is stored. */

import * as z from 'zod';
import { budgetPeriods, type Caps, noCaps } from './caps.ts';
import { type Lane, lanes } from './lane.ts';
import { type Operation, operations } from './operations/index.ts';
import { type RerankShape, rerankShapes } from './translation.ts';

export interface KeyTerms {
  /** IDs of models that the key may use; each may have one `*`. */
  readonly models: readonly string[];
  /** Operations that the key may use; undefined: every operation. */
  readonly operations: readonly Operation[] | undefined;
  /** Addresses and CIDR ranges that the key may be used from; undefined: any address. */
  readonly addresses: readonly string[] | undefined;
  /** The project of the key: its caps apply too, and the key's usage counts for it. */
  readonly project: string | undefined;
  readonly caps: Caps;
  /** Notes of operators, under names that they choose. */
  readonly metadata: Readonly<Record<string, string>>;
  /** How long captured request and response bodies are kept; undefined: none are captured. */
  readonly captureMs: number | undefined;
  /** The shape of rerank results and errors that the key's clients expect; undefined: OpenAI's. */
  readonly shape?: RerankShape | undefined;
  /** The lane of the key's requests; undefined: interactive, but requests to a bulk model stay bulk. */
  readonly lane?: Lane | undefined;
  readonly expiresAtMs: number | undefined;
}

export interface KeyRecord extends KeyTerms {
  readonly id: string;
  readonly managedBy: 'file' | 'store';
  readonly revokedAtMs: number | undefined;
}

export function keyStateOf({ revokedAtMs, expiresAtMs }: KeyRecord, nowMs: number): 'active' | 'expired' | 'revoked' {
  if (revokedAtMs !== undefined) return 'revoked';
  return expiresAtMs !== undefined && expiresAtMs <= nowMs ? 'expired' : 'active';
}

/** Stands for an unknown or deleted key that rows of the ledger name. */
export const bareKey = (id: string, managedBy: KeyRecord['managedBy']): KeyRecord => ({
  id,
  project: undefined,
  models: [],
  caps: noCaps,
  metadata: {},
  managedBy,
  operations: undefined,
  addresses: undefined,
  expiresAtMs: undefined,
  revokedAtMs: undefined,
  captureMs: undefined,
});

const capsDocument = z.object({
  limits: z
    .record(z.string(), z.number())
    .describe('At most so many within a minute, a day, and at a time: `requests_per_minute`, `concurrency`, …'),
  budgets: z.array(
    z.object({
      every: z.enum(budgetPeriods),
      amount: z.string().describe('US dollars, exactly.'),
      alerts: z.array(z.string()),
    }),
  ),
});

export type CapsDocument = z.output<typeof capsDocument>;

export const keyTermsDocument = z.object({
  project: z.string().optional(),
  models: z.array(z.string()).describe('Public IDs, each with one `*` at most.'),
  operations: z.array(z.enum(operations)).optional().describe('All of them where it is not there.'),
  addresses: z.array(z.string()).optional().describe('From anywhere where it is not there.'),
  ...capsDocument.shape,
  metadata: z.record(z.string(), z.string()),
  capture: z.string().optional().describe('For how long the ledger keeps what is asked and answered, such as `7d`.'),
  lane: z.enum(lanes).optional().describe('Whether its calls go first where an upstream is busy.'),
  shape: z.enum(rerankShapes).optional().describe('The service that its clients were written for.'),
});

export type KeyTermsDocument = z.output<typeof keyTermsDocument>;

export interface Project {
  readonly id: string;
  readonly managedBy: 'file' | 'store';
  readonly name: string | undefined;
  readonly caps: Caps;
  /** The ID of the upstream that stores the project's files; undefined: none. */
  readonly files?: string | undefined;
}
