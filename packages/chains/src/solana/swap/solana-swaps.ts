import type { SwapChecker } from '@market/core/ports/swaps'
import { ApiError } from '@market/kernel/api-error'
import { assertIsAddress, getSignatureFromTransaction } from '@solana/kit'
import { decodeTransaction, isSignedBy } from '../decode-transaction.ts'
import { solanaNodes } from '../nodes.ts'
import { EXPIRY_MARGIN } from '../observe-payout.ts'
import { observeSettlement } from '../observe-settlement.ts'
import { readHeights } from '../read-heights.ts'
import { checkSwap } from './check-swap.ts'

interface SolanaSwapSettings {
  readonly rpcUrls: readonly string[]
  readonly timeoutMs?: number
  /** The mint of USDC. */
  readonly usdc: string
}

const OUTCOMES = { arrived: 'confirmed', void: 'failed', unknown: 'unknown' } as const

/** Checks transactions of swaps, and reads from the chain what became of them. It has no key and sends nothing. */
export const solanaSwapChecker = (settings: SolanaSwapSettings): SwapChecker => {
  assertIsAddress(settings.usdc)
  const nodes = solanaNodes(settings)
  return {
    check: (transaction, terms) => checkSwap(transaction, terms, settings.usdc),

    async checkSigned(text) {
      const transaction = decodeTransaction(text)
      if (typeof transaction === 'string') return { flaw: 'unreadable' }
      const signed = await Promise.all(transaction.signers.map((signer) => isSignedBy(transaction, signer)))
      if (signed.includes(false)) return { flaw: 'not_signed' }
      return { messageHash: transaction.hash, signature: getSignatureFromTransaction(transaction.wire) }
    },

    async lastValidHeight() {
      // The blockhash of a transaction that was built before is not newer than the newest one now.
      return (await readHeights(nodes)).horizon - EXPIRY_MARGIN
    },

    async observe({ signature, lastValidHeight }) {
      try {
        const { kind } = await observeSettlement(nodes, { reference: signature, lastValidHeight })
        return OUTCOMES[kind]
      } catch (failure) {
        if (failure instanceof ApiError) return 'unknown'
        throw failure
      }
    },
  }
}
