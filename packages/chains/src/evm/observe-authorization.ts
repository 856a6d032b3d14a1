import type { SignedPayout, SignedPayoutOutcome } from '@market/core/ports/payout-sender'
import type { Node, NodePool } from '../nodes/node-pool.ts'
import type { AuthorizationTerms } from './authorization-call.ts'
import type { BlockTimes } from './block-times.ts'
import { blockAt, readFinalBlock } from './evm-nodes.ts'
import { word } from './parse-rpc.ts'
import { readAuthorization } from './payout-authorization.ts'
import { usedCall } from './reject-authorization.ts'
import { callAll, callEach } from './rpc.ts'
import type { EvmSettings } from './settings.ts'

/** With less time left, another authorization with the same terms is signed. */
const ENDING_SECONDS = 10n * 60n

/** `open`: this node has no final block that is late enough to tell. */
type NonceState = 'used' | 'unused' | 'open'

const nonceStateAt = async (
  { chainId, usdc, finalityTag }: EvmSettings,
  node: Node,
  authorizations: readonly AuthorizationTerms[],
  validTo: bigint,
): Promise<NonceState> => {
  const [tagged] = await callEach(node, chainId, [blockAt(finalityTag)])
  const final = readFinalBlock(tagged)
  if (final === undefined || BigInt(final.at.getTime() / 1_000) <= validTo) return 'open'
  // Read at exactly this height: later blocks decide nothing about an authorization that expired before it.
  const height = `0x${final.height.toString(16)}`
  const calls = authorizations.map((terms) => usedCall(usdc, terms, height))
  return (await callAll(node, chainId, calls)).some((used) => word(used) !== 0n) ? 'used' : 'unused'
}

/**
 * The outcome of a payout over everything that was signed for it. `expired` allows other terms, so it requires that as many
 * providers as required have a final block after all of it in which the nonce is unused, and that none shows it used.
 */
export const observeAuthorization = async (
  settings: EvmSettings,
  nodes: NodePool,
  signed: readonly SignedPayout[],
  times: () => Promise<BlockTimes>,
): Promise<SignedPayoutOutcome> => {
  const [last] = signed.toSorted((a, b) => (a.validTo > b.validTo ? -1 : a.validTo < b.validTo ? 1 : 0))
  if (last === undefined) return { kind: 'unknown' }
  const { newest, final } = await times()
  // fix: certain-expiry
  if (final === undefined || final <= last.validTo)
    return newest !== undefined && last.validTo - newest < ENDING_SECONDS
      ? { kind: 'ending' }
      : { kind: 'unknown' }
  // An earlier authorization can be from an earlier treasury. One with another nonce was used for something else.
  const { nonce } = readAuthorization(last)
  const authorizations = signed.map(readAuthorization).filter((terms) => terms.nonce === nonce)
  const { responses } = await nodes.queryProviders(
    (node) => nonceStateAt(settings, node, authorizations, last.validTo),
    settings.minProviders,
  )
  const states = responses.map(({ response }) => response)
  if (states.includes('used')) return { kind: 'seen', reference: last.reference }
  const unused = states.filter((state) => state === 'unused')
  return unused.length >= settings.minProviders ? { kind: 'expired' } : { kind: 'unknown' }
}
