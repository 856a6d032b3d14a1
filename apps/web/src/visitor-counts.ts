import { isIPv6 } from 'node:net'

interface Subject {
  readonly name: string
  /** How many times the limit it gets. */
  readonly times: number
}

/**
 * For whom a visitor counts, as in the API: the address (of IPv6 the /64), and the /56 and the /48 that contain it,
 * because one customer may get a /48.
 */
export function subjectsOf(hop: string): readonly Subject[] {
  const address = plain(withoutPort(hop))
  // fix: visitors-by-network
  if (isIPv6(address)) {
    const [first, second, third, fourth = 0] = groupsOf(address)
    const start = [first, second, third].map((group = 0) => group.toString(16)).join(':')
    return [
      { name: `${start}:${fourth.toString(16)}::/64`, times: 1 },
      { name: `${start}:${(fourth & 0xff00).toString(16)}::/56`, times: 4 },
      { name: `${start}::/48`, times: 12 },
    ]
  }
  return [{ name: address, times: 1 }]
}

/** Counts what visitors do, each within a limit. */
export class VisitorCounts {
  readonly #limit: number
  readonly #counts = new Map<string, number>()

  constructor(limit: number) {
    this.#limit = limit
  }

  /** Counts one more, or returns false when a limit is reached. */
  add(address: string): boolean {
    const subjects = subjectsOf(address)
    if (subjects.some(({ name, times }) => this.#of(name) >= this.#limit * times)) return false
    for (const { name } of subjects) this.#counts.set(name, this.#of(name) + 1)
    return true
  }

  remove(address: string): void {
    for (const { name } of subjectsOf(address)) {
      const left = this.#of(name) - 1
      if (left > 0) this.#counts.set(name, left)
      else this.#counts.delete(name)
    }
  }

  clear(): void {
    this.#counts.clear()
  }

  #of(name: string): number {
    return this.#counts.get(name) ?? 0
  }
}

/** One client has one address: an IPv4 address may come as an IPv6 address. */
const plain = (address: string): string =>
  /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1] ?? address.replace(/%.*$/, '').toLowerCase()

/** Some gateways write `203.0.113.7:4711` and `[2001:db8::1]:4711`. */
const withoutPort = (hop: string): string =>
  /^\[([^\]]+)\](?::\d{1,5})?$/.exec(hop)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d{1,5}$/.exec(hop)?.[1] ?? hop

/** The eight groups of an IPv6 address. */
function groupsOf(address: string): readonly number[] {
  const [left = [], right = []] = address.split('::').map((part) => part.split(':').filter(Boolean))
  const zeros = Array.from({ length: Math.max(0, 8 - left.length - right.length) }, () => '0')
  return [...left, ...zeros, ...right].map((group) => Number.parseInt(group, 16))
}
