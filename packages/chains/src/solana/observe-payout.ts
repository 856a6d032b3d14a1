import type { PayoutOutcome, SignedTransfer } from '@market/core/ports/payout-sender'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { signature } from '@solana/kit'
import { askEnough, type SolanaNodes, type SolanaRpc } from './nodes.ts'
import { BLOCKHASH_LIFETIME } from './read-lifetime.ts'

/** Safety margin in blocks before a transaction counts as expired, for nodes with different heights. */
export const EXPIRY_MARGIN = 32n
/** How many nodes must agree that a transaction failed or expired. All of them when there are fewer. */
const MIN_AGREEING_NODES = 2

/** The outcome according to one node. `pruned`: not found, but its history starts after the signing. */
type NodeOutcome = PayoutOutcome | { readonly kind: 'pruned' }

const asText = (error: unknown): string =>
  JSON.stringify(error, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))

/** The part of a signed transaction that is needed to find it. */
type SignedReference = Pick<SignedTransfer, 'reference' | 'lastValidHeight'>

const lastHeightOf = ({ lastValidHeight }: SignedReference): bigint => {
  assert(lastValidHeight !== null, 'a Solana transaction has a last valid height')
  return lastValidHeight
}

/** A node without the blocks since the signing cannot tell whether the payment was made. */
const hasHistorySince = async (rpc: SolanaRpc, unseen: readonly SignedReference[]): Promise<boolean> => {
  const slot = await rpc.getFirstAvailableBlock().send()
  if (slot === 0n) return true
  const block = await rpc
    .getBlock(slot, { maxSupportedTransactionVersion: 1, rewards: false, transactionDetails: 'none' })
    .send()
  return (
    block !== null && unseen.every((signed) => block.blockHeight <= lastHeightOf(signed) - BLOCKHASH_LIFETIME)
  )
}

/**
 * Reads the height before the statuses, and requires statuses of that height or later. In the other order a transaction
 * could be executed in between and be reported as expired.
 */
const observeVia = async (rpc: SolanaRpc, signed: readonly SignedReference[]): Promise<NodeOutcome> => {
  const { absoluteSlot, blockHeight } = await rpc.getEpochInfo({ commitment: 'finalized' }).send()
  const references = signed.map(({ reference }) => signature(reference))
  const { context, value } = await rpc
    .getSignatureStatuses(references, { searchTransactionHistory: true })
    .send()
  const all = signed.map((one, index) => ({ one, status: value[index] ?? null }))
  const final = all.filter(({ status }) => status?.confirmationStatus === 'finalized')

  const paid = final.find(({ status }) => status?.err === null)
  if (paid !== undefined) return { kind: 'final', reference: paid.one.reference }
  const seen = all.find(({ status }) => status !== null && status.confirmationStatus !== 'finalized')
  if (seen !== undefined) return { kind: 'seen', reference: seen.one.reference }

  const unseen = all.filter(({ status }) => status === null).map(({ one }) => one)
  const mayStillLand = unseen.some((one) => blockHeight <= lastHeightOf(one) + EXPIRY_MARGIN)
  if (mayStillLand || context.slot < absoluteSlot) return { kind: 'unknown' }
  if (unseen.length > 0 && !(await hasHistorySince(rpc, unseen))) return { kind: 'pruned' }
  // The newest: one that was shared with other payouts can have failed because of them.
  const failed = final.at(-1)
  if (failed === undefined) return { kind: 'expired' }
  return { kind: 'failed', reference: failed.one.reference, reason: asText(failed.status?.err) }
}

const observeViaAll = async (
  nodes: SolanaNodes,
  signed: readonly SignedReference[],
): Promise<NodeOutcome[]> => {
  const outcomes = await Promise.all(
    nodes.each.map(({ rpc }) =>
      observeVia(rpc, signed).catch((failure: unknown) => {
        // Unreachable nodes are ignored.
        if (failure instanceof ApiError) return undefined
        throw failure
      }),
    ),
  )
  return outcomes.filter((outcome) => outcome !== undefined)
}

/** What one node calls final is only seen until as many providers as required say the same. */
const agreedFinal = async (
  nodes: SolanaNodes,
  signed: readonly SignedReference[],
  minProviders: number,
  first: Extract<PayoutOutcome, { kind: 'final' }>,
): Promise<PayoutOutcome> => {
  if (minProviders === 1) return first
  const { responses } = await askEnough(nodes, minProviders, (rpc) => observeVia(rpc, signed))
  const agreeing = responses.filter(
    ({ response }) => response.kind === 'final' && response.reference === first.reference,
  )
  return agreeing.length >= minProviders ? first : { kind: 'seen', reference: first.reference }
}

/**
 * The outcome of a payment over all its signed transactions. `failed` and `expired` allow a new signature, so they require
 * agreement of two nodes (or of the only one) and no contradicting node.
 */
export const observePayout = async (
  nodes: SolanaNodes,
  signed: readonly SignedReference[],
  minProviders: number,
): Promise<PayoutOutcome> => {
  assert(signed.length > 0, 'a payment has at least one signed transaction')
  const first = await observeVia(nodes.rpc, signed)
  if (first.kind === 'final') return agreedFinal(nodes, signed, minProviders, first)
  if (first.kind === 'seen' || first.kind === 'unknown') return first

  const outcomes = await observeViaAll(nodes, signed)
  for (const kind of ['final', 'seen', 'unknown'] as const) {
    const outcome = outcomes.find((one) => one.kind === kind)
    if (outcome?.kind === 'final') return agreedFinal(nodes, signed, minProviders, outcome)
    if (outcome?.kind === kind) return outcome
  }
  const ended = outcomes.filter((one) => one.kind === 'failed' || one.kind === 'expired')
  if (ended.length < Math.min(MIN_AGREEING_NODES, nodes.each.length)) return { kind: 'unknown' }
  return ended.find((one) => one.kind === 'failed') ?? { kind: 'expired' }
}
