import { unavailable } from '@market/kernel/api-error'
import { largest } from './largest.ts'

/** One node, while it is asked: the signal ends when its time is up. */
export interface Node {
  readonly url: string
  /** Its host. The rest of the address often holds a key and is never shown. */
  readonly name: string
  readonly signal: AbortSignal
}

export type Ask<T> = (node: Node) => Promise<T>

export interface NodePoolSettings {
  /** What the nodes are nodes of, for the sentence when none answers. */
  readonly network: string
  /** In order of preference. */
  readonly urls: readonly string[]
  /** How long one node may take for one question, however many calls the question needs. */
  readonly timeoutMs?: number
  /** The height a node stands at. Throws when it is a node of another chain. */
  readonly height: Ask<bigint>
  /** How far below the highest node another may stand before it is left alone for a while. */
  readonly maxLag: bigint
  readonly asideMs?: number
  readonly compareEveryMs?: number
}

export interface NodePool {
  /**
   * Puts the whole question to one node, and to the next when that one fails. A question that reads several things
   * thus reads them from one view of the chain. When `enough` says no, the other good nodes are asked for a better answer.
   */
  ask<T>(question: Ask<T>, enough?: (answer: T) => boolean): Promise<T>
  /** Puts the question to every node, good or bad, at once. */
  askEach<T>(question: Ask<T>): readonly Promise<T>[]
  /** Puts the question to every node that is not behind. */
  askGood<T>(question: Ask<T>): Promise<readonly Promise<T>[]>
}

/** Three nodes in trouble one after another must not hold a caller for three whole timeouts. */
const NODES_WORTH_WAITING_FOR = 2

interface Member {
  readonly url: string
  readonly name: string
  /** Asked last until then, because it failed. */
  troubledUntil: number
  /** Not asked until then, because what it says is old. */
  untrustedUntil: number
}

export const hostOf = (url: string): string => {
  if (!URL.canParse(url)) throw new Error('the address of a node is not a URL')
  const { host, username, password } = new URL(url)
  // `fetch` rejects such an address at every call; better to say so at start.
  if (username !== '' || password !== '') throw new Error(`the address of ${host} holds a name and password`)
  return host
}

/** The first line of what went wrong, without addresses in it. */
const reason = (name: string, failure: unknown): Error => {
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
  height,
  maxLag,
  timeoutMs = 3_000,
  asideMs = 30_000,
  compareEveryMs = 15_000,
}: NodePoolSettings): NodePool => {
  const members = urls.map((url): Member => ({ url, name: hostOf(url), troubledUntil: 0, untrustedUntil: 0 }))
  if (members.length === 0) throw new Error(`${network} has no node`)
  let comparedAt = Number.NEGATIVE_INFINITY
  let comparing: Promise<void> | undefined

  const put = async <T>(member: Member, question: Ask<T>, withinMs: number): Promise<T> => {
    try {
      const node = { url: member.url, name: member.name, signal: AbortSignal.timeout(Math.ceil(withinMs)) }
      const answer = await question(node)
      member.troubledUntil = 0
      return answer
    } catch (failure) {
      member.troubledUntil = performance.now() + asideMs
      throw reason(member.name, failure)
    }
  }

  /** A node that fell behind looks well to whoever asks it alone, so now and then they are compared. */
  const compare = async (): Promise<void> => {
    const asked = members.filter((member) => member.troubledUntil <= performance.now())
    const heights = await Promise.allSettled(asked.map((member) => put(member, height, timeoutMs / 3)))
    const known = heights.flatMap((answer) => (answer.status === 'fulfilled' ? [answer.value] : []))
    const highest = largest(known)
    for (const [index, answer] of heights.entries()) {
      const member = asked[index]
      if (member === undefined || answer.status === 'rejected') continue
      const isBehind = answer.value + maxLag < highest
      member.untrustedUntil = isBehind ? performance.now() + asideMs : 0
    }
    comparedAt = performance.now()
  }

  /** Also when a node comes back from trouble: it may have fallen behind in the meantime. */
  const isDue = (now: number): boolean =>
    now - comparedAt > compareEveryMs ||
    members.some(({ troubledUntil }) => troubledUntil > comparedAt && troubledUntil <= now)

  const trusted = async (): Promise<Member[]> => {
    if (members.length > 1 && isDue(performance.now())) {
      comparing ??= compare().finally(() => {
        comparing = undefined
      })
      await comparing
    }
    const now = performance.now()
    const good = members.filter((member) => member.untrustedUntil <= now)
    const isTroubled = (member: Member): number => (member.troubledUntil > now ? 1 : 0)
    return good.toSorted((a, b) => isTroubled(a) - isTroubled(b))
  }

  const none = (failures: readonly unknown[]) =>
    unavailable(
      `The ${network} network cannot be reached at the moment: try again`,
      new AggregateError(failures, failures.map((failure) => (failure as Error).message).join('; ')),
    )

  return {
    async ask(question, enough = () => true) {
      const failures: unknown[] = []
      const deadline = performance.now() + timeoutMs * NODES_WORTH_WAITING_FOR
      let last: { readonly answer: Awaited<ReturnType<typeof question>> } | undefined
      for (const member of await trusted()) {
        const left = deadline - performance.now()
        if (left <= 0) break
        // A second opinion is not worth waiting for a node in trouble.
        if (last !== undefined && member.troubledUntil > performance.now()) break
        try {
          const answer = await put(member, question, Math.min(timeoutMs, left))
          if (enough(answer)) return answer
          last = { answer }
        } catch (failure) {
          failures.push(failure)
        }
      }
      if (last !== undefined) return last.answer
      throw none(failures)
    },
    askEach: (question) => members.map((member) => put(member, question, timeoutMs)),
    askGood: async (question) => {
      const good = await trusted()
      if (good.length === 0) throw none([])
      return good.map((member) => put(member, question, timeoutMs))
    },
  }
}
