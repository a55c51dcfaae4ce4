/**
 * Kubernetes gives every container variables that say where the services of its namespace are. Those of a service named `postern`, or
 * `postern-console`, look like settings.
 */

const linkName = /_SERVICE_HOST$|_SERVICE_PORT(?:_[A-Z0-9_]+)?$|_PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:ADDR|PORT|PROTO))?$/;
const linkAddress = /^(?:tcp|udp|sctp):\/\//;

export function isServiceLink(variable: string, text: string): boolean {
  return linkName.test(variable) || (variable.endsWith('_PORT') && linkAddress.test(text));
}
