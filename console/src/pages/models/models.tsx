/** Shows the Models page: what clients may call, which targets serve it, at which price, and whether it is visible. */

import { useDisclosure } from '@mantine/hooks';
import { Redirect, useLocation } from 'wouter';
import { isNotFound } from '../../parts/api/client.ts';
import { SideDrawer } from '../../parts/dialogs/drawer.tsx';
import { SubjectPage } from '../../parts/explorer/subject-page.tsx';
import type { Document } from '../../parts/forms/documents.ts';
import { Action } from '../../parts/layout/button.tsx';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { saveModel } from '../../parts/models/pick-models.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { pageOf, segmentsOf } from '../../parts/words/links.ts';
import { AddModels } from './add-models.tsx';
import { EditModel, newModelId } from './edit-model.tsx';
import { FilterBar, useFilters } from './filter-bar.tsx';
import { readModel, useModel } from './model-data.ts';
import { ModelDetails } from './model-details.tsx';
import { ModelList } from './model-list.tsx';

export default function Models() {
  const [location] = useLocation();
  const [id] = segmentsOf(location);
  return id === undefined || id === '' ? <List /> : <OneModel key={id} id={id} />;
}

function OneModel({ id }: { readonly id: string }) {
  const [, go] = useLocation();
  const { data, error } = useModel(id, false);
  const restore = async (document: Document): Promise<unknown> =>
    saveModel({ ...document, id }, isNotFound(error) ? undefined : (await readModel(id)).etag);
  return (
    <SubjectPage
      kind="model"
      id={id}
      loaded={{ data, error }}
      list={{ href: '/models', title: 'Models' }}
      onRestore={isNotFound(error) || data?.data.managedBy === 'store' ? restore : undefined}
    >
      <ModelDetails id={id} onGone={() => go('/models')} />
    </SubjectPage>
  );
}

function List() {
  const state = useFilters();
  const [, go] = useLocation();
  const [adding, { open: startAdding, close: stopAdding }] = useDisclosure(false);
  const { opened } = state;
  const close = (): void => state.open(undefined);
  const stop = (): void => {
    stopAdding();
    state.forgetAdding();
  };
  const add = (
    <Needs role="editor">
      <Action icon="plus" label="Add models" variant="filled" onClick={startAdding} />
    </Needs>
  );
  // Links from before models had pages of their own.
  if (opened !== undefined && opened !== newModelId)
    return <Redirect to={pageOf({ kind: 'model', id: opened })} replace />;
  return (
    <>
      <PageHead title="Models" about="What clients may ask for, who answers, and at which price.">
        {add}
      </PageHead>
      <FilterBar state={state} />
      <ModelList state={state} add={add} />
      <AddModels
        opened={adding || state.addFrom !== undefined}
        from={state.addFrom}
        onClose={stop}
        onByHand={() => {
          stop();
          state.open(newModelId);
        }}
      />
      <SideDrawer opened={opened === newModelId} onClose={close} title="New model" subject="new" width={640}>
        <EditModel onDone={(id) => go(pageOf({ kind: 'model', id }))} onCancel={close} />
      </SideDrawer>
    </>
  );
}
