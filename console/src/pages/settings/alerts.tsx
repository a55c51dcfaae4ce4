/** Whom Postern tells over HTTP when a budget runs out. */

import { Button, Group, PasswordInput, Stack, Text, TextInput } from '@mantine/core';
import type { Setting } from '../../../../src/admin/contract.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { Action } from '../../parts/layout/button.tsx';
import { Remark } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Section, SettingFrame, useSettingWriter } from './section.tsx';

export function Alerts() {
  return (
    <Section
      title="Webhooks"
      about="When a budget reaches one of its thresholds, Postern writes it to the log and posts it, as JSON, to each of these addresses."
    >
      <SettingFrame id="alerts">{(setting) => <WebhookForm setting={setting} />}</SettingFrame>
    </Section>
  );
}

function WebhookForm({ setting }: { readonly setting: Setting }) {
  const write = useSettingWriter();
  const { form, fault, busy, onSubmit } = useApiForm<{ webhooks: WebhookValues[] }, void>({
    initialValues: { webhooks: readWebhooks(setting.document) },
    submit: ({ webhooks }) => write(setting, webhooks.length === 0 ? {} : { webhooks: toWebhooks(webhooks) }),
    onDone: () => notifyDone('The webhooks are saved; they hold within two seconds.'),
  });
  const { webhooks } = form.values;
  return (
    <form onSubmit={onSubmit} noValidate>
      <Stack>
        <FormFault fault={fault} />
        {webhooks.length === 0 && <Text size="sm">Nobody is told but the log.</Text>}
        {webhooks.map((webhook, index) => (
          <Group key={webhook.key} align="flex-start" gap="xs">
            <TextInput
              label="Address"
              placeholder="https://hooks.example.com/postern"
              flex="2 1 260px"
              autoComplete="off"
              {...form.getInputProps(`webhooks.${index}.url`)}
              {...(webhook.keptUrl !== undefined && {
                placeholder: 'As it was; type to replace it',
                description: 'It holds a secret, and is not shown.',
                inputWrapperOrder: ['label', 'input', 'description', 'error'],
              })}
            />
            <PasswordInput
              label="Signing secret"
              placeholder={webhook.keptSecret === undefined ? 'None' : 'As it was; type to replace it'}
              flex="1 1 180px"
              autoComplete="off"
              {...form.getInputProps(`webhooks.${index}.secret`)}
            />
            <Button
              variant="subtle"
              color="gray"
              mt={25}
              aria-label={`Remove webhook ${index + 1}`}
              onClick={() => form.removeListItem('webhooks', index)}
            >
              <Icon name="trash" size={16} />
            </Button>
          </Group>
        ))}
        <Group justify="space-between">
          <Action icon="plus" label="Add an address" onClick={() => form.insertListItem('webhooks', newWebhook())} />
          <Button type="submit" loading={busy} disabled={!form.isDirty()}>
            Save
          </Button>
        </Group>
        <Remark>
          With a signing secret each call carries postern-signature, an HMAC over its time and body, by which your
          receiver knows that it is genuine.
        </Remark>
      </Stack>
    </form>
  );
}

let made = 0;

function newWebhook(): WebhookValues {
  made += 1;
  return { key: `new ${made}`, url: '', secret: '', keptUrl: undefined, keptSecret: undefined };
}

interface WebhookValues {
  readonly key: string;
  readonly url: string;
  readonly secret: string;
  /** What stands for what is not shown; undefined where everything is. */
  readonly keptUrl: string | undefined;
  readonly keptSecret: string | undefined;
}

const isSealed = (text: unknown): text is string => typeof text === 'string' && text.startsWith('(sealed');

/** Webhooks between the document and the form: secrets are not shown, and stay as they are where nothing is typed. */
function readWebhooks(document: Readonly<Record<string, unknown>>): WebhookValues[] {
  const { webhooks } = document;
  if (!Array.isArray(webhooks)) return [];
  return webhooks.map((one: Readonly<Record<string, unknown>>, index) => {
    const { url, secret } = one;
    return {
      key: `kept ${index}`,
      url: isSealed(url) ? '' : String(url ?? ''),
      secret: '',
      keptUrl: isSealed(url) ? url : undefined,
      keptSecret: isSealed(secret) ? secret : undefined,
    };
  });
}

function toWebhooks(values: readonly WebhookValues[]): Readonly<Record<string, string>>[] {
  return values.map(({ url, secret, keptUrl, keptSecret }) => {
    const signs = secret === '' ? keptSecret : secret;
    const address = url.trim() === '' && keptUrl !== undefined ? keptUrl : url.trim();
    return { url: address, ...(signs !== undefined && signs !== '' && { secret: signs }) };
  });
}
