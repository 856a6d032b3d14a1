interface WiderNetwork {
  readonly bits: 56 | 48
  readonly network: string
}

/** The /56 and the /48 that contain the /64 of an IPv6 client; nothing for an IPv4 client. */
export function widerNetworks(address: string): readonly WiderNetwork[] {
  const groups = /^([0-9a-f]+):([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)::\/64$/.exec(address)?.slice(1)
  if (groups === undefined) return []
  const start = groups.slice(0, 3).join(':')
  const fourth = Number.parseInt(groups[3] ?? '0', 16) & 0xff00
  return [
    { bits: 56, network: `${start}:${fourth.toString(16)}::/56` },
    { bits: 48, network: `${start}::/48` },
  ]
}
