import type { PayoutOutcome, SignedTransfer } from '@market/core/ports/payout-sender'
import { ApiError } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { signature } from '@solana/kit'
import type { SolanaNodes, SolanaRpc } from './nodes.ts'

/** Blocks beyond the last valid one before bytes are given up: room for a node that counts differently. */
export const EXPIRY_MARGIN = 32n
/** How many blocks a blockhash lives. */
const LIFETIME = 150n
/** How many nodes must agree that nothing can happen any more, when there are as many. */
const WITNESSES = 2

/** What one node tells. `forgotten`: it sees nothing, but its memory does not reach back to the signing. */
type Testimony = PayoutOutcome | { readonly kind: 'forgotten' }

const asText = (error: unknown): string =>
  JSON.stringify(error, (_key, value: unknown) => (typeof value === 'bigint' ? String(value) : value))

/** What of a signed transaction is needed to look for it. */
type Sought = Pick<SignedTransfer, 'reference' | 'lastValidHeight'>

const lastHeightOf = ({ lastValidHeight }: Sought): bigint => {
  assert(lastValidHeight !== null, 'what is signed for Solana has a last height')
  return lastValidHeight
}

/** A node that forgot the time of signing would deny a payment that was made. */
const remembers = async (rpc: SolanaRpc, unseen: readonly Sought[]): Promise<boolean> => {
  const slot = await rpc.getFirstAvailableBlock().send()
  if (slot === 0n) return true
  const block = await rpc
    .getBlock(slot, { maxSupportedTransactionVersion: 1, rewards: false, transactionDetails: 'none' })
    .send()
  return block !== null && unseen.every((signed) => block.blockHeight <= lastHeightOf(signed) - LIFETIME)
}

/**
 * The height is read before the statuses, and the statuses must be as of that height or later: the other way round,
 * bytes could land in between and be taken for dead.
 */
const askNode = async (rpc: SolanaRpc, signed: readonly Sought[]): Promise<Testimony> => {
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
  if (unseen.length > 0 && !(await remembers(rpc, unseen))) return { kind: 'forgotten' }
  const [failed] = final
  if (failed === undefined) return { kind: 'expired' }
  return { kind: 'failed', reference: failed.one.reference, reason: asText(failed.status?.err) }
}

const askEach = async (nodes: SolanaNodes, signed: readonly Sought[]): Promise<Testimony[]> => {
  const answers = await Promise.all(
    nodes.each.map(({ rpc }) =>
      askNode(rpc, signed).catch((failure: unknown) => {
        // A node that is away has no say.
        if (failure instanceof ApiError) return undefined
        throw failure
      }),
    ),
  )
  return answers.filter((answer) => answer !== undefined)
}

/**
 * What became of a payment, over all that was ever signed for it. That nothing can happen any more is believed only when
 * no node contradicts and two agree (or the only one says so), for it lets the same payment be signed again.
 */
export const observePayout = async (
  nodes: SolanaNodes,
  signed: readonly Sought[],
): Promise<PayoutOutcome> => {
  assert(signed.length > 0, 'a payment is looked for by its signatures')
  const first = await askNode(nodes.rpc, signed)
  if (first.kind === 'final' || first.kind === 'seen' || first.kind === 'unknown') return first

  const answers = await askEach(nodes, signed)
  for (const kind of ['final', 'seen', 'unknown'] as const) {
    const answer = answers.find((one) => one.kind === kind)
    if (answer?.kind === kind) return answer
  }
  const over = answers.filter((one) => one.kind === 'failed' || one.kind === 'expired')
  if (over.length < Math.min(WITNESSES, nodes.each.length)) return { kind: 'unknown' }
  return over.find((one) => one.kind === 'failed') ?? { kind: 'expired' }
}
