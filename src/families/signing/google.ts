/** Gets access tokens for Google: the configured one, or tokens requested with a service account's key. */

import { createPrivateKey, type KeyObject, sign } from 'node:crypto';
import * as z from 'zod';
import type { Signer, SigningTools } from '../../core/family.ts';
import { readJson } from '../../lib/json/read-json.ts';
import { reasonOf } from '../../lib/thrown.ts';

interface Token {
  readonly value: string;
  readonly expiresAtMs: number;
  /** From this time on a new token is requested while this one is still used. */
  readonly renewAtMs: number;
}

interface Account {
  readonly email: string;
  readonly key: KeyObject;
  readonly keyId: string | undefined;
  readonly tokenUrl: string;
  /** The lines of the private key's text, which no answer may contain. */
  readonly secrets: readonly string[];
}

export function googleSigner(secret: string): Signer | string {
  if (/^[\x21-\x7e]+$/.test(secret) && !secret.startsWith('{')) {
    const headers = ['authorization', `Bearer ${secret}`];
    return () => headers;
  }
  const account = readAccount(secret);
  return typeof account === 'string' ? account : accountSigner(account);
}

const wanted = 'wanted: the JSON file of the key of a service account, or an access token';

const accountFile = z.object({
  type: z.literal('service_account'),
  client_email: z.string().min(1),
  private_key: z.string(),
  private_key_id: z.string().optional(),
  token_uri: z.string().default('https://oauth2.googleapis.com/token'),
});

/** Parses a service account's key file; else returns what is wrong, without repeating any of its text. */
function readAccount(text: string): Account | string {
  const file = accountFile.safeParse(readJson(text));
  if (!file.success) {
    const names = new Set(file.error.issues.flatMap(({ path }) => (path[0] === undefined ? [] : [String(path[0])])));
    return names.size === 0 ? wanted : `${wanted}; its ${[...names].join(', ')} cannot be used`;
  }
  const { client_email: email, private_key: pem, private_key_id: keyId, token_uri: tokenUrl } = file.data;
  if (!isSafe(tokenUrl)) return 'its token_uri is no https:// address';
  const key = readKey(pem);
  if (key === undefined) return 'its private_key is no RSA key in PEM';
  const secrets = pem.split(/\s*\n/).filter((line) => line.length >= 16 && !line.startsWith('-----'));
  return { email, key, keyId, tokenUrl, secrets };
}

function readKey(pem: string): KeyObject | undefined {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'rsa' ? key : undefined;
  } catch {
    return undefined;
  }
}

function isSafe(address: string): boolean {
  const url = URL.parse(address);
  if (url?.protocol === 'https:') return true;
  return url?.protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(url.hostname);
}

const pauseAfterFailureMs = 10_000;

function accountSigner(account: Account): Signer {
  let token: Token | undefined;
  let renewal: Promise<Token> | undefined;
  let pausedUntilMs = 0;
  /** Tokens that no answer may contain, the newest first: a call in progress may have the token before the newest. */
  let values: readonly string[] = [];
  /** All secrets; the same array until a token is added. */
  let secrets = account.secrets;

  /** Requests a new token; concurrent calls share one request. */
  function renew(tools: SigningTools): Promise<Token> {
    renewal ??= fetchToken(account, tools)
      .then((fetched) => {
        token = fetched;
        values = [fetched.value, ...values].slice(0, 2);
        secrets = [...values, ...account.secrets];
        return fetched;
      })
      .finally(() => {
        renewal = undefined;
      });
    return renewal;
  }

  function renewBeside(tools: SigningTools, nowMs: number): void {
    if (renewal !== undefined || nowMs < pausedUntilMs) return;
    renew(tools).catch(() => {
      // The present token still serves. Once it has expired, calls that wait for a new one receive the error.
      pausedUntilMs = nowMs + pauseAfterFailureMs;
    });
  }

  async function signed(_call: unknown, tools: SigningTools): Promise<readonly string[]> {
    const nowMs = tools.nowMs();
    const good = token !== undefined && nowMs < token.expiresAtMs ? token : await renew(tools);
    if (nowMs >= good.renewAtMs) renewBeside(tools, nowMs);
    return ['authorization', `Bearer ${good.value}`];
  }

  return Object.assign(signed, { secrets: () => secrets });
}

const grant = z.object({
  access_token: z.string().regex(/^[\x21-\x7e]+$/),
  expires_in: z.coerce.number().positive().default(3600),
});

async function fetchToken(account: Account, tools: SigningTools): Promise<Token> {
  const nowMs = tools.nowMs();
  const form = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer',
    assertion: assertionOf(account, Math.floor(nowMs / 1000)),
  });
  const headers = ['content-type', 'application/x-www-form-urlencoded', 'accept', 'application/json'];
  const { status, body } = await tools.post(account.tokenUrl, headers, form.toString()).catch((error: unknown) => {
    throw new Error(`the token endpoint cannot be asked: ${reasonOf(error)}`);
  });
  if (status !== 200) throw new Error(`the token endpoint answered ${status}${reasonIn(body)}`);
  const granted = grant.safeParse(readJson(body));
  if (!granted.success) throw new Error('the token endpoint answered without a token');
  const { access_token: value, expires_in: lifeS } = granted.data;
  const lifeMs = lifeS * 1000;
  return {
    value,
    expiresAtMs: nowMs + lifeMs - Math.min(60_000, lifeMs / 10),
    renewAtMs: nowMs + lifeMs - Math.min(300_000, lifeMs / 2),
  };
}

/** An error code such as `invalid_grant` in `{"error":"invalid_grant"}`; the rest of the answer may repeat what was sent. */
function reasonIn(body: string): string {
  const said = z.object({ error: z.string().regex(/^[a-z_]{1,40}$/) }).safeParse(readJson(body));
  return said.success ? ` (${said.data.error})` : '';
}

/** A JSON web token that identifies the account, signed with its key (RFC 7523). */
function assertionOf({ email, key, keyId, tokenUrl }: Account, nowS: number): string {
  const head = { alg: 'RS256', typ: 'JWT', kid: keyId };
  const claims = {
    iss: email,
    scope: 'https://www.googleapis.com/auth/cloud-platform',
    aud: tokenUrl,
    iat: nowS,
    exp: nowS + 3600,
  };
  const text = [head, claims].map((part) => Buffer.from(JSON.stringify(part)).toString('base64url')).join('.');
  return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`;
}
