/** Errors of the admin listener before a request reaches the API, in the common error shape. */

interface Row {
  readonly status: number;
  readonly type: string;
  /** The next step. */
  readonly message: string;
}

const table = {
  malformed_request: {
    status: 400,
    type: 'invalid_request_error',
    message: 'The request is not well-formed HTTP, or has a body; send a plain GET.',
  },
  invalid_token: {
    status: 401,
    type: 'authentication_error',
    message: 'This listener is for operators; send its token (console.token) as "Authorization: Bearer <token>".',
  },
  path_not_found: { status: 404, type: 'invalid_request_error', message: 'There are /metrics and /healthz here.' },
  method_not_allowed: { status: 405, type: 'invalid_request_error', message: 'Only GET and HEAD are taken here.' },
  request_timeout: {
    status: 408,
    type: 'invalid_request_error',
    message: 'The request came too slowly; send it faster.',
  },
  host_not_allowed: {
    status: 421,
    type: 'invalid_request_error',
    message:
      'Ask for this listener by localhost, by an IP address of its machine, or by the name in console.host or console.url.',
  },
  headers_too_large: { status: 431, type: 'invalid_request_error', message: 'Send fewer or shorter headers.' },
  too_many_connections: {
    status: 503,
    type: 'server_error',
    message: 'Too many connections are open here, or from your address; close some, or come again in a moment.',
  },
  internal_error: { status: 500, type: 'server_error', message: 'Something went wrong inside; the log says what.' },
} as const satisfies Record<string, Row>;

export type RefusalCode = keyof typeof table;

export class Refusal extends Error {
  readonly code: RefusalCode;
  readonly status: number;
  /** Names and values. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(code: RefusalCode, headers: Readonly<Record<string, string>> = {}) {
    super(table[code].message);
    this.name = 'Refusal';
    this.code = code;
    this.status = table[code].status;
    this.headers = headers;
  }

  body(): string {
    const { message, code } = this;
    return JSON.stringify({ error: { message, type: table[code].type, param: null, code } });
  }
}
