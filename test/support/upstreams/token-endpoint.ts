/** A fake Google token endpoint that exchanges service-account assertions for access tokens. */

import { generateKeyPairSync, verify } from 'node:crypto';
import type { TestContext } from 'node:test';
import * as z from 'zod';
import { type ServiceAnswer, type ServiceCall, startService } from './service.ts';

const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });

export const privateKeyText = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
const email = 'gateway@p-1.iam.gserviceaccount.com';

export interface TokenEndpoint {
  /** The file of the service account that it knows. */
  readonly account: string;
  /** Every one that it has given out, in order. */
  readonly tokens: readonly string[];
  /** The number of exchanges. */
  readonly asked: number;
  /** How long the tokens are good for, from now on. */
  lifeS: number;
  /** Instead of a token, from now on. */
  failWith: ServiceAnswer | undefined;
}

export async function startTokenEndpoint(t: TestContext): Promise<TokenEndpoint> {
  const tokens: string[] = [];
  const { url, calls } = await startService(t, (call) => {
    if (endpoint.failWith !== undefined) return endpoint.failWith;
    const fault = faultOf(call, `${url}/token`);
    if (fault !== undefined) return { status: 400, body: { error: 'invalid_grant', error_description: fault } };
    tokens.push(`ya29.made-token-${tokens.length + 1}`);
    return { body: { access_token: tokens.at(-1), expires_in: endpoint.lifeS, token_type: 'Bearer' } };
  });
  const endpoint: TokenEndpoint = {
    account: JSON.stringify(
      {
        type: 'service_account',
        project_id: 'p-1',
        private_key_id: 'k-1',
        private_key: privateKeyText,
        client_email: email,
        token_uri: `${url}/token`,
      },
      null,
      2,
    ),
    tokens,
    get asked() {
      return calls.length;
    },
    lifeS: 3599,
    failWith: undefined,
  };
  return endpoint;
}

const claims = z.object({
  iss: z.literal(email),
  scope: z.literal('https://www.googleapis.com/auth/cloud-platform'),
  aud: z.string(),
  iat: z.int(),
  exp: z.int(),
});

/** Why it gives no token. */
function faultOf({ method, path, headers, text }: ServiceCall, audience: string): string | undefined {
  if (method !== 'POST' || path !== '/token') return 'another address';
  if (headers['content-type'] !== 'application/x-www-form-urlencoded') return 'no form';
  const form = new URLSearchParams(text);
  if (form.get('grant_type') !== 'urn:ietf:params:oauth:grant-type:jwt-bearer') return 'another grant';
  const [head = '', middle = '', signature = ''] = (form.get('assertion') ?? '').split('.');
  const isSigned = verify('sha256', Buffer.from(`${head}.${middle}`), publicKey, Buffer.from(signature, 'base64url'));
  if (!isSigned) return 'no signature of the account';
  const read = claims.safeParse(JSON.parse(Buffer.from(middle, 'base64url').toString()));
  if (!read.success) return 'other claims';
  const { aud, iat, exp } = read.data;
  const nowS = Date.now() / 1000;
  if (aud !== audience) return 'another audience';
  return Math.abs(nowS - iat) > 60 || exp <= nowS || exp - iat > 3600 ? 'another time' : undefined;
}
