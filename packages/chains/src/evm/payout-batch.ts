import { IS_PAID, type SignedPayout } from '@market/core/ports/payout-sender'
import { unavailable } from '@market/kernel/api-error'
import { assert } from '@market/kernel/assert'
import { type Address, decodeFunctionResult, encodeFunctionData, type Hex, multicall3Abi, size } from 'viem'
import { larger } from '../bigints.ts'
import type { Node } from '../nodes/node-pool.ts'
import { isContractFailure, revertReason } from './contract-failure.ts'
import { bytes, quantity, word } from './parse-rpc.ts'
import { readAuthorization } from './payout-authorization.ts'
import { usedData } from './reject-authorization.ts'
import { callAll, callEach, resultOf } from './rpc.ts'

/** Deployed at the same address on almost every network. */
export const MULTICALL3: Address = '0xcA11bde05977b3631167028862bE2a173976CA11'

/** 48 KB and 10 million gas, below what the pools of nodes accept. */
export const MAX_PAYOUTS = 100
/** Pools reject larger transactions. */
const MAX_BYTES = 128 * 1024
/** EIP-7825: no transaction may have more. */
const MAX_BATCH_GAS = 2n ** 24n

/** Measured with USDC: 45 000 for the transaction, and 65 300 for each payout to a new address. */
const GAS_PER_BATCH = 60_000n
const GAS_PER_PAYOUT = 100_000n
/** The price of data can rise until the transaction is executed. Gas that is not used is not charged. */
const MARGIN_PERCENT = 150n

type Payouts = readonly Pick<SignedPayout, 'bytes'>[]

const callsOf = (target: Address, calls: readonly Hex[]): Hex => {
  const all = calls.map((callData) => ({ target, allowFailure: true, callData }))
  return encodeFunctionData({ abi: multicall3Abi, functionName: 'aggregate3', args: [all] })
}

/** A payout that the token rejects does not stop the others. */
export const batchCall = (usdc: Address, payouts: Payouts): Hex =>
  callsOf(
    usdc,
    payouts.map(({ bytes }) => bytes as Hex),
  )

interface BatchAt {
  readonly node: Node
  readonly chainId: number
  /** Sends the batch. */
  readonly account: string
  readonly data: Hex
  readonly count: number
}

interface BatchToCheck {
  readonly node: Node
  readonly chainId: number
  readonly account: string
  readonly usdc: Address
  readonly payouts: Payouts
}

/**
 * The gas limit of a batch. It is calculated, because an estimate is too low while a payout of the batch fails: the call
 * succeeds all the same. Some networks bill the data of a transaction as gas, so the estimate counts where it is higher.
 */
export const batchGas = async ({ node, chainId, account, data, count }: BatchAt): Promise<bigint> => {
  const [response] = await callEach(node, chainId, [
    ['eth_estimateGas', { from: account, to: MULTICALL3, data }],
  ])
  const hasFailed = response !== undefined && 'error' in response && isContractFailure(response.error)
  const estimate = hasFailed ? 0n : quantity(resultOf(response))
  // fix: gas-estimate
  const gas = larger(GAS_PER_BATCH + GAS_PER_PAYOUT * BigInt(count), (estimate * MARGIN_PERCENT) / 100n)
  if (gas > MAX_BATCH_GAS)
    throw unavailable(`A batch of ${count} payouts needs ${gas} gas. The maximum is ${MAX_BATCH_GAS}.`)
  return gas
}

/** Why each payout of a batch would fail in the newest block of the node. */
export const batchFailures = async ({
  node,
  chainId,
  account,
  usdc,
  payouts,
}: BatchToCheck): Promise<readonly (string | undefined)[]> => {
  // The states of the nonces are read before the payouts of the same call use them.
  const states = payouts.map((payout) => usedData(readAuthorization(payout)))
  const data = callsOf(usdc, [...states, ...payouts.map(({ bytes }) => bytes as Hex)])
  const gas = `0x${MAX_BATCH_GAS.toString(16)}`
  const [returned] = await callAll(node, chainId, [
    ['eth_call', { from: account, to: MULTICALL3, data, gas }, 'latest'],
  ])
  const results = decodeFunctionResult({
    abi: multicall3Abi,
    functionName: 'aggregate3',
    data: bytes(returned),
  })
  return payouts.map((_, index) => {
    const [state, payment] = [results[index], results[payouts.length + index]]
    if (state?.success !== true || payment === undefined)
      throw new Error('the node returned an invalid simulation')
    if (word(state.returnData) !== 0n) return IS_PAID
    return payment.success ? undefined : revertReason(payment.returnData)
  })
}

export const checkBatchSize = (count: number): void =>
  assert(count > 0 && count <= MAX_PAYOUTS, `a batch has 1 to ${MAX_PAYOUTS} payouts`)

export const checkBytes = (transaction: Hex): void =>
  assert(size(transaction) < MAX_BYTES, `a transaction has less than ${MAX_BYTES} bytes`)
