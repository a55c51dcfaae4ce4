/** What happens just now: a stream of samples, one a second. */

import type { ServerEvent } from '../../api/event-stream.ts';
import type { AdminContext } from '../../context.ts';
import { implement } from '../../implement.ts';
import * as contract from '../contract/live.ts';
import type { LiveFrame, LiveSample, LiveUpstream } from '../live/sampler.ts';

/** For a reader that is behind: older ones are of no use any more. */
const mostWaiting = 30;

const getLive = implement(contract.getLive, ({ context, caller, headers, signal }) =>
  context.streams.open({ caller, headers, signal, context }, 'viewer', (over) => follow(context.live, over)),
);

interface LiveEvent {
  readonly isHistory: boolean;
  readonly samples: readonly LiveSample[];
  readonly upstreams: readonly LiveUpstream[];
  readonly isBehind: boolean;
}

const toEvent = (data: LiveEvent): ServerEvent => ({ data });

async function* follow(live: AdminContext['live'], signal: AbortSignal): AsyncGenerator<ServerEvent> {
  const waiting: LiveFrame[] = [];
  let wake: () => void = () => undefined;
  const watch = live.watch((frame) => {
    if (waiting.length >= mostWaiting) waiting.shift();
    waiting.push(frame);
    wake();
  });
  signal.addEventListener('abort', () => wake(), { once: true });
  try {
    yield toEvent({ isHistory: true, samples: watch.history, upstreams: watch.upstreams, isBehind: false });
    while (!signal.aborted) {
      const frame = waiting.shift();
      if (frame === undefined) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
        continue;
      }
      const { sample, upstreams } = frame;
      const samples = sample === undefined ? [] : [sample];
      yield toEvent({ isHistory: false, samples, upstreams, isBehind: sample === undefined });
    }
  } finally {
    watch.close();
  }
}

export default [getLive];
