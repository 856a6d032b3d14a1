import type {
  FinalBlock,
  FinalReading,
  IncomingTransfer,
  ObservedOutgoingTransfer,
} from '@market/core/ports/chain'
import { unavailable } from '@market/kernel/api-error'
import { usdc } from '@market/kernel/money'
import type { Signature } from '@solana/kit'
import {
  agreeOnRange,
  askProviders,
  type ProviderResponses,
  type RangeReport,
  supported,
} from '../nodes/providers.ts'
import { blockOf, parseSignature, timeOf } from './find-transfer.ts'
import type { SolanaNodes, SolanaRpc } from './nodes.ts'
import { heldAfter, heldAt } from './read-held.ts'
import { paymentsOf } from './read-payments.ts'
import {
  attachedDataOf,
  fetchTransaction,
  isOwnTransfer,
  memosIn,
  payerOf,
  readUsdcChange,
  type Transaction,
  type TreasuryAccount,
  type UsdcChange,
} from './read-transfer.ts'
import type { SolanaSettings } from './settings.ts'
import { payoutIdIn } from './sign-payout.ts'
import { usdcAccountOf } from './token-account.ts'

/** Maximum page size of nodes. */
const PAGE_SIZE = 1_000
/** Most readings find few new entries. */
const FIRST_PAGE_SIZE = 50
const CONCURRENT_LOADS = 8
/** A longer backlog is read in parts. */
const MAX_ENTRIES = 200

/** Where the history of the treasury begins. */
export const FIRST_SLOT: FinalBlock = { height: 0n, hash: '' }

interface Entry {
  readonly slot: bigint
  readonly signature: Signature
}

/** By slot, then by signature. Nodes disagree on the order within a slot, and this order is stable. */
const inOrder = (a: Entry, b: Entry): number => {
  if (a.slot !== b.slot) return a.slot < b.slot ? -1 : 1
  return a.signature < b.signature ? -1 : a.signature > b.signature ? 1 : 0
}

const finalSlotOf = async (rpc: SolanaRpc): Promise<bigint> =>
  (await rpc.getEpochInfo({ commitment: 'finalized' }).send()).absoluteSlot

/**
 * Every entry of the treasury's account in later slots, oldest first. Nodes list the newest first, so pages are read until the
 * last known signature is reached. A list that ends earlier comes from a node with pruned history; accepting it would miss transfers.
 */
const entriesAfter = async (
  rpc: SolanaRpc,
  { account }: TreasuryAccount,
  { height, hash }: FinalBlock,
  page: number,
): Promise<Entry[]> => {
  const last = hash === '' ? undefined : parseSignature(hash)
  const found = new Map<Signature, Entry>()
  let before: Signature | undefined
  let reachedLast = false
  for (;;) {
    const listed = await rpc
      .getSignaturesForAddress(account, {
        commitment: 'finalized',
        limit: before === undefined ? Math.min(FIRST_PAGE_SIZE, page) : page,
        ...(before === undefined ? {} : { before }),
      })
      .send()
    for (const { slot, signature } of listed) {
      if (slot > height) found.set(signature, { slot, signature })
      if (signature === last) reachedLast = true
    }
    const oldest = listed.at(-1)
    if (oldest === undefined || reachedLast) break
    before = oldest.signature
  }
  // Nodes return an empty list for an unknown `before`, which looks like the beginning of the history.
  if (last === undefined && before !== undefined) {
    const { value } = await rpc.getSignatureStatuses([before], { searchTransactionHistory: true }).send()
    reachedLast = value[0] !== null
  }
  if (!reachedLast && (last !== undefined || before !== undefined))
    throw unavailable("The node's transaction history of the treasury is incomplete")
  return [...found.values()].sort(inOrder)
}

/** A transaction of the treasury's account with its effect. */
interface AccountTransaction {
  readonly signature: Signature
  readonly transaction: Transaction
  readonly change: UsdcChange
  readonly at: Date
  readonly block: IncomingTransfer['block']
}

const loadTransaction = async (
  rpc: SolanaRpc,
  treasury: TreasuryAccount,
  { signature, slot }: Entry,
  settings: SolanaSettings,
): Promise<AccountTransaction> => {
  const [transaction, block] = await Promise.all([fetchTransaction(rpc, signature), blockOf(rpc, slot)])
  const change = transaction === null ? undefined : readUsdcChange(transaction, treasury)
  if (transaction === null || change === undefined || block === undefined || transaction.blockTime === null) {
    throw unavailable('A Solana node lists a transaction that it does not have. Try again later.')
  }
  return { signature, transaction, change, at: timeOf(settings, transaction.blockTime), block }
}

const loadAll = async (
  rpc: SolanaRpc,
  treasury: TreasuryAccount,
  entries: readonly Entry[],
  settings: SolanaSettings,
): Promise<AccountTransaction[]> => {
  const loaded: AccountTransaction[] = []
  for (let start = 0; start < entries.length; start += CONCURRENT_LOADS) {
    const batch = entries.slice(start, start + CONCURRENT_LOADS)
    loaded.push(...(await Promise.all(batch.map((entry) => loadTransaction(rpc, treasury, entry, settings)))))
  }
  return loaded
}

/** Undefined for payouts, failed transactions and transfers between our own wallets. */
const incomingOf = (
  { signature, transaction, change, at, block }: AccountTransaction,
  own: ReadonlySet<string>,
): IncomingTransfer | undefined => {
  if (change.treasuryChange <= 0n || isOwnTransfer(change, own)) return undefined
  const payer = payerOf(change)
  return {
    reference: signature,
    index: 0,
    amount: usdc(change.treasuryChange),
    payer: payer.kind === 'one' ? payer.key : null,
    at,
    block,
    final: true,
    attachedData: attachedDataOf(transaction),
  }
}

/** Null when no memo contains a payout id, or several do. */
const payoutIdOf = ({ transaction }: AccountTransaction): string | null => {
  const ids = new Set(memosIn(transaction).flatMap((memo) => payoutIdIn(memo) ?? []))
  const [id, ...others] = ids
  return id === undefined || others.length > 0 ? null : id
}

/** None when the transaction did not reduce the treasury, such as an incoming or a failed transfer. */
const outgoingOf = (
  entry: AccountTransaction,
  treasury: TreasuryAccount,
): readonly ObservedOutgoingTransfer[] => {
  const { signature: reference, transaction, change, at, block } = entry
  if (change.treasuryChange >= 0n) return []
  // Without the treasury's signature, anyone could have written the memos.
  const isSigned = change.signers.includes(treasury.owner)
  const payments = isSigned ? paymentsOf(transaction, change, treasury) : undefined
  if (payments !== undefined)
    return payments.map(({ mark, payee, amount }, index) => ({
      ...{ reference, index, mark, payee, at, block },
      amount: usdc(amount),
    }))
  const [payee = null, ...others] = change.receivers
  const mark = isSigned ? payoutIdOf(entry) : null
  const amount = usdc(-change.treasuryChange)
  return [{ reference, index: 0, mark, payee: others.length > 0 ? null : payee, amount, at, block }]
}

export interface FinalSource {
  readonly nodes: SolanaNodes
  readonly settings: SolanaSettings
  readonly treasury: TreasuryAccount
  readonly own: ReadonlySet<string>
}

/** How one provider shows the final slots after one. It must have the last of them. */
const reportSlots = async (
  rpc: SolanaRpc,
  { settings, treasury, own }: FinalSource,
  after: FinalBlock,
  to: bigint,
): Promise<RangeReport> => {
  if ((await finalSlotOf(rpc)) < to)
    throw unavailable('The node is lagging: its list of treasury transactions is outdated')
  const list = async () => {
    const entries = await entriesAfter(rpc, treasury, after, settings.historyPage ?? PAGE_SIZE)
    return entries.filter(({ slot }) => slot <= to)
  }
  const upTo = await list()
  // Whole slots, at least one: the entries of the slot that is cut are read with the next part.
  const [first, cut] = [upTo[0]?.slot, upTo[MAX_ENTRIES]?.slot]
  const read = cut === undefined ? upTo : upTo.filter(({ slot }) => slot < cut || slot === first)
  const loaded = await loadAll(rpc, treasury, read, settings)
  const end: FinalBlock = {
    height: cut === undefined ? to : (read.at(-1)?.slot ?? after.height),
    hash: read.at(-1)?.signature ?? after.hash,
  }
  const ofLastSlot = loaded.filter(({ block }) => block.height === read.at(-1)?.slot)
  const cold = settings.cold && {
    account: await usdcAccountOf(settings.cold, settings.usdc),
    owner: settings.cold,
    mint: settings.usdc,
  }
  const held = cut === undefined ? await heldAt(rpc, treasury, to) : undefined
  // Something happened later, so only the list says what was there: a list that lagged has the rest by now.
  // fix: list-again
  if (cut === undefined && held === undefined && (await list()).length !== upTo.length)
    throw unavailable('The node listed a transaction of the treasury late. Try again later.')
  return {
    incoming: loaded.flatMap((one) => incomingOf(one, own) ?? []),
    outgoing: loaded.flatMap((one) => outgoingOf(one, treasury)),
    change: loaded.reduce((sum, { change }) => sum + change.treasuryChange, 0n),
    to: end,
    treasuryHeld: held ?? heldAfter(ofLastSlot.map(({ change }) => change)),
    coldHeld: cold && cut === undefined ? await heldAt(rpc, cold, to) : undefined,
  }
}

/** Everything of one query comes from the same node, because another may not have the last entry of a page. */
const ask = <T>(
  { nodes, settings }: FinalSource,
  query: (rpc: SolanaRpc) => Promise<T>,
): Promise<ProviderResponses<T>> => {
  const any = settings.minProviders === 1 && { provider: '' }
  return askProviders(
    nodes.each.map((node) => ({ ...node, ...any })),
    (node) => query(node.rpc),
  )
}

/** Only final slots are read, so nothing can appear in them later. A provider that is behind does not count. */
export const readFinal = async (source: FinalSource, after: FinalBlock): Promise<FinalReading> => {
  const { minProviders } = source.settings
  const slots = await ask(source, finalSlotOf)
  const to = supported(
    slots.responses.map(({ response }) => response),
    minProviders,
  )
  if (to === undefined)
    throw unavailable(
      'The final slot is shown by too few providers. Try again later.',
      new AggregateError(slots.failures),
    )
  if (to <= after.height) return { agreed: undefined, isEnd: true, disagreeing: [] }
  const reports = await ask(source, (rpc) => reportSlots(rpc, source, after, to))
  const { agreed, disagreeing } = agreeOnRange('solana-mainnet', reports, minProviders)
  return { agreed, isEnd: agreed?.to.height === to, disagreeing }
}
