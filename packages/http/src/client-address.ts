import { BlockList, isIP, isIPv6 } from 'node:net'

/** Finds the client behind the proxies we trust; nobody else's word about addresses is believed. */
export type ClientAddress = (peer: string, forwardedFor: string | undefined) => string

export function clientAddress(trustedProxies: readonly string[]): ClientAddress {
  const trusted = addressList(trustedProxies)
  return (peer, forwardedFor) => {
    let address = plain(peer)
    const hops = forwardedFor?.split(',').map((hop) => hop.trim()) ?? []
    // From the right: each hop was written by the one after it, so it counts only while that one is ours.
    while (hops.length > 0 && isListed(trusted, address)) {
      const next = plain(hops.pop() ?? '')
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
    if (family === 0) throw new Error(`"${entry}" is no address or network`)
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

/** An IPv4 client of a dual-stack socket is the same client. */
export const plain = (address: string): string =>
  /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address

/** One home or server gets a whole /64, so that is what limits count. */
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
