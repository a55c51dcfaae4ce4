/** `console.oidc`: signing in through an identity provider, key by key. */

import { roles } from '../../../core/role.ts';
import { flag, is, list, mapping, oneOf, secretFile, text } from '../fields.ts';

export const oidcSchema = mapping({
  issuer: text('an https:// URL, such as https://accounts.example.com', /^https?:\/\/[^\s/?#]+[^\s?#]*$/).meta(
    is('The address of the identity provider, as it calls itself in its tokens.', { kind: 'URL' }),
  ),
  client_id: text('the ID that the provider gave').meta(is('What the provider calls this console.')),
  client_secret: text('visible ASCII characters, without spaces', /^[\x21-\x7e]+$/)
    .optional()
    .meta(is('What the provider gave together with the ID; a public client has none.', { secret: true })),
  client_secret_file: secretFile('client_secret'),
  title: text('a name of up to 40 characters', /^[^\p{Cc}]{1,40}$/u)
    .default('single sign-on')
    .meta(is('What the button says after "Sign in with".')),
  scopes: list(text('a scope', /^[\x21\x23-\x5b\x5d-\x7e]+$/), 'a list of scopes')
    .default(['openid', 'email', 'profile'])
    .meta(is('What the provider is asked for.', { kind: 'list of scopes' })),
  default_role: oneOf(roles)
    .optional()
    .meta(
      is('The role of those who come without an invitation and of whom no group says more.', {
        defaultText: 'nobody gets in without an invitation or a group',
      }),
    ),
  role_claim: text('the name of a claim', /^[^\p{Cc}\s]{1,100}$/u)
    .default('groups')
    .meta(is('The claim of the ID token that holds the groups of a person.')),
  roles: mapping({
    viewer: groups('viewers'),
    editor: groups('editors'),
    admin: groups('admins'),
    owner: groups('owners'),
  })
    .prefault({})
    .meta(is('Which groups have which role; the highest counts, and is set anew at each sign-in.')),
  trust_email: flag()
    .default(false)
    .meta(
      is('Whether addresses count that the provider does not call verified. Only for one that gives them out itself.'),
    ),
});

function groups(who: string) {
  return list(text('the name of a group'), 'a list of groups')
    .default([])
    .meta(is(`The groups whose members are ${who}.`, { kind: 'list of groups' }));
}
