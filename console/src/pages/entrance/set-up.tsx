/** Makes the first owner, with the link that the first start printed. */

import { Button, Stack, Text, TextInput } from '@mantine/core';
import { ask } from '../../parts/api/client.ts';
import { FormFault } from '../../parts/forms/form-fault.tsx';
import { NewPassword } from '../../parts/forms/new-password.tsx';
import { useApiForm } from '../../parts/forms/use-api-form.ts';
import { Entrance } from './entrance.tsx';
import { goHome, useLinkToken } from './link-token.ts';

export function SetUp() {
  const token = useLinkToken();
  if (token === undefined) {
    return (
      <Entrance title="This link is not whole">
        <Text size="sm">
          Copy it once more from where the gateway was started: it ends in <code>#token=</code> and some letters.
        </Text>
      </Entrance>
    );
  }
  return <Form token={token} />;
}

function Form({ token }: { readonly token: string }) {
  const { form, fault, busy, onSubmit } = useApiForm({
    initialValues: { name: '', email: '', password: '' },
    draftKey: 'set-up',
    secrets: ['password'],
    submit: (values) => ask('POST /api/setup', { body: { token, ...values } }),
    onDone: goHome,
  });
  return (
    <Entrance
      title="Set up the console"
      about="You become its owner: you see and change everything, and can invite others."
    >
      <form onSubmit={onSubmit} noValidate>
        <Stack gap="md">
          <FormFault fault={fault} />
          <TextInput
            label="Your name"
            autoComplete="name"
            required
            withAsterisk={false}
            autoFocus
            {...form.getInputProps('name')}
          />
          <TextInput
            label="Email"
            type="email"
            autoComplete="username"
            description="You sign in with it; nothing is sent to it."
            required
            withAsterisk={false}
            {...form.getInputProps('email')}
          />
          <NewPassword withAsterisk={false} {...form.getInputProps('password')} value={form.values.password} />
          <Button type="submit" loading={busy} fullWidth>
            Become the owner
          </Button>
        </Stack>
      </form>
    </Entrance>
  );
}
