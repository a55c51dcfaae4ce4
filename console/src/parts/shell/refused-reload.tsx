/** Shown on every page while the current configuration file is refused: file, line and reason of each fault. */

import { Alert, List, Text } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { ask } from '../api/client.ts';
import { Icon } from '../marks/icon.tsx';
import { When } from '../words/numbers.tsx';

const everyMs = 10_000;
const shownFaults = 5;

export function RefusedReload() {
  const { data } = useQuery({
    queryKey: ['configuration'],
    queryFn: ({ signal }) => ask('GET /api/configuration', { signal }),
    refetchInterval: everyMs,
  });
  if (data === undefined || data.refused === null) return null;
  const { at, faults } = data.refused;
  return (
    <Alert
      variant="light"
      color="red"
      mb="md"
      icon={<Icon name="warning" />}
      title="The configuration file is refused; what was read before is in force"
      role="alert"
      className="refused-reload"
    >
      <List size="sm" spacing={2} listStyleType="none">
        {faults.slice(0, shownFaults).map(({ file, line, message }) => (
          <List.Item key={`${file} ${line} ${message}`} className="any-wrap">
            <Text span inherit ff="monospace" fz="xs">
              {[file ?? data.file, line].filter((part) => part !== null).join(':')}
            </Text>{' '}
            {message}
          </List.Item>
        ))}
      </List>
      <Text size="xs" mt={4}>
        {faults.length > shownFaults && `And ${faults.length - shownFaults} more. `}
        Refused <When at={at} />; read last <When at={data.readAt} />.
      </Text>
    </Alert>
  );
}
