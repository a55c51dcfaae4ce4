/** A call as a part of the page sees it: running, answered, failed; stopped when asked to, or when the reader leaves. */

import { useCallback, useEffect, useRef, useState } from 'react';
import { type Answer, type Call, callGateway, isStopped } from './call.ts';

interface CallState {
  readonly isRunning: boolean;
  /** Of the last call that was answered; it stays until the next one is. */
  readonly answer: Answer | undefined;
  /** Why the last call could not even be made. */
  readonly error: unknown;
}

export interface CallHandle extends CallState {
  run(call: Call, onEvent?: (event: unknown) => void): Promise<Answer | undefined>;
  stop(): void;
  clear(): void;
}

const atRest: CallState = { isRunning: false, answer: undefined, error: undefined };

export function useCall(): CallHandle {
  const [state, setState] = useState<CallState>(atRest);
  const running = useRef<AbortController>(undefined);

  const stop = useCallback(() => running.current?.abort(), []);
  useEffect(() => stop, [stop]);

  const run = useCallback(async (call: Call, onEvent?: (event: unknown) => void): Promise<Answer | undefined> => {
    running.current?.abort();
    const own = new AbortController();
    running.current = own;
    setState(({ answer }) => ({ isRunning: true, answer, error: undefined }));
    const isMine = (): boolean => running.current === own;
    try {
      const answer = await callGateway(call, { signal: own.signal, onEvent: (event) => isMine() && onEvent?.(event) });
      if (isMine()) setState({ isRunning: false, answer, error: undefined });
      return isMine() ? answer : undefined;
    } catch (error) {
      if (isMine())
        setState(({ answer }) => ({ isRunning: false, answer, error: isStopped(error) ? undefined : error }));
      return undefined;
    }
  }, []);

  const clear = useCallback(() => {
    running.current?.abort();
    running.current = undefined;
    setState(atRest);
  }, []);

  return { ...state, run, stop, clear };
}
