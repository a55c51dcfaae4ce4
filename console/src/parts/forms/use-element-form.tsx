/** React hook for the form of a stored element, such as a model or a key; handles changes that someone else makes in the meantime. */

import { Alert, Button, Group, Stack, Text } from '@mantine/core';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import type { Written } from '../../../../src/admin/contract.ts';
import { ApiError, type Versioned } from '../api/client.ts';
import { notifyDone } from '../dialogs/undo.tsx';
import { type Difference, toDifferences } from '../history/differences.ts';
import { DataTable } from '../layout/table.tsx';
import { Icon } from '../marks/icon.tsx';
import { type Document, toText } from './documents.ts';
import { readDraft } from './draft.ts';
import { type ApiForm, type ApiFormOptions, useApiForm } from './use-api-form.ts';

interface Element {
  readonly id: string;
  readonly version: number | null;
  readonly document: Document;
}

interface Saved {
  readonly id: string;
  readonly document: Document;
  /** The version of the element; undefined if it is not stored yet. */
  readonly etag: string | undefined;
}

interface ElementFormOptions<Values extends Document, Answer>
  extends Pick<ApiFormOptions<Values, Answer>, 'secrets' | 'toField'> {
  /** The element as it was when editing began; undefined if it is new. */
  readonly began: Versioned<Element> | undefined;
  /** The first values of the form, for a new element. */
  readonly first: Values;
  /** The name of the draft, if there is one; it changes when the shape of the values changes. */
  readonly draft?: string | undefined;
  /** What happens to other people's changes when this form is saved, in words. */
  readonly kept?: string;
  toValues(document: Document): Values;
  toDocument(values: Values): Document;
  read(id: string): Promise<Versioned<Element>>;
  /** If only changes are sent: makes them from the document before and after editing. */
  readonly toChange?: (before: Document, after: Document) => Document;
  save(saved: Saved): Promise<Answer>;
  onDone(id: string, answer: Answer): void;
}

interface ElementForm<Values extends Document> {
  readonly api: ApiForm<Values>;
  /** To be shown in the form: nothing, or that someone else has changed the element. */
  readonly conflict: ReactNode;
}

export function useElementForm<Values extends Document, Answer>(
  options: ElementFormOptions<Values, Answer>,
): ElementForm<Values> {
  const { began, first, draft, kept = 'Saving now replaces what they wrote.', ...others } = options;
  const { toValues, toDocument, toChange, read, save, onDone, ...ofForm } = others;
  const [edited, setEdited] = useState(began);
  const [theirs, setTheirs] = useState<Versioned<Element>>();
  const [etag, setEtag] = useState(() => began && tagOf(began));
  const idOf = (values: Values): string => began?.data.id ?? toText(values.id).trim();
  const written = (values: Values): Document => toDocument({ ...values, id: idOf(values) });
  const rewritten = (document: Document): Document => written(toValues(document));
  const sent = (values: Values): Document =>
    toChange?.(rewritten(edited?.data.document ?? {}), written(values)) ?? written(values);
  const api = useApiForm<Values, Answer>({
    ...ofForm,
    initialValues: began === undefined ? first : toValues(began.data.document),
    ...(draft !== undefined && { draftKey: began === undefined ? `new ${draft}` : draftKeyOf(draft, began) }),
    submit: async (values) => {
      try {
        return await save({ id: idOf(values), document: sent(values), etag });
      } catch (error) {
        if (began !== undefined && isBeaten(error)) setTheirs(await read(began.data.id));
        throw error;
      }
    },
    onDone: (answer, values) => onDone(idOf(values), answer),
  });
  if (theirs === undefined) return { api, conflict: null };
  const { document } = theirs.data;
  const loadTheirs = (): void => {
    api.show(toValues(document));
    api.form.clearErrors();
    setEdited(theirs);
    setEtag(tagOf(theirs));
    setTheirs(undefined);
  };
  const original = rewritten(document);
  const saved = { ...(toChange !== undefined && original), ...sent(api.form.getValues()) };
  const conflict = (
    <Beaten
      // A typed secret is not shown in clear.
      differences={ofForm.secrets === undefined ? toDifferences(original, saved) : []}
      kept={etag === tagOf(theirs) ? kept : undefined}
      onLoadTheirs={loadTheirs}
      onKeepMine={() => setEtag(tagOf(theirs))}
    />
  );
  return { api, conflict };
}

const draftKeyOf = (draft: string, { data, etag = '' }: Versioned<Element>): string => `${draft} ${data.id} ${etag}`;

/** Continues an edit that a reload interrupted: its draft is still there. */
export function useInterruptedEdit<E extends Element>(
  draft: string,
  loaded: Versioned<E> | undefined,
  goOn: (began: Versioned<E>) => void,
): void {
  const isDecided = useRef(false);
  useEffect(() => {
    if (loaded === undefined || isDecided.current) return;
    isDecided.current = true;
    if (readDraft(draftKeyOf(draft, loaded)) !== undefined) goOn(loaded);
  }, [draft, loaded, goOn]);
}

/** The version of a model; undefined for a discovered one, which gets its first version when it is saved. */
const tagOf = ({ data, etag }: Versioned<Element>): string | undefined => (data.version === null ? undefined : etag);

const isBeaten = (error: unknown): boolean =>
  error instanceof ApiError && (error.code === 'changed_meanwhile' || error.code === 'already_there');

/** Reports that an element was saved, with warnings about values that are valid but perhaps not intended. */
export function notifyWritten(id: string, { outcome, warnings }: Written): void {
  const words = { created: 'is added', changed: 'is saved', unchanged: 'is as it was' }[outcome];
  notifyDone([`${id} ${words}.`, ...warnings.map((warning) => `Look at this: ${warning}.`)].join(' '));
}

interface BeatenProps {
  readonly differences: readonly Difference[];
  /** What saving does to the other person's changes, in words; undefined until the user has decided to keep the own input. */
  readonly kept: string | undefined;
  onLoadTheirs(): void;
  onKeepMine(): void;
}

const Beaten = ({ differences, kept, onLoadTheirs, onKeepMine }: BeatenProps) => (
  <Alert variant="default" icon={<Icon name="users" />} title="It was changed in the meantime">
    <Stack gap="sm">
      <Text size="sm">
        {kept === undefined
          ? 'Nothing is lost: take over what they wrote, or keep what you typed.'
          : `What you typed is still here. ${kept}`}
      </Text>
      {differences.length > 0 && <Differences differences={differences} />}
      <Group gap="xs">
        <Button size="xs" variant="default" onClick={onLoadTheirs}>
          Load theirs
        </Button>
        {kept === undefined && (
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
      columns={[
        { title: 'Field', ...cell },
        { title: 'Theirs', ...cell },
        { title: 'Mine', ...cell },
      ]}
      rows={differences.map(({ path, before, after }) => ({ id: path, cells: [path, before || '–', after || '–'] }))}
    />
  );
}
