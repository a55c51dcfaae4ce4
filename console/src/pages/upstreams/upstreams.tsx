/** The page Upstreams: which services calls go to, how they are just now, and the way to add another one. */

import { Button } from '@mantine/core';
import { useSearchParams } from 'wouter';
import { SideDrawer } from '../../parts/dialogs/drawer.tsx';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Icon } from '../../parts/marks/icon.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { NewUpstream } from './new-upstream.tsx';
import { UpstreamDetails } from './upstream-details.tsx';
import { UpstreamList } from './upstream-list.tsx';
import './upstreams.css';

export default function Upstreams() {
  const [params, setParams] = useSearchParams();
  const isNew = params.has('new');
  const opened = params.get('upstream') ?? undefined;
  const show = (name: 'new' | 'upstream' | undefined, value = ''): void =>
    setParams(name === undefined ? {} : { [name]: value });
  const add = (
    <Needs role="admin">
      <Button leftSection={<Icon name="plus" size={16} />} onClick={() => show('new')}>
        Add an upstream
      </Button>
    </Needs>
  );
  return (
    <>
      <PageHead title="Upstreams" about="The services that answer behind your models, and how they are just now.">
        {add}
      </PageHead>
      <UpstreamList add={add} onOpen={(id) => show('upstream', id)} opened={opened} />
      <SideDrawer
        opened={isNew || opened !== undefined}
        onClose={() => show(undefined)}
        title={isNew ? 'Add an upstream' : (opened ?? '')}
        subject={opened ?? 'new'}
        width={640}
      >
        {isNew && <NewUpstream onDone={(id) => show('upstream', id)} onCancel={() => show(undefined)} />}
        {!isNew && opened !== undefined && <UpstreamDetails key={opened} id={opened} onGone={() => show(undefined)} />}
      </SideDrawer>
    </>
  );
}
