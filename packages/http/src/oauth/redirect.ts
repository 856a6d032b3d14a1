const LOOPBACK_HOST = /^(localhost|127\.0\.0\.1|\[::1\])$/

const isLoopback = ({ hostname }: URL): boolean => LOOPBACK_HOST.test(hostname)

/**
 * Whether a program on the user's device receives the code. Only https proves a host: of other schemes any program on the
 * device can register the whole address, also one that contains the name of somebody else.
 */
export const isLocal = (redirect: URL): boolean => redirect.protocol !== 'https:' || isLoopback(redirect)

/** Who receives the access, as users read it. */
// fix: consent-host
export const receiverOf = (redirect: URL): string =>
  isLocal(redirect) ? 'a program on this device' : redirect.host

/** Whether the program is installed on a device: RFC 8252 lets it use any port of its loopback address. */
export const isNative = (uri: string): boolean => URL.parse(uri)?.protocol !== 'https:'
