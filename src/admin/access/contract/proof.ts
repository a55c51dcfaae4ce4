/** How members prove that it is they, before what gives lasting power. */

import * as z from 'zod';
import { defineEndpoint } from '../../endpoint.ts';
import { password } from './fields.ts';
import { deviceAnswer, signingOptions } from './passkeys.ts';
import { session } from './session.ts';

const passwordProof = z.strictObject({ password });

export const byPassword = defineEndpoint({
  method: 'POST',
  path: '/api/me/proof',
  summary: 'Prove by your password that it is you: good for five minutes, and the session gets a new cookie',
  tag: 'Me',
  needs: 'member',
  body: passwordProof,
  answer: session,
});

export const beginPasskey = defineEndpoint({
  method: 'POST',
  path: '/api/me/proof/passkey/options',
  summary: 'Begin to prove with a passkey that it is you',
  tag: 'Me',
  needs: 'member',
  answer: signingOptions,
});

export const byPasskey = defineEndpoint({
  method: 'POST',
  path: '/api/me/proof/passkey',
  summary: 'Prove with a passkey that it is you: good for five minutes, and the session gets a new cookie',
  tag: 'Me',
  needs: 'member',
  body: deviceAnswer,
  answer: session,
});
