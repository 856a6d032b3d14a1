import { unavailable } from '@market/kernel/api-error'
import { largest } from '../bigints.ts'
import { askProviders, type ProviderResponses, providerOf } from './providers.ts'

/** A node during a query. The signal aborts at the timeout. */
export interface Node {
  readonly url: string
  /** The host. The rest of the URL may contain an API key and must not appear in messages. */
  readonly name: string
  readonly signal: AbortSignal
  readonly chain: KnownChain
}

/** Until when a node need not be asked on which chain it is, by `performance.now()`. A failed query ends it. */
export interface KnownChain {
  knownUntil: number
}

export type NodeQuery<T> = (node: Node) => Promise<T>

export interface NodePoolSettings {
  /** Used in error messages. */
  readonly network: string
  /** In order of preference. */
  readonly urls: readonly string[]
  /** The provider of each URL. Default: its host. */
  readonly providers?: readonly string[] | undefined
  /** Timeout of one query on one node, for all its calls together. */
  readonly timeoutMs?: number
  /** Reads the height of a node. Throws when it is on another chain. */
  readonly height: NodeQuery<bigint>
  /** How many blocks a node may be behind the highest one before it is excluded for a while. */
  readonly maxLag: bigint
  readonly cooldownMs?: number
  readonly compareEveryMs?: number
}

export interface NodePool {
  /**
   * Runs the whole query on one node, and on the next when it fails, so that all its reads come from the same node. When `isSufficient` returns false,
   * the other healthy nodes are queried for a better result.
   */
  query<T>(run: NodeQuery<T>, isSufficient?: (result: T) => boolean): Promise<T>
  /** Runs the query on every node, including failing ones. */
  queryAll<T>(run: NodeQuery<T>): readonly Promise<T>[]
  /** Runs the query on every node that is not lagging. */
  queryHealthy<T>(run: NodeQuery<T>): Promise<readonly Promise<T>[]>
  /** Runs the query once per provider, including lagging ones. Where one provider is enough, on one node like `query`. */
  queryProviders<T>(run: NodeQuery<T>, minProviders: number): Promise<ProviderResponses<T>>
}

/** Limits the total time of a query when several nodes fail one after another. */
const MAX_TIMEOUTS_PER_QUERY = 2

interface Member {
  readonly url: string
  readonly name: string
  readonly provider: string
  readonly chain: KnownChain
  /** Queried last until then, because it failed. */
  failingUntil: number
  /** Not queried until then, because it is lagging. */
  laggingUntil: number
}

export const hostOf = (url: string): string => {
  if (!URL.canParse(url)) throw new Error('the address of a node is not a valid URL')
  const { host, username, password } = new URL(url)
  // `fetch` rejects such a URL at every call. Fail at start instead.
  if (username !== '' || password !== '')
    throw new Error(`the URL of ${host} must not contain a user name or password`)
  return host
}

/** The first line of the error message, without URLs. */
const withoutUrls = (name: string, failure: unknown): Error => {
  const { message, cause } = failure instanceof Error ? failure : new Error(String(failure))
  const parts = [message, cause instanceof Error ? cause.message : '']
  const [line = ''] = parts
    .filter((part) => part !== '')
    .join(', ')
    .split('\n')
  return new Error(`${name}: ${line.replace(/\b(?:https?|wss?):\/\/\S+/gi, name)}`.slice(0, 300))
}

export const nodePool = ({
  network,
  urls,
  providers,
  height,
  maxLag,
  timeoutMs = 3_000,
  cooldownMs = 30_000,
  compareEveryMs = 15_000,
}: NodePoolSettings): NodePool => {
  const members = urls.map((url, index): Member => {
    const name = hostOf(url)
    const provider = providerOf(providers, index, name)
    return { url, name, provider, chain: { knownUntil: 0 }, failingUntil: 0, laggingUntil: 0 }
  })
  if (members.length === 0) throw new Error(`${network} has no node`)
  let comparedAt = Number.NEGATIVE_INFINITY
  let comparing: Promise<void> | undefined

  const queryMember = async <T>(member: Member, run: NodeQuery<T>, withinMs: number): Promise<T> => {
    const { url, name, chain } = member
    try {
      const node = { url, name, chain, signal: AbortSignal.timeout(Math.ceil(withinMs)) }
      const result = await run(node)
      member.failingUntil = 0
      return result
    } catch (failure) {
      chain.knownUntil = 0
      member.failingUntil = performance.now() + cooldownMs
      throw withoutUrls(name, failure)
    }
  }

  /** A lagging node can only be detected by comparing the heights of all nodes. */
  const compare = async (): Promise<void> => {
    const compared = members.filter((member) => member.failingUntil <= performance.now())
    const heights = await Promise.allSettled(
      compared.map((member) => queryMember(member, height, timeoutMs / 3)),
    )
    const known = heights.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
    const highest = largest(known)
    for (const [index, result] of heights.entries()) {
      const member = compared[index]
      if (member === undefined || result.status === 'rejected') continue
      const isBehind = result.value + maxLag < highest
      member.laggingUntil = isBehind ? performance.now() + cooldownMs : 0
    }
    comparedAt = performance.now()
  }

  /** Also due when a node has recovered from a failure, because it may be lagging. */
  const isDue = (now: number): boolean =>
    now - comparedAt > compareEveryMs ||
    members.some(({ failingUntil }) => failingUntil > comparedAt && failingUntil <= now)

  const healthyMembers = async (): Promise<Member[]> => {
    if (members.length > 1 && isDue(performance.now())) {
      comparing ??= compare().finally(() => {
        comparing = undefined
      })
      await comparing
    }
    const now = performance.now()
    const healthy = members.filter((member) => member.laggingUntil <= now)
    const isFailing = (member: Member): number => (member.failingUntil > now ? 1 : 0)
    return healthy.toSorted((a, b) => isFailing(a) - isFailing(b))
  }

  const unreachable = (failures: readonly unknown[]) =>
    unavailable(
      `The ${network} network cannot be reached. Try again later.`,
      new AggregateError(failures, failures.map((failure) => (failure as Error).message).join('; ')),
    )

  return {
    async query(run, isSufficient = () => true) {
      const failures: unknown[] = []
      const deadline = performance.now() + timeoutMs * MAX_TIMEOUTS_PER_QUERY
      let last: { readonly result: Awaited<ReturnType<typeof run>> } | undefined
      for (const member of await healthyMembers()) {
        const left = deadline - performance.now()
        if (left <= 0) break
        // A result is already available, so do not wait for a failing node.
        if (last !== undefined && member.failingUntil > performance.now()) break
        try {
          const result = await queryMember(member, run, Math.min(timeoutMs, left))
          if (isSufficient(result)) return result
          last = { result }
        } catch (failure) {
          failures.push(failure)
        }
      }
      if (last !== undefined) return last.result
      throw unreachable(failures)
    },
    queryAll: (run) => members.map((member) => queryMember(member, run, timeoutMs)),
    queryHealthy: async (run) => {
      const healthy = await healthyMembers()
      if (healthy.length === 0) throw unreachable([])
      return healthy.map((member) => queryMember(member, run, timeoutMs))
    },
    async queryProviders(run, minProviders) {
      if (minProviders > 1) return askProviders(members, (member) => queryMember(member, run, timeoutMs))
      const response = await this.query(async (node) => ({ provider: node.name, response: await run(node) }))
      return { responses: [response], failures: [] }
    },
  }
}
