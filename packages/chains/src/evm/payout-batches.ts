import type { PayoutBatches, SignedPayout } from '@market/core/ports/payout-sender'
import type { EvmKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import type { Hex } from 'viem'
import type { NodePool } from '../nodes/node-pool.ts'
import { nextFees, readFees } from './fees.ts'
import {
  batchCall,
  batchFailures,
  batchGas,
  checkBatchSize,
  checkBytes,
  MAX_PAYOUTS,
  MULTICALL3,
} from './payout-batch.ts'
import { readCounts } from './read-counts.ts'
import { invalidPayee } from './reject-payee.ts'
import { sendBytes } from './send-bytes.ts'
import { addressKey, type EvmSettings, parseAddress } from './settings.ts'
import { signCall } from './sign-call.ts'

export interface BatchSettings extends EvmSettings {
  /** Maximum fee per gas of a transaction, in wei. */
  readonly feeCapPerGas: bigint
}

/** Sends what the treasury signed from any of the gas accounts, many payouts in one transaction. */
export const payoutBatches = (
  settings: BatchSettings,
  nodes: NodePool,
  gasSigners: readonly EvmKeySigner[],
): PayoutBatches => {
  const { chainId, feeCapPerGas } = settings
  const usdc = parseAddress(settings.usdc)
  const [first] = gasSigners
  assert(usdc !== undefined && first !== undefined, 'there are a token and a gas account')
  const signers = new Map(gasSigners.map((signer) => [addressKey(signer.address), signer]))
  const callOf = (account: string, payouts: readonly SignedPayout[]) => {
    checkBatchSize(payouts.length)
    return { chainId, account, data: batchCall(usdc, payouts), count: payouts.length }
  }

  return {
    accounts: [...signers.keys()],
    size: MAX_PAYOUTS,
    invalidPayee: (payout) => invalidPayee(settings, payout),

    async failures(payouts) {
      const failures: (string | undefined)[] = []
      for (let start = 0; start < payouts.length; start += MAX_PAYOUTS) {
        const part = payouts.slice(start, start + MAX_PAYOUTS)
        const call = { chainId, account: first.address, usdc, payouts: part }
        failures.push(...(await nodes.query((node) => batchFailures({ node, ...call }))))
      }
      return failures
    },

    mined: async (account) => (await readCounts(settings, nodes, account)).mined,

    async sign({ account, nonce, payouts, outbid }) {
      const signer = signers.get(addressKey(account))
      assert(signer !== undefined, `${account} is not a gas account`)
      const call = callOf(account, payouts)
      const current = await nodes.query(async (node) => ({
        fees: await readFees(node, chainId),
        gas: await batchGas({ node, ...call }),
      }))
      const fees = nextFees(current.fees, outbid === undefined ? [] : [outbid], feeCapPerGas)
      const to = { chainId, to: MULTICALL3, data: call.data, gas: current.gas }
      const signed: { readonly reference: string; readonly bytes: Hex } = await signCall(signer, {
        ...to,
        nonce,
        fees,
      })
      checkBytes(signed.bytes)
      return { ...signed, ...fees }
    },

    send: ({ bytes }) => sendBytes(nodes, chainId, bytes),
  }
}
