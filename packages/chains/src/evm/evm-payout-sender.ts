import type { PayoutRequest, PayoutSender } from '@market/core/ports/payout-sender'
import type { EvmKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { encodeFunctionData, parseAbi } from 'viem'
import type { Node } from '../nodes/node-pool.ts'
import { estimateGas } from './estimate-gas.ts'
import { evmNodes } from './evm-nodes.ts'
import { nextFees, readFees } from './fees.ts'
import { observePayout } from './observe-payout.ts'
import { bytes, quantity, readReceipt, word } from './parse-rpc.ts'
import { readBalance } from './read-balance.ts'
import { readFinalNonce } from './read-final-nonce.ts'
import { readNonces } from './read-nonces.ts'
import { rejectPayee } from './reject-payee.ts'
import { callAll } from './rpc.ts'
import { sendBytes } from './send-bytes.ts'
import { addressKey, type EvmSettings, ownKeys } from './settings.ts'
import { signTransfer, transferCall } from './sign-transfer.ts'

export interface EvmPayoutSenderSettings extends EvmSettings {
  /** Maximum fee per gas of a payout, in wei. */
  readonly feeCapPerGas: bigint
}

/** OP-stack contract that returns the L1 fee of a transaction. Other chains have no code at this address. */
const L1_FEE_ORACLE = '0x420000000000000000000000000000000000000F'
const L1_FEE = parseAbi(['function getL1Fee(bytes data) view returns (uint256)'])

const l1Fee = async (node: Node, chainId: number, payout: PayoutRequest): Promise<bigint> => {
  const data = encodeFunctionData({ abi: L1_FEE, functionName: 'getL1Fee', args: [transferCall(payout)] })
  const [fee] = await callAll(node, chainId, [['eth_call', { to: L1_FEE_ORACLE, data }, 'latest']])
  return bytes(fee) === '0x' ? 0n : word(fee)
}

/** Sends payouts on Base or on the third network. A payout keeps its nonce each time it is signed again. */
export const evmPayoutSender = (settings: EvmPayoutSenderSettings, signer: EvmKeySigner): PayoutSender => {
  const { network, chainId, treasury, feeCapPerGas } = settings
  if (addressKey(signer.address) !== addressKey(treasury))
    throw new Error(`${network}: the signer's address ${signer.address} is not the treasury ${treasury}`)
  const nodes = evmNodes(settings)
  const own = ownKeys(settings)

  return {
    network,
    treasury,
    rejectionReason: (payout) => rejectPayee(settings, nodes, payout),

    nonces: () => readNonces(nodes, chainId, treasury),
    finalNonce: () => readFinalNonce(settings, nodes),

    async sign(payout, nonce, previous) {
      assert(nonce !== null, 'an EVM payout has a nonce before it is signed')
      assert(
        previous.every((one) => one.nonce === nonce),
        'a replacement has the same nonce',
      )
      assert(!own.has(addressKey(payout.to)), 'a payout does not go to an own address')
      const { fees, gas } = await nodes.query(async (node) => ({
        fees: await readFees(node, chainId),
        gas: await estimateGas(settings, node, payout),
      }))
      const terms = { ...nextFees(fees, previous, feeCapPerGas), gas }
      return signTransfer(settings, signer, payout, nonce, terms)
    },

    send: (signed) => sendBytes(nodes, chainId, signed.bytes),
    observe: (signed) => observePayout(settings, nodes, signed),
    costOf: (reference) =>
      nodes.query(async (node) => {
        const [receipt] = await callAll(node, chainId, [['eth_getTransactionReceipt', reference]])
        return readReceipt(receipt)?.cost
      }),

    estimateCost: (payout) =>
      nodes.query(async (node) => {
        const { maxFeePerGas } = await readFees(node, chainId)
        const gas = await estimateGas(settings, node, payout)
        return {
          native: maxFeePerGas * gas + (await l1Fee(node, chainId, payout)),
          createsAccount: false,
        }
      }),

    nativeBalance: () =>
      nodes.query(async (node) => {
        const [balance] = await callAll(node, chainId, [['eth_getBalance', treasury, 'latest']])
        return quantity(balance)
      }),

    usdcBalance: async () => (await readBalance(settings, nodes, treasury)).latest,
  }
}
