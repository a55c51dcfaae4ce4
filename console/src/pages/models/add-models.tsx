/** Adds models from an upstream's model list, several at once, or by typed names. */

import { Anchor, Button, Modal, Select, Stack } from '@mantine/core';
import { useState } from 'react';
import { Link } from 'wouter';
import { Empty, Failed, Loading } from '../../parts/layout/state.tsx';
import { PickModels, useUpstreams } from '../../parts/models/pick-models.tsx';

interface AddModelsProps {
  readonly opened: boolean;
  /** The upstream to select first. */
  readonly from?: string | undefined;
  onClose(): void;
  /** Called to open the complete form of a model instead. */
  onByHand(): void;
}

export const AddModels = ({ opened, from, onClose, onByHand }: AddModelsProps) => (
  <Modal opened={opened} onClose={onClose} title="Add models" size="lg">
    <Body from={from} onClose={onClose} onByHand={onByHand} />
  </Modal>
);

function Body({ from, onClose, onByHand }: Omit<AddModelsProps, 'opened'>) {
  const { data: upstreams, error, refetch } = useUpstreams();
  const [picked, setPicked] = useState<string | null>(from ?? null);
  const only = upstreams?.length === 1 ? upstreams[0]?.id : undefined;
  const upstream = upstreams?.find(({ id }) => id === (picked ?? only));

  if (upstreams === undefined) {
    return error === null ? <Loading rows={3} /> : <Failed error={error} onRetry={() => void refetch()} />;
  }
  if (upstreams.length === 0) {
    return (
      <Empty
        icon="upstreams"
        title="Add an upstream first"
        action={
          <Button component={Link} href="/upstreams" onClick={onClose}>
            Go to upstreams
          </Button>
        }
      >
        A model is answered by an upstream: a provider, or a server of your own.
      </Empty>
    );
  }
  return (
    <Stack>
      <Select
        label="Upstream"
        data={upstreams.map(({ id, family }) => ({
          value: id,
          label: id === family.id ? id : `${id} (${family.title})`,
        }))}
        value={upstream?.id ?? null}
        onChange={setPicked}
        placeholder="Choose an upstream"
        allowDeselect={false}
        data-autofocus
      />
      {upstream !== undefined && (
        <PickModels key={upstream.id} upstream={upstream.id} onAdded={onClose}>
          <Anchor component="button" type="button" size="sm" mr="auto" onClick={onByHand}>
            Write one by hand, with several targets
          </Anchor>
          <Button variant="default" onClick={onClose}>
            Cancel
          </Button>
        </PickModels>
      )}
      {upstream === undefined && (
        <Anchor component="button" type="button" size="sm" onClick={onByHand}>
          Write one by hand, with several targets
        </Anchor>
      )}
    </Stack>
  );
}
