/** Interface to write log events; the process decides where they go. */

export interface Log {
  info(message: string, fields?: Record<string, unknown>): void;
  warn(message: string, fields?: Record<string, unknown>): void;
  error(message: string, fields?: Record<string, unknown>): void;
}

/** Writes the steps of a request, at `log.level: debug` only. No field holds a body, header or secret. */
export interface DebugLog {
  debug(message: string, fields: Record<string, unknown>): void;
}
