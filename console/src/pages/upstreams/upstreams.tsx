/** The page Upstreams: which services calls go to, how they are just now, and the way to add another one. */

import './upstreams.css';
import { useSearchParams } from 'wouter';
import { SideDrawer } from '../../parts/dialogs/drawer.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { NewUpstream } from './new-upstream.tsx';
import { UpstreamDetails } from './upstream-details.tsx';
import { UpstreamList } from './upstream-list.tsx';

export default function Upstreams() {
  const [params, setParams] = useSearchParams();
  const isNew = params.has('new');
  const opened = params.get('upstream') ?? undefined;
  const show = (name: 'new' | 'upstream' | undefined, value = ''): void =>
    setParams(name === undefined ? {} : { [name]: value });
  const add = (
    <Needs role="admin">
      <Action icon="plus" label="Add an upstream" variant="filled" onClick={() => show('new')} />
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
