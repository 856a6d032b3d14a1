const LOOPBACK = /^(localhost|127\.0\.0\.1|\[::1\])$/

const nameOf = (host: string): string => host.replace(/:\d+$/, '')

/** A page that rebinds its own name to our address sends that name. */
export const isOwnHost = (
  host: string | undefined,
  hosts: ReadonlySet<string>,
  others: readonly string[],
): boolean => host !== undefined && (hosts.has(host) || others.includes(nameOf(host)))

/** Programs send no Origin. Of browsers, our own pages and developers' tools on the same machine may call. */
export function isOwnOrigin(origin: string | undefined, urls: readonly string[]): boolean {
  if (origin === undefined) return true
  if (urls.some((url) => new URL(url).origin === origin)) return true
  const parsed = URL.parse(origin)
  return parsed !== null && LOOPBACK.test(parsed.hostname)
}
