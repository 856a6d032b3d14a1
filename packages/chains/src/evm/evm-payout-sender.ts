import { TooFewProviders } from '@market/core/ports/chain'
import type { PayoutRequest, PayoutSender } from '@market/core/ports/payout-sender'
import type { EvmKeySigner } from '@market/core/ports/signer'
import { assert } from '@market/kernel/assert'
import { usdc as usdcOf } from '@market/kernel/money'
import { type Address, encodeFunctionData, keccak256, parseAbi, stringToHex } from 'viem'
import type { Node } from '../nodes/node-pool.ts'
import { recent, recentOf } from '../recent.ts'
import { keySignedCall, type TokenDomain } from './authorization-call.ts'
import { blockTimes } from './block-times.ts'
import { checkGasAccounts, checkPayoutContracts } from './check-payouts.ts'
import { evmNodes } from './evm-nodes.ts'
import { readFees } from './fees.ts'
import { observeAuthorization } from './observe-authorization.ts'
import { bytes, quantity, readReceipt, word } from './parse-rpc.ts'
import { authorizePayout, termsOf, VALID_SECONDS } from './payout-authorization.ts'
import { batchCall, batchGas } from './payout-batch.ts'
import { type BatchSettings, payoutBatches } from './payout-batches.ts'
import { readBalance } from './read-balance.ts'
import { readDomain } from './read-domain.ts'
import { rejectPayee } from './reject-payee.ts'
import { callAll } from './rpc.ts'
import { addressKey, ownKeys } from './settings.ts'
import { countAuthorizations } from './transfers.ts'

export interface EvmPayoutSenderSettings extends BatchSettings {
  /** How long the times of the newest blocks, fees and balances of gas accounts are used. Default: 3 seconds. */
  readonly recentMs?: number
}

/** OP-stack contract that returns the L1 fee of a transaction. Other chains have no code at this address. */
const L1_FEE_ORACLE = '0x420000000000000000000000000000000000000F'
const L1_FEE = parseAbi(['function getL1Fee(bytes data) view returns (uint256)'])

const l1Fee = async (node: Node, chainId: number, call: `0x${string}`): Promise<bigint> => {
  const data = encodeFunctionData({ abi: L1_FEE, functionName: 'getL1Fee', args: [call] })
  const [fee] = await callAll(node, chainId, [['eth_call', { to: L1_FEE_ORACLE, data }, 'latest']])
  return bytes(fee) === '0x' ? 0n : word(fee)
}

/** How long the times of the newest blocks, fees and balances of gas accounts are used: far below what a payout takes. */
const RECENT_MS = 3_000
/** Transactions whose cost is remembered, because many payouts share it. */
const KEPT_COSTS = 32

/** A payout costs what its bytes cost, and these are as random as those of a real one. */
const ANY_PAYOUT: PayoutRequest = {
  mark: keccak256(stringToHex('mark')),
  to: `0x${keccak256(stringToHex('payee')).slice(-40)}`,
  amount: usdcOf(1_234_567n),
}
const ANY_SIGNATURE = { r: keccak256(stringToHex('r')), s: keccak256(stringToHex('s')), yParity: 0 }

/** The treasury signs authorizations of payouts on Base or on the third network. The gas accounts send them. */
export const evmPayoutSender = (
  settings: EvmPayoutSenderSettings,
  signer: EvmKeySigner,
  gasSigners: readonly EvmKeySigner[],
): PayoutSender => {
  const { network, chainId, treasury, usdc } = settings
  if (addressKey(signer.address) !== addressKey(treasury))
    throw new Error(`${network}: the signer's address ${signer.address} is not the treasury ${treasury}`)
  checkGasAccounts(settings, gasSigners)
  const nodes = evmNodes(settings)
  const own = ownKeys(settings)
  const gasAccounts = gasSigners.map(({ address }) => addressKey(address))
  const ourGasAccounts = new Set([...gasAccounts, ...(settings.gasAccounts ?? []).map(addressKey)])
  const { recentMs = RECENT_MS } = settings
  const times = blockTimes(settings, nodes, recentMs)
  const batches = payoutBatches(settings, nodes, gasSigners)

  let known: TokenDomain | undefined
  const domainOf = async (): Promise<TokenDomain> => {
    if (known !== undefined) return known
    const { domain, isValid } = await nodes.query((node) => readDomain(settings, node))
    assert(isValid, `the EIP-712 domain of ${usdc} is "${domain.name}", version "${domain.version}"`)
    known = domain
    return domain
  }

  const batchOfOne = () => {
    const terms = termsOf({ treasury, payout: ANY_PAYOUT, validBefore: 2n ** 32n - 1n })
    const data = batchCall(usdc as Address, [{ bytes: keySignedCall(terms, ANY_SIGNATURE) }])
    return { chainId, account: gasAccounts[0] ?? '', data, count: 1 }
  }

  const cost = recent(recentMs, () =>
    nodes.query(async (node) => {
      const call = batchOfOne()
      const { maxFeePerGas } = await readFees(node, chainId)
      const gas = await batchGas({ node, ...call })
      return maxFeePerGas * gas + (await l1Fee(node, chainId, call.data))
    }),
  )

  const costOf = recentOf(KEPT_COSTS, (reference) =>
    nodes.query(async (node) => {
      const [response] = await callAll(node, chainId, [['eth_getTransactionReceipt', reference]])
      const receipt = readReceipt(response)
      if (receipt?.block === undefined) throw new Error('the node does not have the transaction')
      if (receipt.cost === undefined || !ourGasAccounts.has(receipt.sender ?? '')) return undefined
      const payouts = countAuthorizations(receipt.logs, addressKey(usdc), addressKey(treasury))
      return payouts === 0 ? undefined : receipt.cost / BigInt(payouts)
    }),
  )

  const nativeBalance = recent(recentMs, () =>
    nodes.query(async (node) => {
      const calls = gasAccounts.map((account) => ['eth_getBalance', account, 'latest'] as const)
      const balances = await callAll(node, chainId, calls)
      return balances.reduce<bigint>((sum, balance) => sum + quantity(balance), 0n)
    }),
  )

  return {
    network,
    treasury,
    batches,
    rejectionReason: (payout) => rejectPayee(settings, nodes, payout),

    async sign(payout) {
      assert(!own.has(addressKey(payout.to)), 'a payout does not go to an own address')
      const [domain, { newest }] = await Promise.all([domainOf(), times()])
      if (newest === undefined)
        throw new TooFewProviders(`The newest block of ${network} is shown by too few providers`)
      const validBefore = newest + VALID_SECONDS
      return authorizePayout(domain, signer, { treasury, payout, validBefore })
    },

    observe: (signed) => observeAuthorization(settings, nodes, signed, times),

    costOf,
    // It does not depend on the payout.
    estimateCost: async () => ({ native: await cost(), createsAccount: false }),
    nativeBalance,

    usdcBalance: async () => (await readBalance(settings, nodes, treasury)).latest,
  }
}

/** Throws when payouts could not work on this network: the token, Multicall3 or the accounts are not as they must be. */
export const openEvmPayoutSender = async (
  settings: EvmPayoutSenderSettings,
  signer: EvmKeySigner,
  gasSigners: readonly EvmKeySigner[],
): Promise<PayoutSender> => {
  const sender = evmPayoutSender(settings, signer, gasSigners)
  await checkPayoutContracts(settings, evmNodes(settings))
  return sender
}
