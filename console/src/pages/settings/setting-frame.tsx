/** What stands around a setting: whether it can be changed here, and where it is declared if not. */

import { Alert, Text } from '@mantine/core';
import type { ReactNode } from 'react';
import type { Setting } from '../../../../src/admin/contract.ts';
import { Failed, Loading } from '../../parts/layout/state.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { useSettings } from './setting-data.ts';

interface SettingFrameProps {
  readonly id: Setting['id'];
  children(setting: Setting): ReactNode;
}

export function SettingFrame({ id, children }: SettingFrameProps) {
  const { data, error, refetch } = useSettings();
  if (error !== null) return <Failed error={error} onRetry={() => void refetch()} />;
  const setting = data?.items.find((one) => one.id === id);
  if (setting === undefined) return <Loading rows={2} rowHeight={60} />;
  if (setting.managedBy !== 'store') {
    return (
      <Alert variant="light" color="gray" icon={<Icon name="file" />}>
        <Text size="sm" className="breaks">
          The configuration file decides this
          {setting.place !== null && ` (${setting.place.file}, line ${setting.place.line})`}. Change it there, or take
          it out there to change it here.
        </Text>
      </Alert>
    );
  }
  // Another version is another form: what is there now.
  return (
    <Needs role="admin" key={setting.version}>
      {children(setting)}
    </Needs>
  );
}
