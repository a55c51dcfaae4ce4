/** Shows the Upstreams page: services with their current health, and a form to add one. */

import './upstreams.css';
import { Redirect, useLocation, useSearchParams } from 'wouter';
import { isNotFound } from '../../parts/api/client.ts';
import { SideDrawer } from '../../parts/dialogs/drawer.tsx';
import { SubjectPage } from '../../parts/explorer/subject-page.tsx';
import type { Document } from '../../parts/forms/documents.ts';
import { Action } from '../../parts/layout/button.tsx';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { pageOf, segmentsOf } from '../../parts/words/links.ts';
import { NewUpstream } from './new-upstream.tsx';
import { readUpstream, saveUpstream, useUpstream } from './upstream-data.ts';
import { UpstreamDetails } from './upstream-details.tsx';
import { UpstreamList } from './upstream-list.tsx';

export default function Upstreams() {
  const [location] = useLocation();
  const [params] = useSearchParams();
  const [id] = segmentsOf(location);
  // Links from before upstreams had pages of their own.
  const asked = params.get('upstream');
  if (asked !== null) return <Redirect to={pageOf({ kind: 'upstream', id: asked })} replace />;
  return id === undefined || id === '' ? <List /> : <OneUpstream key={id} id={id} />;
}

function OneUpstream({ id }: { readonly id: string }) {
  const [, go] = useLocation();
  const { data, error } = useUpstream(id);
  const restore = async (document: Document): Promise<unknown> =>
    saveUpstream({ ...document, id }, isNotFound(error) ? undefined : (await readUpstream(id)).etag);
  return (
    <SubjectPage
      kind="upstream"
      id={id}
      loaded={{ data, error }}
      list={{ href: '/upstreams', title: 'Upstreams' }}
      onRestore={isNotFound(error) || data?.data.managedBy === 'store' ? restore : undefined}
    >
      <UpstreamDetails id={id} onGone={() => go('/upstreams')} />
    </SubjectPage>
  );
}

function List() {
  const [params, setParams] = useSearchParams();
  const [, go] = useLocation();
  const isNew = params.has('new');
  const close = (): void => setParams({});
  const add = (
    <Needs role="admin">
      <Action icon="plus" label="Add an upstream" variant="filled" onClick={() => setParams({ new: '' })} />
    </Needs>
  );
  return (
    <>
      <PageHead title="Upstreams" about="The services that answer behind your models, and how they are just now.">
        {add}
      </PageHead>
      <UpstreamList add={add} />
      <SideDrawer opened={isNew} onClose={close} title="Add an upstream" subject="new" width={640}>
        <NewUpstream onDone={(id) => go(pageOf({ kind: 'upstream', id }))} onCancel={close} />
      </SideDrawer>
    </>
  );
}
