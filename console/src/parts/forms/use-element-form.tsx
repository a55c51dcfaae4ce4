/** The form of a model or an upstream, with conflict handling if someone else changed it meanwhile. */

import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useState } from 'react';
import type { Written } from '../../../../src/admin/contract.ts';
import { ApiError, type Versioned } from '../api/client.ts';
import { notifyDone } from '../dialogs/undo.tsx';
import { type Difference, toDifferences } from '../history/differences.ts';
import { DataTable } from '../layout/table.tsx';
import { Icon } from '../marks/icon.tsx';
import { type Document, toText } from './documents.ts';
import { type ApiForm, type ApiFormOptions, useApiForm } from './use-api-form.ts';

/** As it was when editing began. */
interface Element {
  readonly id: string;
  readonly version: number | null;
  readonly document: Document;
}

interface ElementFormOptions<Values extends Document>
  extends Pick<ApiFormOptions<Values, Written>, 'secrets' | 'toField'> {
  /** Undefined if it is new. */
  readonly began: Versioned<Element> | undefined;
  /** The values of a new one. */
  readonly first: Values;
  /** The name of the draft; it changes when the shape of the values changes. */
  readonly draft: string;
  toValues(document: Document): Values;
  toDocument(values: Values): Document;
  read(id: string): Promise<Versioned<Element>>;
  save(document: Document, etag: string | undefined): Promise<Written>;
  onDone(id: string): void;
  onCancel(): void;
}

interface ElementForm<Values extends Document> {
  readonly api: ApiForm<Values>;
  /** To be shown in the form: nothing, unless someone else was quicker. */
  readonly conflict: ReactNode;
  cancel(): void;
}

export function useElementForm<Values extends Document>(options: ElementFormOptions<Values>): ElementForm<Values> {
  const { began, first, draft, toValues, toDocument, read, save, onDone, onCancel, ...others } = options;
  const [theirs, setTheirs] = useState<Versioned<Element>>();
  const [seen, setSeen] = useState(() => began && tagOf(began));
  const idOf = (values: Values): string => began?.data.id ?? toText(values.id).trim();
  const written = (values: Values): Document => toDocument({ ...values, id: idOf(values) });
  const api = useApiForm<Values, Written>({
    ...others,
    initialValues: began === undefined ? first : toValues(began.data.document),
    draftKey: began === undefined ? `new ${draft}` : `${draft} ${began.data.id} ${began.etag ?? ''}`,
    submit: async (values) => {
      try {
        return await save(written(values), seen);
      } catch (error) {
        if (began !== undefined && isBeaten(error)) setTheirs(await read(began.data.id));
        throw error;
      }
    },
    onDone: (answer, values) => {
      notify(idOf(values), answer);
      onDone(idOf(values));
    },
  });
  const cancel = (): void => {
    api.discardDraft();
    onCancel();
  };
  if (theirs === undefined) return { api, conflict: null, cancel };
  const { document } = theirs.data;
  const loadTheirs = (): void => {
    api.show(toValues(document));
    api.form.clearErrors();
    setSeen(tagOf(theirs));
    setTheirs(undefined);
  };
  const hasSecrets = others.secrets !== undefined;
  const conflict = (
    <Beaten
      hasSecrets={hasSecrets}
      // A typed secret is not shown in clear.
      differences={hasSecrets ? [] : toDifferences(document, written(api.form.getValues()))}
      isKept={seen === tagOf(theirs)}
      onLoadTheirs={loadTheirs}
      onKeepMine={() => setSeen(tagOf(theirs))}
    />
  );
  return { api, conflict, cancel };
}

/** A discovered model has no version yet; saving creates its first one. */
const tagOf = ({ data, etag }: Versioned<Element>): string | undefined => (data.version === null ? undefined : etag);

const isBeaten = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'changed_meanwhile' || error.code === 'already_there');

/** Also shows warnings about values that are valid but perhaps not intended. */
function notify(id: string, { outcome, warnings }: Written): void {
  const words = { created: 'is added', changed: 'is saved', unchanged: 'is as it was' }[outcome];
  notifyDone([`${id} ${words}.`, ...warnings.map((warning) => `Look at this: ${warning}.`)].join(' '));
}

interface BeatenProps {
  readonly hasSecrets: boolean;
  readonly differences: readonly Difference[];
  readonly isKept: boolean;
  onLoadTheirs(): void;
  onKeepMine(): void;
}

const Beaten = ({ hasSecrets, differences, isKept, onLoadTheirs, onKeepMine }: BeatenProps) => (
  <Alert variant="default" icon={<Icon name="users" />} title="It was changed in the meantime">
    <Stack gap="sm">
      <Text size="sm">
        {isKept
          ? `What you typed is still here. Saving now replaces what they wrote${hasSecrets ? '; credentials that you left alone are theirs' : ''}.`
          : 'Nothing is lost: take over what they wrote, or keep what you typed.'}
      </Text>
      {differences.length > 0 && <Differences differences={differences} />}
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={onLoadTheirs}>
          Load theirs
        </Button>
        {!isKept && (
          <Button size="xs" variant="default" onClick={onKeepMine}>
            Keep mine
          </Button>
        )}
      </Group>
    </Stack>
  </Alert>
);

function Differences({ differences }: { readonly differences: readonly Difference[] }) {
  const cell = { className: 'breaks' };
  return (
    <DataTable
      aria-label="What differs"
      layout="fixed"
      isNamed
      columns={['Field', { title: 'Theirs', ...cell }, { title: 'Mine', ...cell }]}
      rows={differences.map(({ path, before, after }) => ({ id: path, cells: [path, before || '–', after || '–'] }))}
    />
  );
}
