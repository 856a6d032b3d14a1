import type { IncomingTransfer } from '@market/core/ports/chain'
import { ApiError, unavailable } from '@market/kernel/api-error'
import type { Signature } from '@solana/kit'
import { blockOf, parseSignature, timeOf } from './find-transfer.ts'
import type { SolanaNodes, SolanaRpc } from './nodes.ts'
import {
  fetchTransaction,
  readUsdcChange,
  type Transaction,
  type TreasuryAccount,
  type UsdcChange,
} from './read-transfer.ts'
import type { SolanaSettings } from './settings.ts'

/** Maximum page size of nodes. */
const PAGE_SIZE = 1_000
/** Most polls find few new entries. */
const FIRST_PAGE_SIZE = 50
const CONCURRENT_LOADS = 8

interface Bounds {
  /** Page size of each request. */
  readonly page: number
  /** Nodes whose final slot is lower are skipped. */
  readonly minSlot: bigint
}

interface Entry {
  readonly slot: bigint
  readonly signature: Signature
}

/** `<slot>:<signature>` of the last entry that was read. */
const formatPosition = ({ slot, signature }: Entry): string => `${slot}:${signature}`

/** The position before the first entry. */
const START = '0:'

const parsePosition = (position: string): Entry | undefined => {
  if (position === START) return undefined
  const [, slot, reference] = /^(\d+):(.+)$/.exec(position) ?? []
  const signature = reference === undefined ? undefined : parseSignature(reference)
  if (slot === undefined || signature === undefined) {
    throw new RangeError(`${position} is not a position on Solana`)
  }
  return { slot: BigInt(slot), signature }
}

/** By slot, then by signature. Nodes disagree on the order within a slot, and this order is stable. */
const inOrder = (a: Entry, b: Entry): number => {
  if (a.slot !== b.slot) return a.slot < b.slot ? -1 : 1
  return a.signature < b.signature ? -1 : a.signature > b.signature ? 1 : 0
}

const finalSlotOf = async (rpc: SolanaRpc): Promise<bigint> =>
  (await rpc.getEpochInfo({ commitment: 'finalized' }).send()).absoluteSlot

/**
 * Every entry after the position, oldest first. Nodes list the newest entries first, so pages are read until the position is
 * reached. A list that ends earlier comes from a node with pruned history; accepting it would miss transfers.
 */
const entriesAfter = async (
  rpc: SolanaRpc,
  treasury: TreasuryAccount,
  after: Entry | undefined,
  { page, minSlot }: Bounds,
): Promise<Entry[]> => {
  if (minSlot > 0n && (await finalSlotOf(rpc)) < minSlot)
    throw unavailable('The node is lagging: its list of treasury transactions is outdated')
  const found = new Map<Signature, Entry>()
  let before: Signature | undefined
  let reachedPosition = after === undefined
  for (;;) {
    const listed = await rpc
      .getSignaturesForAddress(treasury.account, {
        commitment: 'finalized',
        limit: before === undefined ? Math.min(FIRST_PAGE_SIZE, page) : page,
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
  // Nodes return an empty list for an unknown `before`, which looks like the beginning of the history.
  if (after === undefined && before !== undefined) {
    const { value } = await rpc.getSignatureStatuses([before], { searchTransactionHistory: true }).send()
    reachedPosition = value[0] !== null
  }
  if (!reachedPosition) throw unavailable("The node's transaction history of the treasury is incomplete")
  return [...found.values()].sort(inOrder)
}

/** Reads all pages from the same node, because another node may not have the last entry of a page. */
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
  throw unavailable(
    'No Solana node can list the transactions of the treasury. Try again later.',
    new AggregateError(failures),
  )
}

/** A transaction of the treasury's account with its effect. */
export interface AccountTransaction {
  readonly signature: Signature
  readonly transaction: Transaction
  readonly change: UsdcChange
  readonly at: Date
  readonly block: IncomingTransfer['block']
}

export interface FollowOptions extends Pick<SolanaSettings, 'blockTime'> {
  readonly page?: number
  readonly minSlot?: () => bigint
}

const loadTransaction = async (
  rpc: SolanaRpc,
  treasury: TreasuryAccount,
  { signature, slot }: Entry,
  options: FollowOptions,
): Promise<AccountTransaction> => {
  const [transaction, block] = await Promise.all([fetchTransaction(rpc, signature), blockOf(rpc, slot)])
  const change = transaction === null ? undefined : readUsdcChange(transaction, treasury)
  if (transaction === null || change === undefined || block === undefined || transaction.blockTime === null) {
    throw unavailable('A Solana node lists a transaction that it does not have. Try again later.')
  }
  return { signature, transaction, change, at: timeOf(options, transaction.blockTime), block }
}

/**
 * Reads the transactions of the treasury's account page by page. Only finalized blocks are read, so nothing can appear
 * before the position later. `select` converts a transaction, or returns undefined to skip it.
 */
export const accountFollower = <Item>(
  nodes: SolanaNodes,
  treasury: () => Promise<TreasuryAccount>,
  select: (entry: AccountTransaction, treasury: TreasuryAccount) => Item | undefined,
  options: FollowOptions = {},
) => {
  const { page = PAGE_SIZE, minSlot = () => 0n } = options
  // Entries beyond the limit are cached, so that a long backlog is not listed again for every page.
  let backlog: { readonly from: string; readonly entries: readonly Entry[] } | undefined

  return async (
    position: string | undefined,
    limit: number,
  ): Promise<{ readonly items: readonly Item[]; readonly position: string; readonly isEnd: boolean }> => {
    const from = position ?? START
    const account = await treasury()
    const cached = backlog?.from === from ? backlog.entries : undefined
    const entries =
      cached ?? (await entriesFromOneNode(nodes, account, parsePosition(from), { page, minSlot: minSlot() }))
    const selected = entries.slice(0, limit)
    const items: Item[] = []
    for (let start = 0; start < selected.length; start += CONCURRENT_LOADS) {
      const batch = selected.slice(start, start + CONCURRENT_LOADS)
      const loaded = await Promise.all(
        batch.map((entry) => loadTransaction(nodes.rpc, account, entry, options)),
      )
      items.push(...loaded.flatMap((entry) => select(entry, account) ?? []))
    }
    const last = selected.at(-1)
    const next = last === undefined ? from : formatPosition(last)
    const remaining = entries.slice(limit)
    backlog = remaining.length === 0 ? undefined : { from: next, entries: remaining }
    // Cached entries may be outdated, so their end is not the end of the list.
    return { items, position: next, isEnd: cached === undefined && remaining.length === 0 }
  }
}
