import type { PayoutRequest, PayoutSender } from '@market/core/ports/payout-sender'
import type { EvmTreasurySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { usdc as money } from '@market/kernel/money'
import { encodeFunctionData, erc20Abi, parseAbi } from 'viem'
import type { Node } from '../nodes/node-pool.ts'
import { evmNodes } from './evm-nodes.ts'
import { nextFees, readFees } from './fees.ts'
import { observePayout } from './observe-payout.ts'
import { bytes, quantity, word } from './read-answer.ts'
import { readFinalNonce } from './read-final-nonce.ts'
import { readNonces } from './read-nonces.ts'
import { rejectPayee } from './reject-payee.ts'
import { callAll } from './rpc.ts'
import { sendBytes } from './send-bytes.ts'
import { addressKey, type EvmSettings, ownKeys, parseAddress } from './settings.ts'
import { signTransfer, TRANSFER_GAS, transferCall } from './sign-transfer.ts'

export interface EvmPayoutSenderSettings extends EvmSettings {
  /** The most a payout may offer per gas, in wei. */
  readonly feeCapPerGas: bigint
}

/** Where rollups of Base's kind tell what a transaction costs on the chain below; other chains have nothing there. */
const L1_FEE_ORACLE = '0x420000000000000000000000000000000000000F'
const L1_FEE = parseAbi(['function getL1Fee(bytes data) view returns (uint256)'])

const l1Fee = async (node: Node, chainId: number, order: PayoutRequest): Promise<bigint> => {
  const data = encodeFunctionData({ abi: L1_FEE, functionName: 'getL1Fee', args: [transferCall(order)] })
  const [fee] = await callAll(node, chainId, [['eth_call', { to: L1_FEE_ORACLE, data }, 'latest']])
  return bytes(fee) === '0x' ? 0n : word(fee)
}

const balanceCall = (owner: string) => {
  const address = parseAddress(owner)
  assert(address !== undefined, `${owner} is not an EVM address`)
  return encodeFunctionData({ abi: erc20Abi, functionName: 'balanceOf', args: [address] })
}

/** Pays out on Base or on the third network. One payout has one nonce for ever, however often it is signed. */
export const evmPayoutSender = (
  settings: EvmPayoutSenderSettings,
  signer: EvmTreasurySigner,
): PayoutSender => {
  const { network, chainId, treasury, usdc, feeCapPerGas } = settings
  if (addressKey(signer.address) !== addressKey(treasury))
    throw new Error(`${network}: the signer's address ${signer.address} is not the treasury ${treasury}`)
  const nodes = evmNodes(settings)
  const own = ownKeys(settings)

  return {
    network,
    treasury,
    rejectionReason: (order) => rejectPayee(settings, nodes, order),

    nonces: () => readNonces(nodes, chainId, treasury),
    finalNonce: () => readFinalNonce(settings, nodes),

    async sign(order, nonce, before) {
      assert(nonce !== null, 'an EVM payout has its nonce before it is signed')
      assert(
        before.every((one) => one.nonce === nonce),
        'a replacement keeps its nonce',
      )
      assert(!own.has(addressKey(order.to)), 'a payout goes to others')
      const now = await nodes.ask((node) => readFees(node, chainId))
      return signTransfer(settings, signer, order, nonce, nextFees(now, before, feeCapPerGas))
    },

    send: (signed) => sendBytes(nodes, chainId, signed.bytes),
    observe: (signed) => observePayout(settings, nodes, signed),

    estimateCost: (order) =>
      nodes.ask(async (node) => {
        const { maxFeePerGas } = await readFees(node, chainId)
        return {
          native: maxFeePerGas * TRANSFER_GAS + (await l1Fee(node, chainId, order)),
          createsAccount: false,
        }
      }),

    nativeBalance: () =>
      nodes.ask(async (node) => {
        const [balance] = await callAll(node, chainId, [['eth_getBalance', treasury, 'latest']])
        return quantity(balance)
      }),

    usdcBalance: () =>
      nodes.ask(async (node) => {
        const call = { to: usdc, data: balanceCall(treasury) }
        const [balance] = await callAll(node, chainId, [['eth_call', call, 'latest']])
        return money(word(balance))
      }),
  }
}
