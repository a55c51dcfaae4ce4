/** Passkeys as members see them, and what browsers and devices say of them. */

import type {
  PublicKeyCredentialCreationOptionsJSON,
  PublicKeyCredentialRequestOptionsJSON,
} from '@simplewebauthn/server';
import * as z from 'zod';
import { defineEndpoint } from '../../endpoint.ts';
import { idParam, instant } from '../../shapes/common.ts';
import { session } from './session.ts';

export const passkey = z.object({
  id: z.string(),
  name: z.string(),
  createdAt: instant,
  lastUsedAt: instant.nullable(),
});

const passkeyName = z
  .string()
  .trim()
  .min(1, { error: 'Give it a name by which you know the device, such as "Laptop".' })
  .max(60, { error: 'The name may have 60 characters at most.' });

/** What a device answers, as the browser's own API has it, in JSON. */
export const deviceAnswer = z.record(z.string(), z.unknown());

/** What the browser asks a device for: it is made by a library, and goes out as it is. */
const optionsOf = <Options extends object>() =>
  z.custom<Options>((value) => typeof value === 'object' && value !== null).meta({ type: 'object' });

export const signingOptions = optionsOf<PublicKeyCredentialRequestOptionsJSON>();
const makingOptions = optionsOf<PublicKeyCredentialCreationOptionsJSON>();

export const beginSignIn = defineEndpoint({
  method: 'POST',
  path: '/api/session/passkey/options',
  summary: 'Begin to sign in with a passkey',
  tag: 'Access',
  needs: 'anyone',
  answer: signingOptions,
});

export const signIn = defineEndpoint({
  method: 'POST',
  path: '/api/session/passkey',
  summary: 'Sign in with a passkey',
  tag: 'Access',
  needs: 'anyone',
  body: deviceAnswer,
  answer: session,
});

export const listPasskeys = defineEndpoint({
  method: 'GET',
  path: '/api/me/passkeys',
  summary: 'List your own passkeys',
  tag: 'Access',
  needs: 'member',
  answer: z.object({ items: z.array(passkey), possible: z.boolean() }),
});

export const beginAdding = defineEndpoint({
  method: 'POST',
  path: '/api/me/passkeys/options',
  summary: 'Begin to add a passkey',
  tag: 'Access',
  needs: 'member',
  proof: true,
  answer: makingOptions,
});

export const addPasskey = defineEndpoint({
  method: 'POST',
  path: '/api/me/passkeys',
  summary: 'Add a passkey',
  tag: 'Access',
  needs: 'member',
  proof: true,
  body: z.object({ name: passkeyName, answer: deviceAnswer }),
  status: 201,
});

export const renamePasskey = defineEndpoint({
  method: 'PATCH',
  path: '/api/me/passkeys/:id',
  summary: 'Give one of your passkeys another name',
  tag: 'Access',
  needs: 'member',
  params: idParam,
  body: z.object({ name: passkeyName }),
});

export const removePasskey = defineEndpoint({
  method: 'DELETE',
  path: '/api/me/passkeys/:id',
  summary: 'Remove one of your passkeys',
  tag: 'Access',
  needs: 'member',
  proof: true,
  params: idParam,
});
