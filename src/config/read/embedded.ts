/** The configuration of a start without a file: the upstream that needs no network. */

export const embeddedConfiguration = { upstreams: [{ id: 'local', family: 'local' }] };
