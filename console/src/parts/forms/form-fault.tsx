/** What is wrong with a form beside its fields: said at once to those who listen rather than look. */

import { Alert } from '@mantine/core';
import { Icon } from '../marks/icon.tsx';

export function FormFault({ fault }: { readonly fault: string | undefined }) {
  return (
    <div role="alert">
      {fault !== undefined && (
        <Alert variant="light" color="red" icon={<Icon name="warning" />} className="form-fault">
          {fault}
        </Alert>
      )}
    </div>
  );
}
