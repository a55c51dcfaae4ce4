/** The section `alerts`: who is told of budgets that run out. */

import type * as z from 'zod';
import type { AlertSettings } from '../../core/snapshot.ts';
import type { AddressRule } from '../../lib/addresses/address-rule.ts';
import { is, list, mapping, secretFile, text } from './fields.ts';

const webhookFields = {
  url: text('an http:// or https:// URL', /^https?:\/\/[^/\\\s][^\\\s]*$/i)
    .refine((url) => URL.canParse(url), { error: 'a valid URL' })
    .refine((url) => !hasUser(url), {
      error: 'an address without a user name and a password, which are not sent; set a secret instead',
    })
    .meta(is('The URL.', { kind: 'URL', secret: true })),
  secret: text('at least 16 visible ASCII characters, without spaces', /^[\x21-\x7e]{16,512}$/)
    .optional()
    .meta(is('Secret that signs the body.', { secret: true })),
};

function hasUser(url: string): boolean {
  const { username = '', password = '' } = URL.parse(url) ?? {};
  return username !== '' || password !== '';
}

/** In the store; those of the file may name files too. */
export const webhooksField = () => webhookList(mapping(webhookFields));

const webhookList = <T extends z.ZodType>(webhook: T) => list(webhook).max(20, { error: 'at most 20 webhooks' });

export const alertsSchema = mapping({
  webhooks: webhookList(mapping({ ...webhookFields, url_file: secretFile('url'), secret_file: secretFile('secret') }))
    .default([])
    .meta(is('Webhooks.')),
});

/** `addresses`: where those may lead that the store holds; undefined for those of the file. */
export function toAlertSettings(
  { webhooks }: z.output<typeof alertsSchema>,
  addresses: AddressRule | undefined,
): AlertSettings {
  return Object.freeze({
    webhooks: Object.freeze(webhooks.map(({ url, secret }) => Object.freeze({ url, secret, addresses }))),
  });
}
