/** React hook for a call: running, answered or failed; stopped on request or when the page is left. */

import { createContext, useCallback, useContext, useEffect, useRef, useState } from 'react';
import { type Answer, type Call, callGateway, isStopped } from './call.ts';

/** The key for the page's calls; undefined: the playground's own. It is only in memory, so that a reload forgets it. */
export const OwnKey = createContext<string | undefined>(undefined);

interface CallState {
  readonly isRunning: boolean;
  /** The last answer, until the next one arrives. */
  readonly answer: Answer | undefined;
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
  const key = useContext(OwnKey);

  const stop = useCallback(() => running.current?.abort(), []);
  useEffect(() => stop, [stop]);

  const run = useCallback(
    async (call: Call, onEvent?: (event: unknown) => void): Promise<Answer | undefined> => {
      running.current?.abort();
      const own = new AbortController();
      running.current = own;
      setState(({ answer }) => ({ isRunning: true, answer, error: undefined }));
      const isMine = (): boolean => running.current === own;
      try {
        const answer = await callGateway(call, {
          signal: own.signal,
          key,
          onEvent: (event) => isMine() && onEvent?.(event),
        });
        if (isMine()) setState({ isRunning: false, answer, error: undefined });
        return isMine() ? answer : undefined;
      } catch (error) {
        if (isMine())
          setState(({ answer }) => ({ isRunning: false, answer, error: isStopped(error) ? undefined : error }));
        return undefined;
      }
    },
    [key],
  );

  const clear = useCallback(() => {
    running.current?.abort();
    running.current = undefined;
    setState(atRest);
  }, []);

  return { ...state, run, stop, clear };
}

export interface Pair {
  readonly first: CallHandle;
  readonly second: CallHandle;
  readonly isRunning: boolean;
  run(call: Call, other: Call | undefined): void;
  stop(): void;
}

/** Makes one call, and the same to a second model if one is chosen: both are started, stopped and awaited together. */
export function usePair(): Pair {
  const [first, second] = [useCall(), useCall()];
  return {
    first,
    second,
    isRunning: first.isRunning || second.isRunning,
    run(call, other) {
      void first.run(call);
      if (other === undefined) second.clear();
      else void second.run(other);
    },
    stop() {
      first.stop();
      second.stop();
    },
  };
}
