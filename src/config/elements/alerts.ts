/** Defines and compiles the `alerts` section of the configuration: thresholds of the alert rules, and the channels that get alerts. */

import type * as z from 'zod';
import { type AlertSettings, alertFormats } from '../../core/snapshot.ts';
import { alertRules } from '../../core/store/alerts.ts';
import type { AddressRule } from '../../lib/addresses/address-rule.ts';
import { duration, list, mapping, oneOf, secretFile, secretText, share, text, url } from './fields.ts';

const webhookFields = {
  url: url('an http:// or https:// URL', /^https?:\/\/[^/\\\s][^\\\s]*$/i)
    .refine((written) => !hasUser(written), {
      error: 'an address without a user name and a password, which are not sent; set a secret instead',
    })
    .describe('The URL.')
    .meta({ kind: 'URL', secret: true }),
  secret: secretText(16).optional().describe('Secret that signs the body.').meta({ secret: true }),
  format: oneOf(alertFormats)
    .default('postern')
    .describe('Format of the body: `postern` is JSON with fields, `slack` a text for Slack and compatible services.'),
};

function hasUser(written: string): boolean {
  const { username = '', password = '' } = URL.parse(written) ?? {};
  return username !== '' || password !== '';
}

/** Keys of a webhook that the store may have; in the file a webhook may also name files with secrets. */
export const webhooksField = () => webhookList(mapping(webhookFields));

const webhookList = <T extends z.ZodType>(webhook: T) => list(webhook).max(20, { error: 'at most 20 webhooks' });

const address = text('an address such as ops@example.com', /^[^\s<>@,;:"()[\]\\]+@[^\s<>@,;:"()[\]\\]+$/);

const smtpFields = mapping({
  url: url('an smtp:// or smtps:// URL', /^smtps?:\/\/[^/\\\s]+\/?$/i)
    .describe('The server, such as `smtp://user:password@mail.example.com:587`. A password needs TLS.')
    .meta({ kind: 'URL', secret: true }),
  url_file: secretFile('url'),
  from: address.describe('The sender.'),
  to: list(address)
    .min(1, { error: 'at least one address' })
    .max(20, { error: 'at most 20 addresses' })
    .describe('The recipients.'),
});

export const alertsSchema = mapping({
  webhooks: webhookList(mapping({ ...webhookFields, url_file: secretFile('url'), secret_file: secretFile('secret') }))
    .default([])
    .describe('Webhooks.'),
  smtp: smtpFields.optional().describe('A mail server that alerts are sent by.'),
  error_rate: share(1)
    .default({ percent: 5 })
    .describe('Opens an alert if a larger share of the requests of ten minutes fails.')
    .meta({ defaultText: '`5%`' }),
  p95: duration(1).optional().describe('Opens an alert if the p95 of ten minutes is longer.'),
  off: list(oneOf(alertRules)).default([]).describe('Rules that are switched off.'),
});

/** Compiles the section. `addresses`: the policy for webhooks that are in the store; undefined for those of the file. */
export function toAlertSettings(
  { webhooks, smtp, error_rate: errorRate, p95, off }: z.output<typeof alertsSchema>,
  addresses: AddressRule | undefined,
): AlertSettings {
  return Object.freeze({
    webhooks: Object.freeze(webhooks.map((webhook) => Object.freeze({ ...webhook, addresses }))),
    smtp,
    errorShare: errorRate.percent / 100,
    p95Ms: p95,
    off: Object.freeze(off),
  });
}
