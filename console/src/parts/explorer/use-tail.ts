/** Follows the ledger live: new rows are inserted, or held back if they would move what the user is reading. */

import { useDocumentVisibility } from '@mantine/hooks';
import { useQueryClient } from '@tanstack/react-query';
import { startTransition, useEffect, useReducer, useRef, useState } from 'react';
import type { LedgerRow } from '../../../../src/admin/contract.ts';
import { sessionQuery } from '../api/session.ts';
import { noRows, type TailRows, takeEvent } from './tail-rows.ts';

/** Rows that arrive within this time are shown together. */
const gatherMs = 250;

type TailState = 'off' | 'connecting' | 'live' | 'waiting';

export interface Tail extends TailRows {
  readonly state: TailState;
  readonly hasSkipped: boolean;
  release(): void;
}

interface TailOptions {
  /** The URL to follow; undefined: do not follow. */
  readonly address: string | undefined;
  /** Whether new rows must be held back at present. */
  isHeld(): boolean;
  /** Called when no row will be missed any more; rows that arrived before are on the first page. */
  onReady(): void;
}

export function useTail({ address, isHeld, onReady }: TailOptions): Tail {
  const [rows, dispatch] = useReducer(takeEvent, noRows);
  const [state, setState] = useState<TailState>('off');
  const [hasSkipped, setHasSkipped] = useState(false);
  // A window that nobody sees does not hold a connection.
  const isVisible = useDocumentVisibility() === 'visible';
  const queries = useQueryClient();
  const latest = useRef({ isHeld, onReady });
  useEffect(() => {
    latest.current = { isHeld, onReady };
  });

  useEffect(() => {
    if (address === undefined || !isVisible) {
      setState('off');
      return;
    }
    dispatch({ kind: 'begin' });
    setState('connecting');
    setHasSkipped(false);
    const source = new EventSource(address);
    let gathered: LedgerRow[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    const show = (): void => {
      timer = undefined;
      const came = { kind: 'came', rows: gathered, isHeld: latest.current.isHeld() } as const;
      // Rendered in slices, so that the page stays responsive.
      startTransition(() => dispatch(came));
      gathered = [];
    };
    source.addEventListener('ready', () => {
      setState('live');
      latest.current.onReady();
    });
    source.addEventListener('row', ({ data }: MessageEvent<string>) => {
      setState('live');
      gathered.push(JSON.parse(data) as LedgerRow);
      timer ??= setTimeout(show, gatherMs);
    });
    source.addEventListener('skipped', () => setHasSkipped(true));
    source.addEventListener('waiting', () => setState('waiting'));
    source.addEventListener('error', () => {
      setState('waiting');
      // A closed source does not reconnect: most likely the session is over, and the shell asks for a sign-in.
      if (source.readyState === EventSource.CLOSED) void queries.invalidateQueries({ queryKey: sessionQuery.queryKey });
    });
    return () => {
      source.close();
      clearTimeout(timer);
    };
  }, [address, isVisible, queries]);

  return { ...rows, state, hasSkipped, release: () => dispatch({ kind: 'release' }) };
}
