import { BlockList, isIPv4, isIPv6 } from 'node:net'

/** The IANA special-purpose registry. Public servers have none of these addresses. */
const SPECIAL_V4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  // Not in the registry, but the metadata service of one large cloud provider.
  '168.63.129.16/32',
]

/** Parts of global unicast that carry an inner IPv4 address or belong to no public host. */
const SPECIAL_V6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

const listOf = (family: 'ipv4' | 'ipv6', ranges: readonly string[]): BlockList => {
  const list = new BlockList()
  for (const range of ranges) {
    const slash = range.indexOf('/')
    list.addSubnet(range.slice(0, slash), Number(range.slice(slash + 1)), family)
  }
  return list
}

const specialV4 = listOf('ipv4', SPECIAL_V4)
const globalV6 = listOf('ipv6', ['2000::/3'])
const specialV6 = listOf('ipv6', SPECIAL_V6)

/**
 * IPv4 uses a list of forbidden ranges, IPv6 a list of allowed ones. Mapped, compatible, NAT64, link-local and private
 * forms are all outside 2000::/3, so unknown special forms are rejected too.
 */
export const isPublicAddress = (ip: string): boolean => {
  if (isIPv4(ip)) return !specialV4.check(ip, 'ipv4')
  if (!isIPv6(ip) || ip.includes('%')) return false
  return globalV6.check(ip, 'ipv6') && !specialV6.check(ip, 'ipv6')
}
