import { BlockList, isIP, isIPv6 } from 'node:net'

/** Finds the client's address. X-Forwarded-For counts only as far as trusted proxies wrote it. */
export type ClientAddress = (peer: string, forwardedFor: string | undefined) => string

export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = addressList(trustedProxies)
  return (peer, forwardedFor) => {
    let address = plain(peer)
    const hops = forwardedFor?.split(',').map((hop) => hop.trim()) ?? []
    // Read from the right: each entry was added by the next hop, so it counts only while that hop is trusted.
    while (hops.length > 0 && isListed(trusted, address)) {
      const next = plain(withoutPort(hops.pop() ?? ''))
      if (isIP(next) === 0) break
      address = next
    }
    return isIPv6(address) ? network64(address) : address
  }
}

/** Addresses and networks (`10.0.0.0/8`, `::1`), checked when the process starts. */
export function addressList(entries: readonly string[]): BlockList {
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', bits] = entry.split('/')
    const family = isIP(address)
    if (family === 0) throw new Error(`"${entry}" is not an IP address or network`)
    const kind = family === 4 ? 'ipv4' : 'ipv6'
    if (bits === undefined) list.addAddress(address, kind)
    else list.addSubnet(address, Number(bits), kind)
  }
  return list
}

export function isListed(list: BlockList, address: string): boolean {
  const family = isIP(address)
  return family !== 0 && list.check(address, family === 4 ? 'ipv4' : 'ipv6')
}

/** Converts an IPv4-mapped IPv6 address to IPv4, so that one client has one address. */
export const plain = (address: string): string =>
  /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address

/** Some gateways write `203.0.113.7:4711` and `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(hop)?.[1] ?? hop

/** Rate limits count a /64, because one home or server usually gets a whole /64. */
function network64(address: string): string {
  const [head = '', tail = ''] = address.replace(/%.*$/, '').toLowerCase().split('::')
  const left = head.split(':').filter(Boolean)
  const right = tail.split(':').filter(Boolean)
  const groups = [
    ...left,
    ...Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0'),
    ...right,
  ]
  return `${groups
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}
