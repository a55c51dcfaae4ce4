/** Interface for log events; the process decides where they are written. */

export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** Steps of a request, written at `log.level: debug` alone. No body, header or secret is among the fields. */
export interface DebugLog {
  debug(message: string, fields: Record<string, unknown>): void;
}
