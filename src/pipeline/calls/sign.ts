/** Signs calls for upstream families that need a signature on each call. */

import type { Buffer } from 'node:buffer';
import { cannotSign } from '../../answers/translation-faults.ts';
import { inOnePiece } from '../../core/call-body.ts';
import type { SigningGround } from '../../core/family.ts';
import type { Call, Failure, Outcome, Transport } from '../../core/outcome.ts';
import type { Credential } from '../../core/snapshot.ts';
import { toUrlOrigin } from '../../lib/addresses/socket-origin.ts';

interface Unsigned {
  readonly upstream: Call['upstream'];
  readonly path: string;
  readonly headers: readonly string[];
  readonly body: Buffer;
}

/** The headers of the signature, or why there is none; undefined if none is needed. Never rejects. */
export async function signatureOf(
  { upstream, path, headers, body }: Unsigned,
  { signer }: Credential,
  { nowMs, post }: SigningGround,
): Promise<readonly string[] | { readonly failure: Failure } | undefined> {
  if (signer === undefined) return undefined;
  const url = `${toUrlOrigin(upstream.origin ?? '')}${path}`;
  const { addresses } = upstream;
  try {
    return await signer({ url, headers, body }, { nowMs, post: (to, names, text) => post(to, names, text, addresses) });
  } catch (error) {
    return { failure: cannotSign(error) };
  }
}

/** Sends a call whose bytes pass unchanged, signed if needed. */
export function sendSigned(
  call: Call,
  credential: Credential,
  ground: SigningGround,
  transport: Transport,
): Promise<Outcome> {
  return credential.signer === undefined ? transport(call) : signAndSend(call, credential, ground, transport);
}

async function signAndSend(
  call: Call,
  credential: Credential,
  ground: SigningGround,
  transport: Transport,
): Promise<Outcome> {
  const signature = (await signatureOf({ ...call, body: inOnePiece(call.body) }, credential, ground)) ?? [];
  if ('failure' in signature) return { kind: 'not-sent', failure: signature.failure };
  if (call.client.gone) return { kind: 'client-gone', unsent: true };
  return transport({ ...call, headers: [...call.headers, ...signature] });
}
