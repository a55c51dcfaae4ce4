/** Defines the errors of calls to a server. */

export class ConnectTimeoutError extends Error {
  override readonly name = 'ConnectTimeoutError';
  readonly code = 'ERR_CONNECT_TIMEOUT';
}

interface Break {
  readonly code?: string | undefined;
  readonly stale?: boolean;
  readonly cause?: Error;
}

export class BrokenConnectionError extends Error {
  override readonly name = 'BrokenConnectionError';
  /** The system's error code if there is one, such as ECONNRESET. */
  readonly code: string;
  /**
   * Whether the connection had served before and was closed before a byte of this answer: mostly the server had closed it already, and never read the
   * request. Not always.
   */
  readonly stale: boolean;

  constructor(message: string, { code = 'ERR_CONNECTION_CLOSED', stale = false, cause }: Break = {}) {
    super(message, { cause });
    this.code = code;
    this.stale = stale;
  }
}

/** The error for bytes that are no HTTP/1 answer, or could be read in two ways. */
export class BadAnswerError extends Error {
  override readonly name = 'BadAnswerError';
  readonly code = 'ERR_BAD_ANSWER';
}

export class PoolClosedError extends Error {
  override readonly name = 'PoolClosedError';
  readonly code = 'ERR_POOL_CLOSED';

  constructor() {
    super('the connections were closed on this side');
  }
}
