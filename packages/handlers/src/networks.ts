export interface Network {
  readonly kind: 'address' | 56 | 48
  readonly subject: string
}

/** A client's address (of IPv6 its /64), then the /56 and the /48 that contain it; an IPv4 client has only the first. */
export function networksOf(address: string): readonly [Network, ...Network[]] {
  const own = { kind: 'address', subject: address } as const
  const groups = /^([0-9a-f]+):([0-9a-f]+):([0-9a-f]+):([0-9a-f]+)::\/64$/.exec(address)?.slice(1)
  if (groups === undefined) return [own]
  const start = groups.slice(0, 3).join(':')
  const fourth = Number.parseInt(groups[3] ?? '0', 16) & 0xff00
  return [
    own,
    { kind: 56, subject: `${start}:${fourth.toString(16)}::/56` },
    { kind: 48, subject: `${start}::/48` },
  ]
}
