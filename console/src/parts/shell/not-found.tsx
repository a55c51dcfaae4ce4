/** Stands where an address leads to no page. */

import { Button } from '@mantine/core';
import { Link } from 'wouter';
import { Empty } from '../layout/state.tsx';
import { useTitle } from '../layout/title.ts';

export function NotFound() {
  useTitle('No such page');
  return (
    <Empty
      icon="search"
      title="There is no page here"
      action={
        <Button component={Link} href="/">
          Go to the overview
        </Button>
      }
    >
      The address may be mistyped, or what it led to has another place now.
    </Empty>
  );
}
