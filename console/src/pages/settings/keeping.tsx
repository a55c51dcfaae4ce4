/** How long rows are kept, and what is left out of captured bodies. */

import { Button, Group, NumberInput, Stack, TagsInput } from '@mantine/core';
import type { Setting } from '../../../../src/admin/contract.ts';
import { notifyDone } from '../../parts/dialogs/undo.tsx';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { Remark } from '../../parts/layout/text.tsx';
import { Section, SettingFrame, useSettingWriter } from './section.tsx';

const longestDays = 3_650;

export function Keeping() {
  return (
    <Section
      title="What is kept"
      about="Each request leaves a row in the ledger: who, what, how long, what it cost. Bodies are kept only for keys that say so, and never with what looks like a secret."
    >
      <SettingFrame id="ledger">{(setting) => <KeepingForm setting={setting} />}</SettingFrame>
    </Section>
  );
}

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
