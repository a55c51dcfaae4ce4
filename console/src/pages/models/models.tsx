/** The page Models: what clients may ask for, who answers, at which price, and whether they see it. */

import { useDisclosure } from '@mantine/hooks';
import { SideDrawer } from '../../parts/dialogs/drawer.tsx';
import { Action } from '../../parts/layout/button.tsx';
import { PageHead } from '../../parts/layout/page-head.tsx';
import { Needs } from '../../parts/session/role.tsx';
import { AddModels } from './add-models.tsx';
import { NewModel, newModelId } from './edit-model.tsx';
import { FilterBar, useFilters } from './filter-bar.tsx';
import { ModelDetails } from './model-details.tsx';
import { ModelList } from './model-list.tsx';

export default function Models() {
  const state = useFilters();
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
      <SideDrawer
        opened={opened !== undefined}
        onClose={close}
        title={opened === newModelId ? 'New model' : (opened ?? '')}
        subject={opened ?? ''}
        width={640}
      >
        {opened === newModelId && <NewModel onDone={(id) => state.open(id)} onCancel={close} />}
        {opened !== undefined && opened !== newModelId && <ModelDetails key={opened} id={opened} onGone={close} />}
      </SideDrawer>
    </>
  );
}
