import type { ReserveAnchor } from '@market/core/ports/reserve-anchor'
import type { SolanaKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from '@solana-program/compute-budget'
import { getAddMemoInstruction } from '@solana-program/memo'
import { expiringRail } from './expiring-rail.ts'
import { solanaNodes } from './nodes.ts'
import { readLifetime } from './read-lifetime.ts'
import type { SolanaPayoutSenderSettings } from './settings.ts'
import { MEMO_PROGRAM, MICRO_LAMPORTS_PER_UNIT, priceOf } from './sign-payout.ts'
import { signTransaction } from './sign-transaction.ts'

/** A memo of 100 bytes takes less than half of it. */
const COMPUTE_UNITS = 60_000

/** Publishes texts as memos of the treasury. */
export const solanaReserveAnchor = (
  settings: SolanaPayoutSenderSettings,
  signer: SolanaKeySigner,
): ReserveAnchor => {
  assert(signer.address === settings.treasury, "the signer has the treasury's key")
  const nodes = solanaNodes(settings)
  const firstPrice = settings.microLamportsPerUnit ?? MICRO_LAMPORTS_PER_UNIT
  return {
    ...expiringRail(nodes, settings.minProviders),
    // The same text may be published twice.
    find: undefined,
    account: settings.treasury,
    async sign(text, attempt) {
      const lifetime = await readLifetime(nodes, settings.minProviders)
      const instructions = [
        getSetComputeUnitLimitInstruction({ units: COMPUTE_UNITS }),
        getSetComputeUnitPriceInstruction({ microLamports: priceOf(attempt, firstPrice) }),
        getAddMemoInstruction({ memo: text }, { programAddress: MEMO_PROGRAM }),
      ]
      return signTransaction(instructions, signer, lifetime)
    },
  }
}
