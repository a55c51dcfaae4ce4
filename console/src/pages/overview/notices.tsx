/** Shows notices for the operator, each with a link to where it can be resolved. */

import { Box, Button, Group, Paper, Skeleton, Text, ThemeIcon, Title } from '@mantine/core';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from 'wouter';
import type { Notice } from '../../../../src/admin/contract.ts';
import { ask } from '../../parts/api/client.ts';
import { notifyFailed } from '../../parts/dialogs/undo.tsx';
import { Failed } from '../../parts/layout/state.tsx';
import { Remark } from '../../parts/layout/text.tsx';
import { Icon, type IconName } from '../../parts/marks/icon.tsx';
import { pageOf } from '../../parts/words/links.ts';
import { When } from '../../parts/words/numbers.tsx';
import { useNotices } from './overview-data.ts';

const looks: Readonly<Record<Notice['severity'], { icon: IconName; color: string; word: string }>> = {
  bad: { icon: 'warning', color: 'red', word: 'Act now' },
  warning: { icon: 'clock', color: 'orange', word: 'Soon' },
  hint: { icon: 'help', color: 'gray', word: 'Hint' },
};

export function Notices() {
  const { data, error, refetch } = useNotices();
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="notices" id="look" className="notices">
      <Title order={2} size="h5" id="notices" mb="xs">
        Things to look at
      </Title>
      {data === undefined && error !== null && <Failed error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton height={48} />}
      {data !== undefined && <List notices={data} />}
    </Paper>
  );
}

/** The notices, without those about budgets: these are shown beside the list, with spending. */
function List({ notices: all }: { readonly notices: readonly Notice[] }) {
  const notices = all.filter(({ kind }) => kind !== 'budget');
  if (notices.length === 0) {
    return (
      <Group gap="xs" py="sm" wrap="nowrap">
        <span className="tone-good">
          <Icon name="check" />
        </span>
        <Text size="sm">Nothing else waits for you.</Text>
      </Group>
    );
  }
  return (
    <ul className="notice-list">
      {notices.map((notice) => (
        <li key={notice.id}>
          <Line notice={notice} />
        </li>
      ))}
    </ul>
  );
}

function Line({ notice: { kind, severity, title, detail, about, at } }: { readonly notice: Notice }) {
  const { icon, color, word } = looks[severity];
  return (
    <Group wrap="nowrap" align="flex-start" gap="sm" py={6}>
      <ThemeIcon variant="light" color={color} size={26} role="img" aria-label={word}>
        <Icon name={icon} size={15} />
      </ThemeIcon>
      <Box miw={0}>
        <Text size="sm" fw={550} className="wrap-anywhere">
          <Link href={pageOf(about)} className="plain-link">
            {title}
          </Link>
        </Text>
        <Remark className="wrap-anywhere">
          {at !== null && (
            <>
              <When at={at} />:{' '}
            </>
          )}
          {detail}
        </Remark>
        {kind === 'secret-key-backup' && <BackedUp />}
      </Box>
    </Group>
  );
}

function BackedUp() {
  const queries = useQueryClient();
  const { mutate, isPending } = useMutation({
    mutationFn: () => ask('POST /api/notices/secret-key-backup'),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['notices'] }),
    onError: notifyFailed,
  });
  return (
    <Button size="compact-xs" variant="default" mt={4} loading={isPending} onClick={() => mutate()}>
      There is a copy
    </Button>
  );
}
