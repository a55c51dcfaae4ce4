/** Settings of alert webhooks, and of how long ledger rows are kept. */

import { Button, Group, NumberInput, PasswordInput, Select, Stack, TagsInput, Text, TextInput } from '@mantine/core';
import type { Setting } from '../../../../src/admin/contract.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { Action } from '../../parts/layout/button.tsx';
import { Remark } from '../../parts/layout/text.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Section, SettingFrame, useSettingWriter } from './section.tsx';

export const Alerts = () => (
  <Section
    title="Webhooks"
    about="When an alert opens or closes, or a budget reaches one of its thresholds, Postern writes it to the log and posts it to each of these addresses."
  >
    <SettingFrame id="alerts">{(setting) => <WebhookForm setting={setting} />}</SettingFrame>
  </Section>
);

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
        {webhooks.length === 0 && (
          <Text size="sm">There is no webhook: alerts are in the log and on the page Alerts.</Text>
        )}
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
            <Select
              label="Body"
              data={[
                { value: 'postern', label: 'JSON' },
                { value: 'slack', label: 'Slack' },
              ]}
              allowDeselect={false}
              w={110}
              {...form.getInputProps(`webhooks.${index}.format`)}
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
  return { key: `new ${made}`, url: '', secret: '', format: 'postern', keptUrl: undefined, keptSecret: undefined };
}

interface WebhookValues {
  readonly key: string;
  readonly url: string;
  readonly secret: string;
  readonly format: 'postern' | 'slack';
  /** The text that stands for a URL that is not shown; undefined if the whole URL is shown. */
  readonly keptUrl: string | undefined;
  readonly keptSecret: string | undefined;
}

const isSealed = (text: unknown): text is string => typeof text === 'string' && text.startsWith('(sealed');

/** The form's webhooks from the document. Secrets are not shown, and stay unchanged if nothing is typed. */
function readWebhooks(document: Readonly<Record<string, unknown>>): WebhookValues[] {
  const { webhooks } = document;
  if (!Array.isArray(webhooks)) return [];
  return webhooks.map((one: Readonly<Record<string, unknown>>, index) => {
    const { url, secret, format } = one;
    return {
      key: `kept ${index}`,
      url: isSealed(url) ? '' : String(url ?? ''),
      secret: '',
      format: format === 'slack' ? 'slack' : 'postern',
      keptUrl: isSealed(url) ? url : undefined,
      keptSecret: isSealed(secret) ? secret : undefined,
    };
  });
}

const toWebhooks = (values: readonly WebhookValues[]): Readonly<Record<string, string>>[] =>
  values.map(({ url, secret, format, keptUrl, keptSecret }) => {
    const signs = secret === '' ? keptSecret : secret;
    const address = url.trim() === '' && keptUrl !== undefined ? keptUrl : url.trim();
    const shape = format === 'slack' ? { format } : {};
    return { url: address, ...shape, ...(signs !== undefined && signs !== '' && { secret: signs }) };
  });

const longestDays = 3_650;

/** Settings for how long rows are kept, and what is removed from captured bodies. */
export const Keeping = () => (
  <Section
    title="Retention"
    about="Each request leaves a row in the ledger: key, model, duration and cost. Bodies are captured only for keys with that setting, and without what looks like a secret."
  >
    <SettingFrame id="ledger">{(setting) => <KeepingForm setting={setting} />}</SettingFrame>
  </Section>
);

function KeepingForm({ setting }: { readonly setting: Setting }) {
  const write = useSettingWriter();
  const { effective, document } = setting;
  const { form, fault, busy, onSubmit } = useApiForm({
    initialValues: { days: effective.retentionDays ?? 90, redact: [...(effective.redact ?? [])] },
    submit: ({ days, redact }) => write(setting, { ...document, retention: `${days}d`, redact }),
    onDone: () => notifyDone('Saved; it holds within two seconds.'),
    toField: (path) => (path === 'retention' ? 'days' : path),
  });
  return (
    <form onSubmit={onSubmit} noValidate className="settings-form">
      <Stack>
        <FormFault fault={fault} />
        <NumberInput
          label="Days that rows are kept"
          description="Older rows are deleted for good. The sums by hour stay, so usage and budgets remain right."
          min={1}
          max={longestDays}
          allowDecimal={false}
          {...form.getInputProps('days')}
        />
        <TagsInput
          label="JSON fields that are left out"
          description="Beside credentials, e-mail addresses and card numbers, which always are. Their values become [withheld] in what is captured from now on."
          placeholder="user"
          {...form.getInputProps('redact')}
        />
        <Group justify="space-between">
          <Remark>Whether bodies are captured is said for each key.</Remark>
          <Button type="submit" loading={busy} disabled={!form.isDirty()}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
