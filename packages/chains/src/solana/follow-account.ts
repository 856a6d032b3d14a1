import type { IncomingTransfer } from '@market/core/ports/chain'
import { ApiError, unavailable } from '@market/kernel/api-error'
import type { Signature } from '@solana/kit'
import { blockOf, parseSignature } from './find-transfer.ts'
import type { SolanaNodes, SolanaRpc } from './nodes.ts'
import {
  fetchTransaction,
  readUsdcChange,
  type Transaction,
  type TreasuryAccount,
  type UsdcChange,
} from './read-transfer.ts'

/** What nodes give at most at a time. */
const PAGE = 1_000
/** Most looks find little that is new. */
const FIRST_PAGE = 50
const TOGETHER = 8

interface Bounds {
  /** How many entries are asked for at once. */
  readonly page: number
  /** A node that has not come as far as this slot is not believed. */
  readonly minSlot: bigint
}

interface Entry {
  readonly slot: bigint
  readonly signature: Signature
}

/** `<slot>:<signature>` of the last entry handled. */
const formatPosition = ({ slot, signature }: Entry): string => `${slot}:${signature}`

/** Where a treasury stands to which nothing has happened yet. */
const START = '0:'

const parsePosition = (position: string): Entry | undefined => {
  if (position === START) return undefined
  const [, slot, reference] = /^(\d+):(.+)$/.exec(position) ?? []
  const signature = reference === undefined ? undefined : parseSignature(reference)
  if (slot === undefined || signature === undefined) {
    throw new RangeError(`${position} is no position on Solana`)
  }
  return { slot: BigInt(slot), signature }
}

/** By slot, and inside a slot by signature: nodes do not agree on the order there, and this one never changes. */
const inOrder = (a: Entry, b: Entry): number => {
  if (a.slot !== b.slot) return a.slot < b.slot ? -1 : 1
  return a.signature < b.signature ? -1 : a.signature > b.signature ? 1 : 0
}

const finalSlotOf = async (rpc: SolanaRpc): Promise<bigint> =>
  (await rpc.getEpochInfo({ commitment: 'finalized' }).send()).absoluteSlot

/**
 * Every entry after the position, oldest first. Nodes list newest first, so the walk goes back until it stands before
 * the position; one that ends sooner met a node whose memory is too short, and believing it would lose money.
 */
const entriesAfter = async (
  rpc: SolanaRpc,
  treasury: TreasuryAccount,
  after: Entry | undefined,
  { page, minSlot }: Bounds,
): Promise<Entry[]> => {
  if (minSlot > 0n && (await finalSlotOf(rpc)) < minSlot)
    throw unavailable('The node is behind: what it lists of the treasury is old')
  const found = new Map<Signature, Entry>()
  let before: Signature | undefined
  let reachedPosition = after === undefined
  for (;;) {
    const listed = await rpc
      .getSignaturesForAddress(treasury.account, {
        commitment: 'finalized',
        limit: before === undefined ? Math.min(FIRST_PAGE, page) : page,
        ...(before === undefined ? {} : { before }),
      })
      .send()
    for (const { slot, signature } of listed) {
      const entry = { slot, signature }
      if (after === undefined || inOrder(entry, after) > 0) found.set(signature, entry)
      if (signature === after?.signature) reachedPosition = true
    }
    const oldest = listed.at(-1)
    if (oldest === undefined || (after !== undefined && oldest.slot < after.slot)) break
    before = oldest.signature
  }
  // An unknown `before` is answered with an empty list, which looks like the beginning of history.
  if (after === undefined && before !== undefined) {
    const { value } = await rpc.getSignatureStatuses([before], { searchTransactionHistory: true }).send()
    reachedPosition = value[0] !== null
  }
  if (!reachedPosition) throw unavailable("The node's history of the treasury does not reach back far enough")
  return [...found.values()].sort(inOrder)
}

/** All pages come from the same node: another one may not know where the last page ended. */
const entriesFromOneNode = async (
  nodes: SolanaNodes,
  treasury: TreasuryAccount,
  after: Entry | undefined,
  bounds: Bounds,
): Promise<Entry[]> => {
  const failures: unknown[] = []
  for (const node of nodes.each) {
    try {
      return await entriesAfter(node.rpc, treasury, after, bounds)
    } catch (failure) {
      if (!(failure instanceof ApiError)) throw failure
      failures.push(failure)
    }
  }
  throw unavailable('No Solana node can list the treasury: try again', new AggregateError(failures))
}

/** What an entry of the treasury's account turns out to be, read whole. */
export interface Happening {
  readonly signature: Signature
  readonly transaction: Transaction
  readonly change: UsdcChange
  readonly at: Date
  readonly block: IncomingTransfer['block']
}

const happeningOf = async (
  rpc: SolanaRpc,
  treasury: TreasuryAccount,
  { signature, slot }: Entry,
): Promise<Happening> => {
  const [transaction, block] = await Promise.all([fetchTransaction(rpc, signature), blockOf(rpc, slot)])
  const change = transaction === null ? undefined : readUsdcChange(transaction, treasury)
  if (transaction === null || change === undefined || block === undefined || transaction.blockTime === null) {
    throw unavailable('A Solana node lists a transaction that it does not hold: try again')
  }
  return { signature, transaction, change, at: new Date(Number(transaction.blockTime) * 1_000), block }
}

/**
 * Follows the treasury's account, in finalized blocks only: nothing can appear before what was handled. `become` says
 * what an entry is to the follower, or undefined when it is nothing.
 */
export const accountFollower = <Seen>(
  nodes: SolanaNodes,
  treasury: () => Promise<TreasuryAccount>,
  become: (happening: Happening, treasury: TreasuryAccount) => Seen | undefined,
  { page = PAGE, minSlot = () => 0n }: { readonly page?: number; readonly minSlot?: () => bigint } = {},
) => {
  // What one walk found beyond the limit, so that a long backlog is not walked again for each piece of it.
  let backlog: { readonly from: string; readonly entries: readonly Entry[] } | undefined

  return async (
    position: string | undefined,
    limit: number,
  ): Promise<{ readonly seen: readonly Seen[]; readonly position: string; readonly isEnd: boolean }> => {
    const from = position ?? START
    const account = await treasury()
    const kept = backlog?.from === from ? backlog.entries : undefined
    const entries =
      kept ?? (await entriesFromOneNode(nodes, account, parsePosition(from), { page, minSlot: minSlot() }))
    const now = entries.slice(0, limit)
    const seen: Seen[] = []
    for (let start = 0; start < now.length; start += TOGETHER) {
      const batch = now.slice(start, start + TOGETHER)
      const happenings = await Promise.all(batch.map((entry) => happeningOf(nodes.rpc, account, entry)))
      seen.push(...happenings.flatMap((happening) => become(happening, account) ?? []))
    }
    const last = now.at(-1)
    const next = last === undefined ? from : formatPosition(last)
    const left = entries.slice(limit)
    backlog = left.length === 0 ? undefined : { from: next, entries: left }
    // What was kept is as old as the walk that found it, so its end is not the end.
    return { seen, position: next, isEnd: kept === undefined && left.length === 0 }
  }
}
