interface Shares {
  /** Absent where the address is the first to count. */
  readonly credential?: number
  readonly address: number
  readonly 56: number
  readonly 48: number
}

/**
 * For whom a call counts, and how many times the limit each of them gets: the credential, the address (of IPv6 the /64)
 * and the wider networks of an IPv6 address, because one customer may get a /48.
 */
export const SHARES = {
  /** REST and the MCP server without credentials. */
  address: { address: 1, 56: 4, 48: 12 },
  /** MCP with an API key. Agents are free, so those of one address together get little more than it has by REST. */
  key: { credential: 1, address: 2, 56: 8, 48: 24 },
  /** MCP by OAuth. Hosted clients send the calls of many users from one address. */
  connection: { credential: 1, address: 20, 56: 80, 48: 240 },
} as const satisfies Record<string, Shares>

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
