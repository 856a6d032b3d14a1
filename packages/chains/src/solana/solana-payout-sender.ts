import type { PayoutRequest, PayoutSender } from '@market/core/ports/payout-sender'
import type { SolanaKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { address } from '@solana/kit'
import { getTokenSize } from '@solana-program/token'
import { solanaNodes } from './nodes.ts'
import { observePayout } from './observe-payout.ts'
import { readBalance } from './read-balance.ts'
import { readLifetime } from './read-lifetime.ts'
import { rejectPayee } from './reject-payee.ts'
import { sendBytes } from './send-bytes.ts'
import type { SolanaPayoutSenderSettings } from './settings.ts'
import { feeAt, GROUP_SIZE, MICRO_LAMPORTS_PER_UNIT, priceOf, shareAt, signPayouts } from './sign-payout.ts'
import { readTokenAccount, usdcAccountOf } from './token-account.ts'

export type SolanaPayoutSender = PayoutSender & Required<Pick<PayoutSender, 'send' | 'groups'>>

/** Sends payouts on Solana. */
export const solanaPayoutSender = (
  settings: SolanaPayoutSenderSettings,
  signer: SolanaKeySigner,
): SolanaPayoutSender => {
  assert(signer.address === settings.treasury, "the signer has the treasury's key")
  const nodes = solanaNodes(settings)
  const { rpc } = nodes
  const firstPrice = settings.microLamportsPerUnit ?? MICRO_LAMPORTS_PER_UNIT
  const own = new Set([settings.treasury, ...settings.ownAddresses])
  const sign = async (payouts: readonly PayoutRequest[], attempt: number) =>
    signPayouts(payouts, signer, {
      mint: settings.usdc,
      attempt,
      microLamportsPerUnit: priceOf(attempt, firstPrice),
      lifetime: await readLifetime(nodes, settings.minProviders),
    })
  return {
    network: 'solana-mainnet',
    treasury: settings.treasury,
    rejectionReason: (payout) => rejectPayee(rpc, settings.usdc, own, payout.to),
    sign: (payout, signedBefore) => sign([payout], signedBefore + 1),
    groups: {
      size: GROUP_SIZE,
      sign: (payouts) => sign(payouts, 1),
      share: (count) => shareAt(count, firstPrice),
    },
    send: ({ bytes }) => sendBytes(nodes, bytes),
    observe: (signed) =>
      observePayout(
        nodes,
        signed.map(({ reference, validTo }) => ({ reference, lastValidHeight: validTo })),
        settings.minProviders,
      ),
    async estimateCost(payout) {
      const account = await usdcAccountOf(payout.to, settings.usdc)
      const createsAccount = (await readTokenAccount(rpc, account, 'confirmed')) === undefined
      const rent = createsAccount
        ? await rpc.getMinimumBalanceForRentExemption(BigInt(getTokenSize())).send()
        : 0n
      return { native: feeAt(firstPrice) + rent, createsAccount }
    },
    async nativeBalance() {
      return (await rpc.getBalance(address(settings.treasury), { commitment: 'confirmed' }).send()).value
    },
    usdcBalance: async () => (await readBalance(nodes, settings, settings.treasury)).latest,
  }
}
