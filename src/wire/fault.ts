/** Describes a protocol error in a message, as text for its sender. */

export interface WireFault {
  /** `malformed`: not HTTP; `ambiguous`: could be read in two ways, or asks for something that is not supported. */
  readonly kind: 'malformed' | 'ambiguous' | 'too-large' | 'too-slow';
  /** One sentence; for a limit, with its size. Empty if there is nothing to add to the kind. */
  readonly message: string;
  /** A word of the faulty message, from the other side: it may be returned to it, but not logged. */
  readonly theirs?: string | undefined;
  /** Set for a request whose head could be read, but not served. */
  readonly request?: {
    readonly method: string;
    readonly fields: { get(name: string): string | undefined; has(name: string): boolean };
  };
}

export function malformed(message: string, theirs?: string): WireFault {
  return { kind: 'malformed', message, theirs };
}

export function ambiguous(message: string): WireFault {
  return { kind: 'ambiguous', message };
}

export function tooLarge(message: string, theirs?: string): WireFault {
  return { kind: 'too-large', message, theirs };
}

/** The message without the words of the other side. */
export function inOurWords({ message, theirs }: WireFault): string {
  return theirs === undefined ? message : message.replace(` ${theirs}`, '');
}
