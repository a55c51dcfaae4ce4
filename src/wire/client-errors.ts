/** Errors of calls to a server. */

/** No connection came about in the time for one. */
export class ConnectTimeoutError extends Error {
  override readonly name = 'ConnectTimeoutError';
  readonly code = 'ERR_CONNECT_TIMEOUT';
}

interface Break {
  readonly code?: string | undefined;
  readonly stale?: boolean;
  readonly cause?: Error;
}

/** The connection ended before its answer was whole. */
export class BrokenConnectionError extends Error {
  override readonly name = 'BrokenConnectionError';
  /** That of the system where it has one, such as ECONNRESET. */
  readonly code: string;
  /**
   * It had served before, and the other side closed it before a byte of this answer came: most often that was on its way
   * already, and the request was never read. Not always.
   */
  readonly stale: boolean;

  constructor(message: string, { code = 'ERR_CONNECTION_CLOSED', stale = false, cause }: Break = {}) {
    super(message, { cause });
    this.code = code;
    this.stale = stale;
  }
}

/** What came is no answer of HTTP/1, or is one that could be read in two ways. */
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
