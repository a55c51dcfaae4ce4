/** An identity provider on this machine: discovery, keys, the code flow with PKCE, and configurable users. */

import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';

export const oidcClient = { id: 'postern-console', secret: 'secret-of-the-console-at-the-provider' };

export interface IdentityProvider {
  readonly issuer: string;
  /** Claims of the next ID tokens, beside the required ones. */
  claims: Readonly<Record<string, unknown>>;
  /** Further fields of its metadata. */
  metadata: Readonly<Record<string, unknown>>;
  /** Claims that its userinfo endpoint sends, if it has one. */
  userinfo: Readonly<Record<string, unknown>>;
  /** What the answer of the token endpoint becomes before it goes out. */
  spoil: (answer: Readonly<Record<string, unknown>>) => Readonly<Record<string, unknown>>;
  close(): Promise<void>;
}

interface Grant {
  readonly challenge: string;
  readonly nonce: string;
  readonly redirectUri: string;
}

export async function startIdentityProvider(claims: Readonly<Record<string, unknown>>): Promise<IdentityProvider> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const jwk = { ...publicKey.export({ format: 'jwk' }), kid: 'one', alg: 'RS256', use: 'sig' };
  const grants = new Map<string, Grant>();

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => {
      response.writeHead(500);
      response.end(String(error));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the provider has no port');
  const issuer = `http://127.0.0.1:${address.port}`;
  const close = (): Promise<void> =>
    new Promise((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  const provider: IdentityProvider = { issuer, claims, metadata: {}, userinfo: {}, spoil: (said) => said, close };

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const url = new URL(request.url ?? '', issuer);
    switch (url.pathname) {
      case '/.well-known/openid-configuration':
        return respond(response, {
          issuer,
          authorization_endpoint: `${issuer}/authorize`,
          token_endpoint: `${issuer}/token`,
          jwks_uri: `${issuer}/keys`,
          response_types_supported: ['code'],
          subject_types_supported: ['public'],
          id_token_signing_alg_values_supported: ['RS256'],
          code_challenge_methods_supported: ['S256'],
          ...provider.metadata,
        });
      case '/keys':
        return respond(response, { keys: [jwk] });
      case '/authorize':
        return authorize(url.searchParams, response);
      case '/token':
        return respond(
          response,
          provider.spoil(redeem(new URLSearchParams(await text(request)), request.headers.authorization)),
        );
      case '/userinfo':
        if (request.headers.authorization !== 'Bearer access') throw new Error('not authorized');
        return respond(response, provider.userinfo);
      default:
        response.writeHead(404);
        response.end();
    }
  }

  /** As if somebody had signed in there at once. */
  function authorize(query: URLSearchParams, response: ServerResponse): void {
    const code = randomBytes(16).toString('hex');
    const redirectUri = query.get('redirect_uri') ?? '';
    grants.set(code, {
      challenge: query.get('code_challenge') ?? '',
      nonce: query.get('nonce') ?? '',
      redirectUri,
    });
    const back = new URL(redirectUri);
    back.searchParams.set('code', code);
    back.searchParams.set('state', query.get('state') ?? '');
    response.writeHead(302, { location: back.href });
    response.end();
  }

  /** By the one method that the metadata name: in the form, or by default as basic authentication. */
  function isClient(form: URLSearchParams, authorization = ''): boolean {
    const isInForm = provider.metadata.token_endpoint_auth_methods_supported !== undefined;
    const [id, secret] = isInForm
      ? [form.get('client_id'), form.get('client_secret')]
      : atob(authorization.replace(/^Basic /, ''))
          .split(':')
          .map(decodeURIComponent);
    return id === oidcClient.id && secret === oidcClient.secret;
  }

  function redeem(form: URLSearchParams, authorization: string | undefined): Record<string, unknown> {
    const code = form.get('code') ?? '';
    const grant = grants.get(code);
    grants.delete(code);
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url');
    const isKnown = isClient(form, authorization);
    if (
      grant === undefined ||
      grant.challenge !== challenge ||
      !isKnown ||
      grant.redirectUri !== form.get('redirect_uri')
    )
      throw new Error('not granted');
    const nowS = Math.floor(Date.now() / 1000);
    const payload = {
      iss: issuer,
      aud: oidcClient.id,
      iat: nowS,
      exp: nowS + 300,
      nonce: grant.nonce,
      ...provider.claims,
    };
    return { access_token: 'access', token_type: 'Bearer', id_token: sign(payload) };
  }

  function sign(payload: Readonly<Record<string, unknown>>): string {
    const part = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    const signed = `${part({ alg: 'RS256', kid: 'one', typ: 'JWT' })}.${part(payload)}`;
    return `${signed}.${createSign('RSA-SHA256').update(signed).sign(privateKey, 'base64url')}`;
  }

  return provider;
}

function respond(response: ServerResponse, body: unknown): void {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}
