/**
 * For an HTTP server of tests: clients close idle connections, not the server. A server that gets no CPU for some seconds
 * finds its timeout over before it reads the next request, and the client would see ECONNRESET.
 */
export const CLIENTS_CLOSE = { keepAliveTimeout: 0 } as const
